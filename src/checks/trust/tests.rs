use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::*;

pub(super) const ACCOUNT: &str = "111122223333";

pub(super) fn role(trust: &Value) -> Role {
    Role {
        name: "r".to_owned(),
        arn: format!("arn:aws:iam::{ACCOUNT}:role/r"),
        path: "/".to_owned(),
        created: None,
        trust: trust.to_string(),
        boundary: None,
        tags: Some(BTreeMap::new()),
    }
}

pub(super) fn assumption(role: &Role) -> Assumption<'_> {
    Assumption {
        role,
        organization: &Fact::Absent,
        service: "eks.amazonaws.com",
        actions: &["sts:AssumeRole", "sts:TagSession"],
        sent: &[("aws:SourceAccount", ACCOUNT)],
    }
}

pub(super) fn allow(action: &Value, rest: &Value) -> Value {
    let mut statement = json!({
        "Effect": "Allow", "Principal": {"Service": "eks.amazonaws.com"}, "Action": action});
    json_patch::merge(&mut statement, rest);
    statement
}

pub(super) fn trust(statement: &Value) -> Value {
    json!({"Version": "2012-10-17", "Statement": statement})
}

/// Resource control policies bear on who may assume a role. What says "only our own" without
/// a word about services shuts them out.
#[test]
fn the_organisations_policies_count() {
    let organization = |condition: &Value| -> Fact<Organization> {
        let deny = json!({"Version": "2012-10-17", "Statement": {"Effect": "Deny",
            "Principal": "*", "Action": "sts:*", "Resource": "*", "Condition": condition}});
        let attached = json!({"known": [{"id": "p-1", "name": "Own"}]});
        serde_json::from_value(json!({"known": {"id": "o-1", "management_account": "999999999999",
            "account": ACCOUNT, "policies": {"p-1": {"known": deny.to_string()}},
            "levels": {"known": [{"id": "r-1", "service_control": {"known": []},
                "resource_control": attached}]}}}))
        .unwrap()
    };
    let role = role(&trust(&json!([allow(&json!("sts:*"), &json!({}))])));
    let ours = json!({"StringNotEqualsIfExists": {"aws:PrincipalOrgID": "o-1"}});
    let mut services = ours.clone();
    services["BoolIfExists"] = json!({"aws:PrincipalIsAWSService": "false"});
    for (condition, refused) in [(ours, 2), (services, 0)] {
        let organization = organization(&condition);
        let assumption = Assumption { organization: &organization, ..assumption(&role) };
        let found = assumption.refused().unwrap();
        assert_eq!(found.len(), refused, "{condition}: {found:?}");
        assert!(found.iter().all(|one| one.by_organization()));
        if refused > 0 {
            let words = assumption.mend().words;
            assert!(words.starts_with("No trust policy mends it: "), "{words}");
        }
    }
}

/// `None` is unknown.
type Expected<'a> = Option<&'a [&'a str]>;

#[test]
fn decides_by_the_document() {
    let both = json!(["sts:AssumeRole", "sts:TagSession"]);
    let plain = allow(&both, &json!({}));
    let rows: &[(&str, Value, Expected<'_>)] = &[
        ("a list", json!([plain]), Some(&[])),
        ("one statement", plain.clone(), Some(&[])),
        ("one action", allow(&json!("sts:AssumeRole"), &json!({})), Some(&["sts:TagSession"])),
        (
            "an action a statement",
            json!([
                allow(&json!("sts:AssumeRole"), &json!({})),
                allow(&json!("sts:TagSession"), &json!({}))
            ]),
            Some(&[]),
        ),
        ("a wildcard", allow(&json!("sts:*"), &json!({})), Some(&[])),
        (
            "all but another",
            allow(&both, &json!({"Action": null, "NotAction": "sts:SetSourceIdentity"})),
            Some(&[]),
        ),
        (
            "all but one",
            allow(&both, &json!({"Action": null, "NotAction": "sts:TagSession"})),
            Some(&["sts:TagSession"]),
        ),
        (
            "services in a list",
            allow(
                &both,
                &json!({"Principal": {"Service": ["ec2.amazonaws.com", "eks.amazonaws.com"]}}),
            ),
            Some(&[]),
        ),
        (
            "another service with the same beginning",
            allow(&both, &json!({"Principal": {"Service": "eks.amazonaws.com.evil"}})),
            Some(&["sts:AssumeRole", "sts:TagSession"]),
        ),
        (
            "a deny",
            json!([plain, {"Effect": "Deny", "Principal": "*", "Action": "sts:TagSession"}]),
            Some(&["sts:TagSession"]),
        ),
        (
            "this account",
            allow(&both, &json!({"Condition": {"StringEquals": {"aws:SourceAccount": ACCOUNT}}})),
            Some(&[]),
        ),
        (
            "another account",
            allow(
                &both,
                &json!({"Condition": {"StringEquals": {"aws:SourceAccount": "444455556666"}}}),
            ),
            Some(&["sts:AssumeRole", "sts:TagSession"]),
        ),
        (
            "a key that nobody knows",
            allow(
                &both,
                &json!({"Condition": {"StringEquals": {"aws:SourceArn": "arn:aws:eks:us-west-2:111122223333:cluster/demo"}}}),
            ),
            None,
        ),
        (
            "certain of one action, not of the other",
            allow(
                &json!("sts:AssumeRole"),
                &json!({"Condition": {"StringEquals": {"aws:SourceArn": "arn:aws:eks:us-west-2:111122223333:cluster/demo"}}}),
            ),
            Some(&["sts:TagSession"]),
        ),
        ("no document", json!("x"), None),
    ];
    for (name, statement, expected) in rows {
        let role = role(&trust(statement));
        let refused = assumption(&role).refused();
        let actions = refused
            .as_ref()
            .ok()
            .map(|refused| refused.iter().map(|refused| refused.action).collect::<Vec<_>>());
        assert_eq!(actions.as_deref(), *expected, "{name}: {refused:?}");
    }
}
