//! What to do where a policy of the organisation keeps everybody out of a role but its own
//! principals: it forgot a service, or the identity provider of a cluster.

use serde_json::Value;

use crate::{
    checks::permissions::shown,
    facts::{Fact, iam::Role, organizations::Organization},
    iam::{Decision, StatementRef},
    outcome::{Remedy, shell::quote},
};

/// Tag keys by which a statement can be told to spare a role.
const RESOURCE_TAG: &str = "aws:resourcetag/";

/// How the owners of the organisation let in who is kept out: a service, or with `issuer` the
/// tokens of that OIDC issuer. Nothing in the account helps, unless the statement spares tagged
/// roles.
pub fn exempt(
    organization: &Fact<Organization>,
    role: &Role,
    decision: &Decision,
    issuer: Option<&str>,
) -> Remedy {
    let statement = match decision {
        Decision::Denied { statement, .. } => Some(statement),
        _ => None,
    };
    let condition = statement.and_then(|statement| condition(organization, statement));
    let condition = condition.unwrap_or_default();
    let how = match issuer {
        Some(issuer) if lists_providers(&condition) => format!(
            "lets in the tokens of no provider but those that its `Null` condition names: ask its \
             owners to add \"{issuer}:sub\": \"true\" there. Each cluster has an issuer of its own."
        ),
        Some(_) => "takes the tokens of service accounts for strangers, since no organisation \
                    stands in them: ask its owners to take sts:AssumeRoleWithWebIdentity out of \
                    what it denies."
            .to_owned(),
        None if asks_for_source(&condition) => {
            "asks services of AWS for another aws:SourceOrgID or aws:SourceAccount than they send: \
             ask its owners to name this organisation and account there."
                .to_owned()
        }
        None => {
            "takes services of AWS for strangers: ask its owners to spare them with the condition \
                 \"BoolIfExists\": {\"aws:PrincipalIsAWSService\": \"false\"}."
                .to_owned()
        }
    };
    let named = statement.map_or_else(|| "a statement".to_owned(), ToString::to_string);
    let words = format!("No trust policy mends it: {named}, which is the organisation's, {how}");
    match sparing_tag(&condition) {
        Some((key, value)) => Remedy::new(format!(
            "{words} If they agree, the tag {key}={value} on the role is enough, which the \
             statement spares."
        ))
        .run(format!(
            "aws iam tag-role --role-name {} --tags {}",
            quote(&role.name),
            quote(&format!("Key={key},Value={value}"))
        )),
        None => Remedy::new(words),
    }
}

/// The condition of a statement, as its document has it.
fn condition(organization: &Fact<Organization>, statement: &StatementRef) -> Option<Value> {
    let organization = organization.value()?;
    let mut attached = organization
        .levels
        .value()?
        .iter()
        .filter_map(|level| level.resource_control.value())
        .flatten();
    let policy = attached.find(|policy| shown(&policy.id, &policy.name) == statement.policy)?;
    let text = organization.policies.get(&policy.id)?.value()?;
    let document: Value = serde_json::from_str(text).ok()?;
    let statements = &document["Statement"];
    let found = if statements.is_array() { statements.get(statement.index)? } else { statements };
    Some(found["Condition"].clone())
}

/// Whether a statement is about those for whom a service acts.
fn asks_for_source(condition: &Value) -> bool {
    let keys = condition.as_object().into_iter().flatten().filter_map(|(_, keys)| keys.as_object());
    let mut names = keys.flatten().map(|(key, _)| key.to_ascii_lowercase());
    names.any(|key| key.starts_with("aws:sourceorg") || key == "aws:sourceaccount")
}

/// Whether a statement denies tokens that have none of the subjects it lists.
fn lists_providers(condition: &Value) -> bool {
    let absent = condition["Null"].as_object();
    absent.is_some_and(|absent| {
        absent.iter().any(|(key, value)| {
            let is_true = value == &Value::Bool(true) || value == "true" || value[0] == "true";
            is_true && (key.ends_with(":sub") || key.ends_with(":aud"))
        })
    })
}

/// The tag of a role that keeps a statement from applying to it.
fn sparing_tag(condition: &Value) -> Option<(&str, &str)> {
    let negated = condition.as_object()?.iter().filter(|(operator, _)| {
        matches!(operator.as_str(), "StringNotEquals" | "StringNotEqualsIfExists")
    });
    let mut keys = negated.filter_map(|(_, keys)| keys.as_object()).flatten();
    keys.find_map(|(key, value)| {
        let is_tag = key.to_ascii_lowercase().starts_with(RESOURCE_TAG);
        let value = value.as_str().or_else(|| value[0].as_str())?;
        is_tag.then(|| (&key[RESOURCE_TAG.len()..], value))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        checks::trust::{
            Assumption,
            tests::{ACCOUNT, allow, assumption, role, trust},
        },
        outcome::Step,
    };

    const OURS: &str = "o-a1b2c3d4e5";

    /// An organisation with this one statement in a resource control policy.
    fn organization(statement: &Value) -> Fact<Organization> {
        let document = json!({"Version": "2012-10-17", "Statement": [statement]}).to_string();
        let attached = json!({"known": [{"id": "p-1", "name": "Perimeter"}]});
        let organization = json!({"known": {"id": OURS, "management_account": "999999999999",
            "account": ACCOUNT, "policies": {"p-1": {"known": document}},
            "levels": {"known": [{"id": "r-1", "service_control": {"known": []},
                "resource_control": attached}]}}});
        serde_json::from_value(organization).unwrap()
    }

    fn deny(action: &Value, condition: &Value) -> Value {
        json!({"Sid": "Perimeter", "Effect": "Deny", "Principal": "*", "Action": action,
            "Resource": "*", "Condition": condition})
    }

    /// The statements that AWS publishes for a perimeter around data
    /// (<https://github.com/aws-samples/data-perimeter-policy-examples>), as rows of what each
    /// denies to EKS and to EC2.
    #[test]
    fn published_perimeters_let_services_in() {
        let all = json!(["s3:*", "sts:*", "kms:*", "sqs:*"]);
        let identities = deny(
            &json!(["s3:*", "sts:AssumeRole", "sts:SetContext", "sqs:*"]),
            &json!({"StringNotEqualsIfExists": {"aws:PrincipalOrgID": OURS,
                    "aws:PrincipalAccount": ["444455556666"],
                    "aws:ResourceTag/dp:exclude:identity": "true"},
                "BoolIfExists": {"aws:PrincipalIsAWSService": "false"}}),
        );
        let deputy = |organization: &str| {
            deny(
                &all,
                &json!({"StringNotEqualsIfExists": {"aws:SourceOrgID": organization,
                        "aws:SourceAccount": ["444455556666"],
                        "aws:ResourceTag/dp:exclude:identity": "true"},
                    "Null": {"aws:SourceAccount": "false"},
                    "Bool": {"aws:PrincipalIsAWSService": "true"}}),
            )
        };
        let network = deny(
            &json!(["sqs:*", "sts:AssumeRole"]),
            &json!({"NotIpAddressIfExists": {"aws:SourceIp": "10.0.0.0/8"},
                "StringNotEqualsIfExists": {"aws:SourceVpc": "vpc-1"},
                "BoolIfExists": {"aws:PrincipalIsAWSService": "false"},
                "StringEquals": {"aws:PrincipalTag/dp:include:network": "true"}}),
        );
        let tags = deny(
            &json!("sts:TagSession"),
            &json!({"Null": {"SAML:aud": "true"},
                "StringNotEqualsIfExists": {"aws:PrincipalTag/team": "admin",
                    "aws:PrincipalOrgID": OURS},
                "ForAnyValue:StringLike": {"aws:TagKeys": ["dp:*", "team"]}}),
        );
        // Without a word about services, and without one about requests for no account.
        let strangers = deny(&all, &json!({"StringNotEquals": {"aws:PrincipalOrgID": OURS}}));
        let unguarded = deny(
            &all,
            &json!({"StringNotEquals": {"aws:SourceOrgID": OURS},
                "Bool": {"aws:PrincipalIsAWSService": "true"}}),
        );
        let eks = [("aws:SourceAccount", ACCOUNT), ("aws:RequestTag/eks-cluster-name", "demo")];
        for (name, statement, by_eks, by_ec2) in [
            ("identities", &identities, Some(0), Some(0)),
            ("our confused deputies", &deputy(OURS), Some(0), Some(0)),
            ("others' confused deputies", &deputy("o-other"), Some(2), None),
            ("network", &network, Some(0), Some(0)),
            ("session tags", &tags, Some(0), None),
            ("strangers", &strangers, Some(2), Some(2)),
            ("an unguarded deputy", &unguarded, Some(0), None),
        ] {
            let organization = organization(statement);
            let role = role(&trust(&json!([allow(&json!("sts:*"), &json!({}))])));
            let asked = Assumption { organization: &organization, sent: &eks, ..assumption(&role) };
            let count = |asked: &Assumption<'_>| asked.refused().ok().map(|refused| refused.len());
            assert_eq!(count(&asked), by_eks, "{name}: {:?}", asked.refused());
            let asked = Assumption { sent: &[], ..asked };
            assert_eq!(count(&asked), by_ec2, "{name}: {:?}", asked.refused());
        }
    }

    /// A tag of the role counts, and where the tags were not read nothing is certain.
    #[test]
    fn a_statement_can_spare_tagged_roles() {
        let organization = organization(&deny(
            &json!("sts:*"),
            &json!({"StringNotEqualsIfExists": {"aws:PrincipalOrgID": OURS,
                "aws:ResourceTag/dp:exclude:identity": "true"}}),
        ));
        let untagged = role(&trust(&json!([allow(&json!("sts:*"), &json!({}))])));
        let tags = [("dp:exclude:identity".to_owned(), "true".to_owned())];
        let tagged = Role { tags: Some(tags.into()), ..untagged.clone() };
        let unread = Role { tags: None, ..untagged.clone() };
        for (role, refused) in [(&untagged, Some(2)), (&tagged, Some(0)), (&unread, None)] {
            let asked = Assumption { organization: &organization, ..assumption(role) };
            assert_eq!(asked.refused().ok().map(|refused| refused.len()), refused, "{role:?}");
        }
        let asked = Assumption { organization: &organization, ..assumption(&untagged) };
        let remedy = asked.mend();
        assert!(
            remedy.words.contains(
                "statement Perimeter of policy Perimeter (p-1), which is the organisation's, takes \
                 services of AWS for strangers"
            ),
            "{remedy:#?}"
        );
        let [Step::Command { command }] = remedy.steps.as_slice() else { panic!("{remedy:#?}") };
        let tag = "aws iam tag-role --role-name r --tags Key=dp:exclude:identity,Value=true";
        assert_eq!(command, tag);
    }
}
