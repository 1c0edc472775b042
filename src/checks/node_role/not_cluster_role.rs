//! Nodes have a role of their own, not the cluster's.

use super::each;
use crate::{
    checks::{Area, Check, Context, Stop, Verdicts},
    facts::arn,
    outcome::{Finding, Remedy},
    target::{NodeRole, Product},
};

pub static CHECK: Check = Check {
    id: "node-role-not-cluster-role",
    title: "The node role is not the cluster's role",
    area: Area::Join,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["node-not-registered"],
    needs: &[
        "eks:DescribeCluster",
        "eks:ListAccessEntries",
        "eks:DescribeAccessEntry",
        "iam:GetRole",
        "iam:ListInstanceProfiles",
    ],
    doc: "\
## What
No node role is the role that the cluster itself runs with.

## Why
EKS wants two roles: the control plane's is for `eks.amazonaws.com`, the nodes' for
`ec2.amazonaws.com`, and AWS documents that a cluster's role cannot serve as a node role. Where
one role is bent to serve both, every pod that reaches the instance metadata may do what the
control plane may do.

## Seen as
Nodes that never register: NodeClaims say `Node not registered with cluster`.

## Fix
Create a node role of its own, name it in the NodeClass, and give it an access entry.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    Ok(each(cx, |role| judge(cx, role)))
}

fn judge(cx: &Context<'_>, role: &NodeRole) -> Result<Finding, Stop> {
    let cluster = cx.cluster()?;
    let name = &role.name;
    // Role names are unique within an account without regard to case, and both roles belong to
    // the cluster's account.
    if !arn::role_name(&cluster.role_arn).eq_ignore_ascii_case(name) {
        return Ok(Finding::pass(format!(
            "{name} is not the cluster's role, {}",
            cluster.role_arn
        )));
    }
    let place = match role.product {
        Product::Karpenter => "spec.role of the EC2NodeClass",
        Product::AutoMode => "the NodeClass or the cluster's compute configuration",
    };
    Ok(Finding::fail(
        format!("{name} is also the role of the cluster {}.", cluster.name),
        "EKS documents that a cluster's role cannot be a node role. Its nodes do not register; if \
         they did, every pod on them could do what the control plane may do.",
    )
    .errors(&["node-not-registered"])
    .evidence("eks:DescribeCluster", "cluster.roleArn", &cluster.role_arn)
    .mend(Remedy::new(format!(
        "Create a role for the nodes alone, and name it in {place} instead of {name}."
    ))))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status,
    };

    const ROLE: &str = "KarpenterNodeRole-demo";

    #[test]
    fn rows() {
        let denied =
            json!({"denied": {"action": "eks:DescribeCluster", "message": "not authorized"}});
        let same = "arn:aws:iam::111122223333:role/a/karpenternoderole-demo";
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("two roles", json!({}), &[(Status::Pass, ROLE)]),
                (
                    "one role",
                    json!({"facts": {"cluster": {"known": {"role_arn": same}}}}),
                    &[(Status::Fail, ROLE)],
                ),
                (
                    "one of two",
                    json!({"scope": {"node_roles": ["demo-cluster", ROLE]}}),
                    &[(Status::Fail, "demo-cluster"), (Status::Pass, ROLE)],
                ),
                (
                    "the cluster is not readable",
                    json!({"facts": {"cluster": denied}}),
                    &[(Status::Unknown, ROLE), (Status::Unknown, "demo")],
                ),
                (
                    "no node role",
                    json!({"facts": {
                        "roles": {ROLE: "absent"},
                        "access_entries": {"known": {"arn:aws:iam::111122223333:role/KarpenterNodeRole-demo": null}},
                    }}),
                    &[(Status::Skipped, ROLE)],
                ),
            ],
        );
        assert_rows(
            Account::AutoMode,
            &CHECK,
            &[
                ("two roles", json!({}), &[(Status::Pass, "demo-auto-node")]),
                (
                    "one role",
                    json!({"facts": {"cluster": {"known": {
                        "role_arn": "arn:aws:iam::111122223333:role/demo-auto-node"}}}}),
                    &[(Status::Fail, "demo-auto-node")],
                ),
            ],
        );
    }
}
