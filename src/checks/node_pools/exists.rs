//! Whether there is any NodePool.

use crate::{
    checks::{Area, Check, Context, Judged, Stop, Verdicts},
    outcome::{Finding, Remedy},
    target::Product,
};

pub static CHECK: Check = Check {
    id: "nodepool-exists",
    title: "There is a NodePool",
    area: Area::Launch,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["no-nodepools-found"],
    needs: &[],
    doc: "\
## What
Where Karpenter's controller runs or EKS Auto Mode is on, the cluster has a NodePool.

## Why
The chart installs none, and EKS only those that are switched on in the cluster's compute
configuration. Without a NodePool nothing is launched, whatever else is right.

## Seen as
`no nodepools found` in the controller's log; pods stay Pending.

## Fix
Create a NodePool and the NodeClass that it names; in EKS Auto Mode switch on `general-purpose`.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let kubernetes = cx.kubernetes()?;
    if cx.target.before_install() {
        return Err(Stop::skipped("Karpenter is not installed yet"));
    }
    Ok(vec![Judged::new(&cx.target.cluster, || {
        let pools = kubernetes.node_pools.found()?.map_or(0, Vec::len);
        Ok(match pools {
            0 => none(),
            1 => Finding::pass("There is 1 NodePool."),
            more => Finding::pass(format!("There are {more} NodePools.")),
        })
    })])
}

fn none() -> Finding {
    Finding::warn(
        "The cluster has no NodePool.",
        "Nothing is launched: pods that find no place stay Pending.",
    )
    .errors(CHECK.errors)
    .evidence("list nodepools (Kubernetes)", "items", "[]")
    .mend(
        Remedy::new(
            "Create one, with the NodeClass that it names: begin with the example of the guide, \
             https://karpenter.sh/docs/getting-started/getting-started-with-karpenter/, or for EKS \
             Auto Mode that of https://docs.aws.amazon.com/eks/latest/userguide/create-node-pool.html. \
             Then see that it is ready.",
        )
        .run("kubectl get nodepools"),
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

    fn pools(fact: &Value) -> Value {
        json!({"facts": {"kubernetes": {"node_pools": fact}}})
    }

    #[test]
    fn rows() {
        let one = |status| [(status, "demo")];
        let denied = json!({"denied": {"action": "list nodepools", "message": "no"}});
        let mut before = pools(&json!({"known": []}));
        before["scope"] = json!({"stage": "before"});
        for account in [Account::KarpenterCluster, Account::AutoModeCluster] {
            assert_rows(
                account,
                &CHECK,
                &[
                    ("some", json!({}), &one(Status::Pass)),
                    ("none", pools(&json!({"known": []})), &one(Status::Warn)),
                    ("not readable", pools(&denied), &one(Status::Unknown)),
                    ("left alone", json!({"scope": {"no_kube": true}}), &one(Status::Skipped)),
                ],
            );
        }
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[("before an install", before, &one(Status::Skipped))],
        );
    }
}
