//! The controller may pass the node role to EC2.

use serde_json::json;

use super::{Controller, each};
use crate::{
    checks::{
        Area, Check, Context, Judged, Stop, Verdicts,
        node_role::nothing_to_judge,
        permissions::{Answers, ROLE_POLICIES, Refused, Who, add_policies, without_policy},
        setup::setup,
    },
    facts::arn,
    outcome::{Finding, Remedy},
    requirements::{self, policy::Policy},
    target::{NodeRole, Origin, Product},
};

pub static CHECK: Check = Check {
    id: "controller-pass-role",
    title: "The controller may pass the node role to EC2",
    area: Area::Controller,
    products: &[Product::Karpenter],
    errors: &["pass-role-denied"],
    needs: &[
        ROLE_POLICIES,
        "iam:ListInstanceProfiles",
        "eks:DescribeAccessEntry",
        "eks:DescribeCluster",
        "eks:DescribeNodegroup",
        "eks:DescribePodIdentityAssociation",
        "eks:ListAccessEntries",
        "eks:ListNodegroups",
        "eks:ListPodIdentityAssociations",
    ],
    doc: "\
## What
The controller's role is allowed `iam:PassRole` on each node role, path included, for the service
`ec2.amazonaws.com` (in the China regions `ec2.amazonaws.com.cn`).

## Why
Whoever starts an instance with a role, or puts a role into an instance profile, must be allowed
to pass that role. A node role under another name or path than the policy's, or a condition that
names the wrong service, stops every launch.

## Seen as
`is not authorized to perform: iam:PassRole on resource`; the NodeClass condition
`InstanceProfileReady` stays unknown.

## Fix
Allow `iam:PassRole` on the node role's ARN; the finding holds the policy.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    Ok(each(cx, |controller| {
        let roles = cx.target.node_roles.iter().filter(|role| role.product == Product::Karpenter);
        let mut judged: Vec<Judged> = roles
            .map(|node| {
                let subject = format!("{} to {}", controller.role.name, node.name);
                Judged::new(subject, || judge(cx, controller, node)).of_role(&controller.role.name)
            })
            .collect();
        if judged.is_empty() {
            let none = || Err(nothing_to_judge(cx, Product::Karpenter));
            judged.push(Judged::new(&controller.role.name, none).of_role(&controller.role.name));
        }
        Ok(judged)
    }))
}

fn judge(cx: &Context<'_>, controller: &Controller<'_>, node: &NodeRole) -> Result<Finding, Stop> {
    let role = cx
        .role(&node.name)?
        .ok_or_else(|| Stop::skipped("the node role does not exist; see node-role-exists"))?;
    let mut setup = setup(cx, Product::Karpenter)?;
    // Without any, a made-up one is asked for, of which no refusal by name is certain.
    setup.node_role_arns = match node.origin {
        Origin::StandIn => Vec::new(),
        _ => vec![role.arn.clone()],
    };
    let mut requests = requirements::controller(cx.karpenter(), &setup);
    requests.retain(|request| request.action == "iam:PassRole");
    let answers = Answers::to(requests, &controller.grants(cx)?);
    let (groups, unknown) = answers.by_consequence();
    if let Some((consequence, refused)) = groups.into_iter().next() {
        // A role that only an access entry shows may be a node group's, not Karpenter's.
        if node.origin == Origin::AccessEntry {
            cx.facts.node_groups.known()?;
        }
        let who = Who {
            role: &controller.role.name,
            asker: format!("Karpenter {}", cx.karpenter()),
            cluster: &cx.target.cluster,
            errors: CHECK.errors,
        };
        let mut finding = who.finding(consequence, &refused);
        finding.seen = format!("{} may not pass {} to EC2.", controller.role.name, role.arn);
        return Ok(finding.mend(mend(cx, controller, &role.arn, &refused)));
    }
    match unknown.into_iter().next() {
        Some(unknown) => Err(Stop::Unknown(unknown)),
        None => Ok(Finding::pass(format!("{} may pass {} to EC2", controller.role.name, role.arn))),
    }
}

/// Another name for each node role: `put-role-policy` replaces what is there under the same one.
fn policy_name(node_role: &str) -> String {
    const LIMIT: usize = 128;
    format!("KarpenterPass-{}", arn::role_name(node_role)).chars().take(LIMIT).collect()
}

fn mend(
    cx: &Context<'_>,
    controller: &Controller<'_>,
    node_role: &str,
    refused: &[Refused],
) -> Remedy {
    if let Some(remedy) = without_policy(controller.role, refused) {
        return remedy;
    }
    let mut services = vec!["ec2.amazonaws.com"];
    if cx.target.partition == "aws-cn" {
        services.push("ec2.amazonaws.com.cn");
    }
    let document = json!({
        "Version": "2012-10-17",
        "Statement": [{
            "Sid": "AllowPassingInstanceRole",
            "Effect": "Allow",
            "Action": "iam:PassRole",
            "Resource": node_role,
            "Condition": {"StringEquals": {"iam:PassedToService": services}},
        }],
    });
    let policy = Policy { name: policy_name(node_role), document };
    let words = format!("Allow {} to pass the node role.", controller.role.name);
    add_policies(cx, Remedy::new(words), controller.role, &[policy])
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows, controller_may},
        outcome::Status,
    };

    const SUBJECT: &str = "demo-karpenter to KarpenterNodeRole-demo";

    fn pass_role(resource: &str, service: &Value) -> Value {
        controller_may(&json!([{
            "Effect": "Allow", "Action": "iam:PassRole", "Resource": resource,
            "Condition": {"StringEquals": {"iam:PassedToService": service}}}]))
    }

    #[test]
    fn rows() {
        let role = "arn:aws:iam::111122223333:role/KarpenterNodeRole-demo";
        let ec2 = json!("ec2.amazonaws.com");
        let mut with_path = pass_role(role, &ec2);
        with_path["facts"]["roles"] = json!({"KarpenterNodeRole-demo": {"known": {
            "arn": "arn:aws:iam::111122223333:role/team/KarpenterNodeRole-demo", "path": "/team/"}}});
        let mut china = pass_role("*", &ec2);
        china["scope"] = json!({"region": "cn-north-1"});
        china["facts"]["roles"] = json!({"demo-karpenter": {"known": {
            "arn": "arn:aws-cn:iam::111122223333:role/demo-karpenter"}}});
        let pass: &[(Status, &str)] = &[(Status::Pass, SUBJECT)];
        let fail: &[(Status, &str)] = &[(Status::Fail, SUBJECT)];
        let denied = json!({"denied": {"action": "iam:GetPolicyVersion", "message": "no"}});
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("the guide's", json!({}), pass),
                ("this role", pass_role(role, &ec2), pass),
                (
                    "any role",
                    pass_role("*", &json!(["ec2.amazonaws.com", "eks.amazonaws.com"])),
                    pass,
                ),
                ("another role", pass_role("arn:aws:iam::111122223333:role/other", &ec2), fail),
                ("another service", pass_role(role, &json!("eks.amazonaws.com")), fail),
                ("a role with a path", with_path, fail),
                ("the plain name in China", china, fail),
                (
                    "the policy is not readable",
                    json!({"facts": {"policies": {
                        "arn:aws:iam::111122223333:policy/KarpenterControllerPolicy-demo": denied}}}),
                    &[(Status::Unknown, SUBJECT)],
                ),
                (
                    "no node role",
                    json!({"facts": {"roles": {"KarpenterNodeRole-demo": "absent"},
                        "access_entries": {"known": {"arn:aws:iam::111122223333:role/KarpenterNodeRole-demo": null}}}}),
                    &[(Status::Skipped, "demo-karpenter")],
                ),
            ],
        );
    }
}
