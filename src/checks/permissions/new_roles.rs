//! Whether the roles that an installer makes may be made without a permissions boundary.

use super::control::Control;
use crate::{
    checks::{Area, Check, Context, Judged, Stop, Verdicts, remedies::quote},
    facts::{arn, iam::Role},
    iam::{Decision, Layer, Principal, Request, decide_alone},
    outcome::{Finding, Remedy},
    target::{Product, names},
};

pub static CHECK: Check = Check {
    id: "new-roles-boundary",
    title: "New roles may be made without a permissions boundary",
    area: Area::Controller,
    products: &[Product::Karpenter],
    errors: &["create-role-denied"],
    needs: &[
        "sts:GetCallerIdentity",
        "eks:DescribeCluster",
        "iam:GetRole",
        "organizations:DescribeOrganization",
        "organizations:DescribePolicy",
        "organizations:ListParents",
        "organizations:ListPoliciesForTarget",
    ],
    doc: "\
## What
Before an install: no service control policy of the organisation denies a role without a permissions
boundary, as far as these policies can be read; and the cluster's own role has no boundary, which is
how such a rule shows where they cannot.

## Why
Some organisations want a boundary on every role that is made, and deny `iam:CreateRole` without it.
Installers make the roles of Karpenter without one unless they are told: eksctl had no setting for
it, and a CloudFormation stack is rolled back.

## Seen as
`is not authorized to perform: iam:CreateRole ... with an explicit deny` when Karpenter is installed.

## Fix
Make the roles beforehand with the boundary, or give it to the installer.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    if !cx.target.before_install() {
        return Err(Stop::skipped("the roles of Karpenter are there"));
    }
    let account = cx.account().unwrap_or(&cx.target.cluster);
    Ok(vec![Judged::new(account, || judge(cx))])
}

fn judge(cx: &Context<'_>) -> Result<Finding, Stop> {
    if let Some(decision) = denied(cx)? {
        return Ok(finding(
            cx,
            format!("The organisation denies a role without a permissions boundary: {decision}."),
            boundary_of_cluster_role(cx)?,
        )
        .evidence("organizations:DescribePolicy", "Content", decision.to_string()));
    }
    let Some(role) = boundary_of_cluster_role(cx)? else {
        return Ok(Finding::pass("Nothing shows that new roles want a permissions boundary."));
    };
    let seen = format!("The cluster's role {} has a permissions boundary.", role.name);
    let boundary = role.boundary.clone().unwrap_or_default();
    Ok(finding(cx, seen, Some(role)).evidence("iam:GetRole", "Role.PermissionsBoundary", boundary))
}

/// The cluster's role, if it has a boundary.
fn boundary_of_cluster_role<'a>(cx: &Context<'a>) -> Result<Option<&'a Role>, Stop> {
    let role = cx.role(arn::role_name(&cx.cluster()?.role_arn))?;
    Ok(role.filter(|role| role.boundary.is_some()))
}

/// The denial of a role without a boundary, by whoever asks now.
fn denied(cx: &Context<'_>) -> Result<Option<Decision>, Stop> {
    let caller = cx.facts.caller.known()?;
    let control = Control::of(&cx.facts.organization, &caller.arn);
    let Ok(principal) = Principal::aws(&caller.arn) else { return Ok(None) };
    let [name, ..] = names::node_roles(&cx.target.cluster);
    let role = format!("arn:{}:iam::{}:role/{name}", cx.target.partition, caller.account);
    let mut request = Request::new(principal, "iam:CreateRole", &role).unknown_globals();
    for (key, entry) in &control.context {
        request = request.with(key, entry.clone());
    }
    let mut decisions = control
        .service
        .iter()
        .map(|policies| decide_alone(Layer::ServiceControl, policies, &request));
    Ok(decisions.find(|decision| matches!(decision, Decision::Denied { .. })))
}

fn finding(cx: &Context<'_>, seen: String, role: Option<&Role>) -> Finding {
    let boundary = role.and_then(|role| role.boundary.as_deref());
    let boundary = boundary.unwrap_or("FILL_IN_BOUNDARY_ARN");
    let [name, ..] = names::node_roles(&cx.target.cluster);
    Finding::warn(
        seen,
        "If every role is to have one here, an installer that makes Karpenter's roles without it is \
         refused.",
    )
    .errors(CHECK.errors)
    .mend(
        Remedy::new(
            "Ask those who keep the organisation's policies. Then give the boundary to the installer \
             (Terraform's modules take it as permissions_boundary), or make the roles beforehand, the \
             node role like this, and name them to the installer.",
        )
        .document(format!("{name}-trust.json"), &crate::checks::remedies::service_trust(
            "ec2.amazonaws.com",
            &["sts:AssumeRole"],
        ))
        .run(format!(
            "aws iam create-role --role-name {} --permissions-boundary {} \
             --assume-role-policy-document {}",
            quote(&name),
            quote(boundary),
            quote(&format!("file://{name}-trust.json"))
        )),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status,
    };

    fn before(mut patch: Value) -> Value {
        patch["scope"] = json!({"stage": "before"});
        patch
    }

    fn organization(statement: &Value) -> Value {
        let document = json!({"Version": "2012-10-17", "Statement": [
            {"Effect": "Allow", "Action": "*", "Resource": "*"}, statement]});
        json!({"facts": {"organization": {"known": {
            "id": "o-a1b2c3d4e5", "management_account": "999988887777", "account": "111122223333",
            "levels": {"known": [{"id": "r-ab12", "resource_control": {"known": []},
                "service_control": {"known": [{"id": "p-1", "name": "Boundaries"}]}}]},
            "policies": {"p-1": {"known": document.to_string()}}}}}})
    }

    #[test]
    fn rows() {
        use Status::{Pass, Skipped, Unknown, Warn};
        let boundary = "arn:aws:iam::111122223333:policy/boundary";
        let deny = json!({"Sid": "NoBoundary", "Effect": "Deny", "Action": ["iam:CreateRole"],
            "Resource": "*", "Condition": {"StringNotEquals": {"iam:PermissionsBoundary": boundary}}});
        let other = json!({"Effect": "Deny", "Action": "iam:CreateUser", "Resource": "*"});
        let of_cluster =
            json!({"facts": {"roles": {"demo-cluster": {"known": {"boundary": boundary}}}}});
        let denied = json!({"facts": {"roles": {"demo-cluster":
            {"denied": {"action": "iam:GetRole", "message": "no"}}}}});
        let one = |status| [(status, "111122223333")];
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("installed", of_cluster.clone(), &[(Skipped, "demo")]),
                ("nothing of the kind", before(json!({})), &one(Pass)),
                ("the cluster's role has one", before(of_cluster), &one(Warn)),
                ("the organisation wants one", before(organization(&deny)), &one(Warn)),
                ("it wants something else", before(organization(&other)), &one(Pass)),
                ("the role is not readable", before(denied), &one(Unknown)),
            ],
        );
    }
}
