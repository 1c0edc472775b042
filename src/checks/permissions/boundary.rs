//! Permissions boundaries leave the roles what they need.

use serde_json::{Value, json};

use super::{
    Grants, ROLE_POLICIES, Refused, distinct_actions,
    limits::{Limit, each_role},
};
use crate::{
    checks::{
        Area, Check, Context, Stop, Verdicts,
        remedies::{listed, quote},
    },
    facts::{arn, iam::Role},
    outcome::{Finding, Remedy},
    requirements::Request,
    target::Product,
};

pub static CHECK: Check = Check {
    id: "permissions-boundary",
    title: "Permissions boundaries leave the roles what they need",
    area: Area::Controller,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["denied-by-permissions-boundary", "unauthorized-operation"],
    needs: &[
        ROLE_POLICIES,
        "iam:ListInstanceProfiles",
        "eks:DescribeAccessEntry",
        "eks:DescribeCluster",
        "eks:DescribePodIdentityAssociation",
        "eks:ListAccessEntries",
        "eks:ListPodIdentityAssociations",
    ],
    doc: "\
## What
Where the controller's role, a node role, or with EKS Auto Mode the cluster's role has a
permissions boundary, the boundary does not take away what the role's own policies allow.

## Why
A role may do only what both its policies and its boundary allow. Organisations put boundaries on
every role that is made, and one that was written before Karpenter rarely names what it needs: the
policies are right, and every call is refused.

## Seen as
`because no permissions boundary allows the ... action`, or `with an explicit deny in a
permissions boundary`.

## Fix
Have the owner of the boundary allow the actions that the finding names.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    each_role(cx, &judge)
}

fn judge(
    cx: &Context<'_>,
    role: &Role,
    grants: &Grants,
    requests: Vec<Request>,
) -> Result<Finding, Stop> {
    let Some(boundary) = &role.boundary else {
        return Ok(Finding::pass(format!("{} has no permissions boundary", role.name)));
    };
    let limit = Limit {
        role,
        refuses: Refused::by_boundary,
        allowed_without: Grants::allows_without_boundary,
        pass: format!("the permissions boundary {boundary} leaves {} what it needs", role.name),
        name: "The boundary",
    };
    let seen = |refused: &[Refused]| {
        format!(
            "The permissions boundary {boundary} takes {} from {}, which its own policies allow.",
            listed(&distinct_actions(refused)),
            role.name
        )
    };
    limit.judge(cx, grants, requests, seen, |refused| mend(cx, role, boundary, refused))
}

/// A new version of the boundary, if it is ours to change and nothing in it denies outright.
fn mend(cx: &Context<'_>, role: &Role, boundary: &str, refused: &[Refused]) -> Remedy {
    let actions = distinct_actions(refused);
    let denies = refused
        .iter()
        .any(|refused| matches!(refused.decision, crate::iam::Decision::Denied { .. }));
    let owner = "the boundary may be another team's";
    if arn::account(boundary) == Some("aws") {
        return Remedy::new(format!(
            "Give {} another boundary, one that allows {}.",
            role.name,
            listed(&actions)
        ));
    }
    if denies {
        return Remedy::new(format!(
            "Take {} out of what the boundary denies ({owner}).",
            listed(&actions)
        ));
    }
    let remedy = Remedy::new(format!(
        "Allow the actions in the boundary ({owner}). A boundary only limits: what it allows, the \
         role's own policies still have to."
    ));
    let present = cx.facts.policies.get(boundary).and_then(|document| document.value());
    let Some(document) = present.and_then(|text| widened(text, &actions)) else { return remedy };
    let file = format!("{}.json", arn::role_name(boundary).trim_end_matches(".json"));
    if !boundary.starts_with("arn:") {
        return remedy.document(file, &document);
    }
    let command = format!(
        "aws iam create-policy-version --policy-arn {} --policy-document {} --set-as-default",
        quote(boundary),
        quote(&format!("file://{file}"))
    );
    remedy.document(file, &document).run(command)
}

fn widened(present: &str, actions: &[&str]) -> Option<Value> {
    let mut document: Value = serde_json::from_str(present).ok()?;
    let statement = document.get_mut("Statement")?;
    if statement.is_object() {
        *statement = Value::Array(vec![statement.take()]);
    }
    statement.as_array_mut()?.push(json!({
        "Sid": "LeaveToKarpenter", "Effect": "Allow", "Action": actions, "Resource": "*"}));
    Some(document)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status,
    };

    const ARN: &str = "arn:aws:iam::111122223333:policy/boundary";
    const CONTROLLER: &str = "demo-karpenter";
    const NODE: &str = "KarpenterNodeRole-demo";

    fn bounded(role: &str, statements: &Value) -> Value {
        let document = json!({"Version": "2012-10-17", "Statement": statements}).to_string();
        json!({"facts": {
            "roles": {role: {"known": {"boundary": ARN}}},
            "policies": {ARN: {"known": document}},
        }})
    }

    #[test]
    fn rows() {
        let allow =
            |actions: &Value| json!({"Effect": "Allow", "Action": actions, "Resource": "*"});
        let all = allow(&json!("*"));
        let reads = allow(&json!(["ec2:Describe*", "iam:Get*", "iam:List*"]));
        let no_prices = json!([all, {"Effect": "Deny", "Action": "pricing:*", "Resource": "*"}]);
        let others = json!({"Effect": "Allow", "Action": "*", "Resource": "*",
            "Condition": {"StringEquals": {"aws:PrincipalOrgID": "o-1"}}});
        let unread = json!({"facts": {"roles": {CONTROLLER: {"known": {"boundary": ARN}}},
            "policies": {ARN: {"denied": {"action": "iam:GetPolicy", "message": "no"}}}}});
        let node = (Status::Pass, NODE);
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("none", json!({}), &[(Status::Pass, CONTROLLER), node]),
                ("all", bounded(CONTROLLER, &all), &[(Status::Pass, CONTROLLER), node]),
                ("reads only", bounded(CONTROLLER, &reads), &[(Status::Fail, CONTROLLER), node]),
                ("a deny", bounded(CONTROLLER, &no_prices), &[(Status::Warn, CONTROLLER), node]),
                (
                    "a condition",
                    bounded(CONTROLLER, &others),
                    &[(Status::Unknown, CONTROLLER), node],
                ),
                ("unread", unread, &[(Status::Unknown, CONTROLLER), node]),
                (
                    "the nodes'",
                    bounded(NODE, &reads),
                    &[(Status::Pass, CONTROLLER), (Status::Fail, NODE)],
                ),
                (
                    "no controller role yet",
                    json!({"facts": {"roles": {CONTROLLER: "absent"}, "pod_identity_associations": {"known": []}}}),
                    &[(Status::Skipped, "demo"), node],
                ),
            ],
        );
        assert_rows(
            Account::AutoMode,
            &CHECK,
            &[
                (
                    "none",
                    json!({}),
                    &[(Status::Pass, "demo-cluster"), (Status::Pass, "demo-auto-node")],
                ),
                (
                    "reads only",
                    bounded("demo-cluster", &reads),
                    &[(Status::Fail, "demo-cluster"), (Status::Pass, "demo-auto-node")],
                ),
            ],
        );
    }
}
