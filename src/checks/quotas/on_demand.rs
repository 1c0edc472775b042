//! Whether the on-demand vCPU quotas leave room for nodes.

use super::vcpus::{Capacity, Effects, PRODUCTS, QUOTAS, RUNNING, each};
use crate::{
    checks::{Area, Check, Context, Verdicts},
    outcome::Finding,
};

pub static CHECK: Check = Check {
    id: "vcpu-quota",
    title: "The on-demand vCPU quotas leave room for nodes",
    area: Area::Launch,
    products: PRODUCTS,
    errors: &["vcpu-limit-exceeded"],
    needs: &[QUOTAS, RUNNING],
    doc: "\
## What
Of the vCPUs that the account may run on demand in this region, enough are left for nodes: of the
standard families always, of G and VT, and of P, where such instances run or a NodePool names
them. All running instances count, also those of others, and those that services manage.

## Why
Quotas are per account, region and family. Karpenter takes a used-up quota for want of capacity: it
deletes the NodeClaim, tries again after three minutes, and only an event tells. New accounts
begin with 5 vCPUs of the standard families and none of those with GPUs.

## Seen as
`VcpuLimitExceeded: You have requested more vCPU capacity than your current vCPU limit of ...
allows` in an event of the NodeClaim; pods stay Pending.

## Fix
Ask for a larger quota, or set `limits` of the NodePools below it.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let full = |seen| {
        Finding::fail(
            seen,
            "No further node of these families is launched on demand: NodeClaims come and go, and \
             pods stay Pending.",
        )
    };
    let effects = Effects { full: &full, then: "Once they are used, no further node comes." };
    each(cx, Capacity::OnDemand, CHECK.errors, &effects)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status,
    };

    const STANDARD: &str = "Standard (A, C, D, H, I, M, R, T, Z)";

    fn with(code: &str, quota: u64, used: u64) -> Value {
        json!({"facts": {"limits": {
            "vcpu_quotas": {"known": {code: {"value": quota, "is_default": false}}},
            "running": {"known": [{"quota": code, "instances": 1, "vcpus": used}]},
        }}})
    }

    #[test]
    fn rows() {
        use Status::{Fail, Pass, Skipped, Unknown, Warn};
        let standard = |quota, used| with("L-1216C47A", quota, used);
        let one = |status| [(status, STANDARD)];
        let denied = |action: &str| json!({"denied": {"action": action, "message": "no"}});
        let limits = |change: &Value| json!({"facts": {"limits": change}});
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("plenty", json!({}), &one(Pass)),
                ("half", standard(64, 32), &one(Pass)),
                ("little", standard(64, 56), &one(Warn)),
                ("a fifth", standard(1000, 801), &one(Warn)),
                ("a new account", standard(5, 0), &one(Warn)),
                ("one vCPU", standard(64, 63), &one(Fail)),
                ("all", standard(64, 64), &one(Fail)),
                ("more than all", standard(32, 64), &one(Fail)),
                ("GPUs run", with("L-DB2E81BA", 8, 8), &[(Pass, STANDARD), (Fail, "G and VT")]),
                ("Spot GPUs run", with("L-3819A6DF", 8, 8), &one(Pass)),
                ("quotas unread", limits(&json!({"vcpu_quotas": denied(QUOTAS)})), &one(Unknown)),
                ("instances unread", limits(&json!({"running": denied(RUNNING)})), &one(Unknown)),
            ],
        );
        let pools = |requirements: Value| {
            json!({"facts": {"kubernetes": {"node_pools": {"known": [
                {"meta": {"name": "default"}, "requirements": requirements}]}}}})
        };
        let requirement = |key: &str, operator: &str, value: &str| json!({"key": key, "operator": operator, "values": [value]});
        let capacity = "karpenter.sh/capacity-type";
        let family = "karpenter.k8s.aws/instance-family";
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[
                ("on demand", pools(json!([requirement(capacity, "In", "on-demand")])), &one(Pass)),
                ("nothing said", pools(json!([])), &one(Pass)),
                (
                    "Spot only",
                    pools(json!([requirement(capacity, "In", "spot")])),
                    &[(Skipped, "demo")],
                ),
                (
                    "GPUs by name",
                    pools(json!([requirement(family, "In", "g5")])),
                    &[(Pass, STANDARD), (Fail, "G and VT")],
                ),
                ("GPUs left out", pools(json!([requirement(family, "NotIn", "g5")])), &one(Pass)),
            ],
        );
    }
}
