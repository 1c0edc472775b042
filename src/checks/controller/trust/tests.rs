use serde_json::{Value, json};

use super::*;
use crate::{
    checks::testing::{Account, assert_rows},
    outcome::Status,
};

const ROLE: &str = "demo-karpenter";
const ISSUER: &str = "oidc.eks.us-west-2.amazonaws.com/id/EXAMPLED539D4633E53DE1B71EXAMPLE";
const PASS: &[(Status, &str)] = &[(Status::Pass, ROLE)];
const WARN: &[(Status, &str)] = &[(Status::Warn, ROLE)];
const FAIL: &[(Status, &str)] = &[(Status::Fail, ROLE)];

fn and(mut patch: Value, more: &Value) -> Value {
    json_patch::merge(&mut patch, more);
    patch
}

fn no_association() -> Value {
    json!({"facts": {"pod_identity_associations": {"known": []}}})
}

fn trusts(statement: &Value) -> Value {
    let trust = json!({"Version": "2012-10-17", "Statement": statement}).to_string();
    json!({"facts": {"roles": {ROLE: {"known": {"trust": trust}}}}})
}

/// A role for IRSA, without an association, in an account with the cluster's provider.
fn irsa(issuer: &str, condition: &Value) -> Value {
    let provider = format!("arn:aws:iam::111122223333:oidc-provider/{issuer}");
    let trust = trusts(&json!({
        "Effect": "Allow", "Principal": {"Federated": provider},
        "Action": "sts:AssumeRoleWithWebIdentity", "Condition": condition}));
    let known = format!("arn:aws:iam::111122223333:oidc-provider/{ISSUER}");
    let facts = json!({"facts": {"oidc_provider": {"known": {
        "arn": known, "client_ids": ["sts.amazonaws.com"]}}}});
    and(and(trust, &no_association()), &facts)
}

fn condition(operator: &str, prefix: &str, subject: &str) -> Value {
    json!({operator: {
        format!("{prefix}:sub"): format!("system:serviceaccount:{subject}"),
        format!("{prefix}:aud"): "sts.amazonaws.com"}})
}

#[test]
fn pod_identity() {
    let pods = |actions: &Value| {
        trusts(&json!({"Effect": "Allow", "Principal": {"Service": PODS}, "Action": actions}))
    };
    let elsewhere = json!({"facts": {"pod_identity_associations": {"known": [{"known": {
        "id": "a-1", "namespace": "karpenter", "service_account": "karpenter",
        "role_arn": "arn:aws:iam::111122223333:role/demo-karpenter", "target_role_arn": null}}]}}});
    assert_rows(
        Account::Karpenter,
        &CHECK,
        &[
            ("the guide's", json!({}), PASS),
            ("no TagSession", pods(&json!("sts:AssumeRole")), FAIL),
            (
                "another service",
                trusts(&json!({"Effect": "Allow",
                "Principal": {"Service": "eks.amazonaws.com"}, "Action": "sts:*"})),
                FAIL,
            ),
            ("another namespace", elsewhere, FAIL),
            ("no association", no_association(), FAIL),
            (
                "no association before an install",
                and(no_association(), &json!({"scope": {"stage": "before"}})),
                WARN,
            ),
            (
                "no role",
                json!({"scope": {"controller_role": "other"}, "facts": {"roles": {"other": "absent"}}}),
                &[(Status::Fail, "other")],
            ),
        ],
    );
}

#[test]
fn service_account_roles() {
    let right = "kube-system:karpenter";
    let arn = format!("arn:aws:iam::111122223333:oidc-provider/{ISSUER}");
    let good = irsa(ISSUER, &condition("StringEquals", ISSUER, right));
    let other = "oidc.eks.us-west-2.amazonaws.com/id/OTHER";
    let no_audience = json!({"facts": {"oidc_provider": {"known": {"client_ids": []}}}});
    let absent = json!({"facts": {"oidc_provider": "absent"}});
    let namespace = json!({"scope": {"namespace": "kube-system"}});
    let before = irsa(ISSUER, &condition("StringEquals", ISSUER, "karpenter:karpenter"));
    assert_rows(
        Account::Karpenter,
        &CHECK,
        &[
            ("right", good.clone(), PASS),
            ("a pattern", irsa(ISSUER, &condition("StringLike", ISSUER, "*:karpenter")), PASS),
            (
                "a pattern under StringEquals",
                irsa(ISSUER, &condition("StringEquals", ISSUER, "*:karpenter")),
                FAIL,
            ),
            (
                "another account",
                irsa(ISSUER, &condition("StringEquals", ISSUER, "kube-system:other")),
                WARN,
            ),
            ("another namespace, as nobody said which", before.clone(), WARN),
            ("another namespace than the one that was named", and(before, &namespace), FAIL),
            ("keys with an ARN", irsa(ISSUER, &condition("StringEquals", &arn, right)), FAIL),
            ("another cluster", irsa(other, &condition("StringEquals", other, right)), FAIL),
            (
                "another cluster's keys",
                irsa(ISSUER, &condition("StringEquals", other, right)),
                FAIL,
            ),
            ("no provider", and(good.clone(), &absent), FAIL),
            ("no audience", and(good, &no_audience), FAIL),
        ],
    );
}

#[test]
fn hints_name_the_mistake() {
    let right = "kube-system:karpenter";
    let arn = format!("arn:aws:iam::111122223333:oidc-provider/{ISSUER}");
    let other = "oidc.eks.us-west-2.amazonaws.com/id/OTHER";
    for (patch, hint) in [
        (irsa(ISSUER, &condition("StringEquals", &arn, right)), "begins with the provider's ARN"),
        (irsa(ISSUER, &condition("StringEquals", ISSUER, "*:karpenter")), "plain character"),
        (irsa(other, &condition("StringEquals", other, right)), "another cluster or account"),
        (irsa(ISSUER, &condition("StringEquals", other, right)), "another issuer's key"),
    ] {
        let outcomes = Account::Karpenter.judge(&CHECK, &patch);
        assert!(outcomes[0].seen.contains(hint), "{outcomes:#?}");
    }
}

#[test]
fn without_a_controller_role() {
    let none = |stage: &str| {
        json!({"scope": {"stage": stage}, "facts": {
            "roles": {ROLE: "absent"}, "pod_identity_associations": {"known": []}}})
    };
    let denied = json!({"denied": {"action": "eks:ListPodIdentityAssociations", "message": "no"}});
    assert_rows(
        Account::Karpenter,
        &CHECK,
        &[
            ("before", none("before"), &[(Status::Skipped, "demo")]),
            ("after", none("after"), &[(Status::Unknown, "demo")]),
            (
                "associations are not readable",
                json!({"facts": {"roles": {ROLE: "absent"}, "pod_identity_associations": denied}}),
                &[(Status::Unknown, "demo")],
            ),
        ],
    );
}

/// A token belongs to no organisation, so a resource control policy that asks for one keeps it
/// out; and AWS's published perimeter lists the providers that it trusts.
#[test]
fn resource_control_policies_bear_on_tokens() {
    const OURS: &str = "o-a1b2c3d4e5";
    let subject = |issuer: &str| format!("{issuer}:sub");
    let perimeter = |action: &str, met: &Value| {
        let document = json!({"Version": "2012-10-17", "Statement": [{"Sid": "P",
            "Effect": "Deny", "Principal": "*", "Action": action, "Resource": "*",
            "Condition": met}]});
        let attached = json!({"known": [{"id": "p-1", "name": "Perimeter"}]});
        let organization = json!({"facts": {"organization": {"known": {"id": OURS,
            "management_account": "999988887777", "account": "111122223333",
            "policies": {"p-1": {"known": document.to_string()}},
            "levels": {"known": [{"id": "r-1", "service_control": {"known": []},
                "resource_control": attached}]}}}}});
        let right = condition("StringEquals", ISSUER, "kube-system:karpenter");
        and(irsa(ISSUER, &right), &organization)
    };
    let web = "sts:AssumeRoleWithWebIdentity";
    let strangers = json!({
        "StringNotEqualsIfExists": {"aws:PrincipalOrgID": OURS},
        "BoolIfExists": {"aws:PrincipalIsAWSService": "false"}});
    let deputies = json!({
        "StringNotEqualsIfExists": {"aws:SourceOrgID": OURS},
        "Null": {"aws:SourceAccount": "false"}, "Bool": {"aws:PrincipalIsAWSService": "true"}});
    let providers = |issuers: &[&str]| {
        let keys: serde_json::Map<_, _> =
            issuers.iter().map(|issuer| (subject(issuer), json!("true"))).collect();
        json!({"Null": keys})
    };
    let github = "token.actions.githubusercontent.com";
    let tenants = json!({
        "StringNotLikeIfExists": {subject(github): "repo:us/*"},
        "Null": {subject(github): "false"}});
    let untagged = json!({"facts": {"roles": {ROLE: {"known": {"tags": {}}}}}});
    let tagged = json!({"facts": {"roles": {ROLE: {"known": {"tags": {"spare": "me"}}}}}});
    let sparing = json!({"StringNotEqualsIfExists": {
        "aws:PrincipalOrgID": OURS, "aws:ResourceTag/spare": "me"}});
    let unknown: &[(Status, &str)] = &[(Status::Unknown, ROLE)];
    assert_rows(
        Account::Karpenter,
        &CHECK,
        &[
            ("strangers may not assume roles", perimeter("sts:AssumeRole", &strangers), PASS),
            ("strangers may not call STS", perimeter("sts:*", &strangers), FAIL),
            ("nobody else's deputy", perimeter("sts:*", &deputies), PASS),
            ("other providers only", perimeter(web, &providers(&[github])), FAIL),
            ("this provider too", perimeter(web, &providers(&[github, ISSUER])), PASS),
            ("the tenants of another", perimeter(web, &tenants), PASS),
            ("spares a tag: not read", perimeter("sts:*", &sparing), unknown),
            ("spares a tag: none", and(perimeter("sts:*", &sparing), &untagged), FAIL),
            ("spares a tag", and(perimeter("sts:*", &sparing), &tagged), PASS),
        ],
    );
    let outcomes = Account::Karpenter.judge(&CHECK, &perimeter(web, &providers(&[github])));
    let outcome = &outcomes[0];
    let culprit = "A resource control policy of the organisation, for demo-karpenter,";
    assert!(outcome.seen.starts_with(culprit), "{outcome:#?}");
    assert_eq!(outcome.evidence[0].api, "organizations:DescribePolicy");
    let words = &outcome.remedy.as_ref().unwrap().words;
    assert!(words.contains(&format!("add \"{ISSUER}:sub\": \"true\" there")), "{words}");
}
