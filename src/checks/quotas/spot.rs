//! Whether the Spot vCPU quotas leave room for nodes.

use super::vcpus::{Capacity, Effects, PRODUCTS, QUOTAS, RUNNING, each, is_launched};
use crate::{
    checks::{Area, Check, Context, Verdicts},
    outcome::Finding,
};

pub static CHECK: Check = Check {
    id: "spot-quota",
    title: "The Spot vCPU quotas leave room for nodes",
    area: Area::Launch,
    products: PRODUCTS,
    errors: &["spot-quota-exceeded"],
    needs: &[QUOTAS, RUNNING],
    doc: "\
## What
Of the vCPUs that the account may run as Spot instances in this region, enough are left for nodes:
of the standard families always, of G and VT, and of P, where such instances run or a NodePool
names them.

## Why
Spot has quotas of its own beside those for on-demand. Karpenter takes a used-up one for want of
Spot capacity, and where the NodePool allows it, it falls back on on-demand without a word: only
the bill tells. A NodePool that allows Spot only gets no nodes.

## Seen as
`MaxSpotInstanceCountExceeded: Max spot instance count exceeded` in an event of the NodeClaim.

## Fix
Ask for a larger quota, or allow on-demand in the NodePool.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let only = is_launched(cx, Capacity::OnDemand) == Some(false);
    let full = |seen| match only {
        true => Finding::fail(
            seen,
            "NodePools that allow Spot only get no further node of these families: NodeClaims come \
             and go, and pods stay Pending.",
        ),
        false => Finding::warn(
            seen,
            "No further Spot instance of these families is launched. Where a NodePool allows \
             on-demand too, Karpenter takes that without a word.",
        ),
    };
    let effects = Effects { full: &full, then: "Once they are used, no Spot node comes." };
    each(cx, Capacity::Spot, CHECK.errors, &effects)
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

    fn with(quota: u64, used: u64) -> Value {
        let code = "L-34B43A08";
        json!({"facts": {"limits": {
            "vcpu_quotas": {"known": {code: {"value": quota, "is_default": false}}},
            "running": {"known": [{"quota": code, "instances": 1, "vcpus": used}]},
        }}})
    }

    fn pools(mut patch: Value, types: &[&str]) -> Value {
        patch["facts"]["kubernetes"] = json!({"node_pools": {"known": [
            {"meta": {"name": "default"}, "requirements": [
                {"key": "karpenter.sh/capacity-type", "operator": "In", "values": types}]}]}});
        patch
    }

    #[test]
    fn rows() {
        use Status::{Fail, Pass, Skipped, Unknown, Warn};
        let one = |status| [(status, STANDARD)];
        let denied = json!({"denied": {"action": QUOTAS, "message": "no"}});
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("plenty", json!({}), &one(Pass)),
                ("little", with(64, 60), &one(Warn)),
                ("none, and on-demand may do", with(64, 64), &one(Warn)),
                ("unread", json!({"facts": {"limits": {"vcpu_quotas": denied}}}), &one(Unknown)),
            ],
        );
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[
                ("on-demand only", with(64, 64), &[(Skipped, "demo")]),
                ("both", pools(with(64, 64), &["spot", "on-demand"]), &one(Warn)),
                ("Spot only", pools(with(64, 64), &["spot"]), &one(Fail)),
            ],
        );
    }
}
