use serde_json::{Value, json};

use super::*;
use crate::{
    checks::testing::{Account, assert_rows},
    outcome::Status,
};

const ROLE: &str = "KarpenterNodeRole-demo";

fn attached(names: &[&str]) -> Value {
    let arns: Vec<_> = names.iter().map(|name| format!("arn:aws:iam::aws:policy/{name}")).collect();
    json!({"facts": {"role_policies": {ROLE: {"attached": {"known": arns}}}}})
}

fn and(mut patch: Value, more: &Value) -> Value {
    json_patch::merge(&mut patch, more);
    patch
}

#[test]
fn rows() {
    const WORKER: &str = "AmazonEKSWorkerNodePolicy";
    const PULL: &str = "AmazonEC2ContainerRegistryPullOnly";
    let without_cni = attached(&[WORKER, PULL]);
    let association = json!({"facts": {"pod_identity_associations": {"known": [{"known": {
        "id": "a-2", "namespace": "kube-system", "service_account": "aws-node",
        "role_arn": "arn:aws:iam::111122223333:role/cni", "target_role_arn": null}}]}}});
    let addon = json!({"facts": {"addons": {"vpc-cni": {"known": {
        "service_account_role_arn": "arn:aws:iam::111122223333:role/cni"}}}}});
    let denied = json!({"denied": {"action": "iam:ListAttachedRolePolicies", "message": "no"}});
    let ipv6 = json!({"facts": {"cluster": {"known": {"network": {"ip_family": "ipv6"}}}}});
    let pass: &[(Status, &str)] = &[(Status::Pass, ROLE)];
    let cni: &[(Status, &str)] = &[(Status::Warn, "KarpenterNodeRole-demo (cni)")];
    assert_rows(
        Account::Karpenter,
        &CHECK,
        &[
            ("the guide's", json!({}), pass),
            ("no CNI", without_cni.clone(), cni),
            ("the CNI is associated", and(without_cni.clone(), &association), pass),
            ("the CNI's add-on has a role", and(without_cni, &addon), pass),
            ("IPv6 with the policy for IPv4", ipv6, cni),
            (
                "no pull",
                attached(&[WORKER, "AmazonEKS_CNI_Policy"]),
                &[(Status::Fail, "KarpenterNodeRole-demo (pull)")],
            ),
            (
                "nothing",
                attached(&[]),
                &[
                    (Status::Fail, "KarpenterNodeRole-demo (join)"),
                    (Status::Fail, "KarpenterNodeRole-demo (pull)"),
                    (Status::Warn, "KarpenterNodeRole-demo (cni)"),
                    (Status::Warn, "KarpenterNodeRole-demo (pod-identity)"),
                ],
            ),
            (
                "not readable",
                json!({"facts": {"role_policies": {ROLE: {"attached": denied}}}}),
                &[(Status::Unknown, ROLE)],
            ),
            (
                "no role",
                json!({"scope": {"node_roles": ["other"]}, "facts": {"roles": {"other": "absent"}}}),
                &[(Status::Skipped, "other")],
            ),
        ],
    );
    assert_rows(
        Account::AutoMode,
        &CHECK,
        &[
            ("AWS's policies", json!({}), &[(Status::Pass, "demo-auto-node")]),
            (
                "nothing",
                json!({"facts": {"role_policies": {"demo-auto-node": {"attached": {"known": []}}}}}),
                &[
                    (Status::Fail, "demo-auto-node (pull)"),
                    (Status::Warn, "demo-auto-node (pod-identity)"),
                ],
            ),
        ],
    );
}
