//! Whether workloads with many volumes are kept apart.

use super::volumes::{MANY_CLAIMS, heaped};
use crate::{
    checks::{
        Area, Check, Context, Judged, Verdicts,
        workloads::{Tally, edit, pods},
    },
    outcome::{Finding, Remedy},
    target::Product,
};

pub static CHECK: Check = Check {
    id: "volume-spread",
    title: "Workloads with many volumes are spread over nodes",
    area: Area::Scheduling,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["volume-attach-failed", "volume-mount-failed"],
    needs: &[],
    doc: "\
## What
No workload has ten or more claims on one node without a topology spread or an anti-affinity that
would keep its pods apart.

## Why
Karpenter fills nodes, and pods of one StatefulSet fit well together. Each brings a volume, and an
instance takes a limited number of them: most Nitro types share 28 attachments between volumes
and network interfaces. When such pods arrive together, the scheduler can put more on a new node
than its storage driver can attach.

## Seen as
`AttachVolume.Attach failed for volume`, `Unable to attach or mount volumes`.

## Fix
`topologySpreadConstraints` over `kubernetes.io/hostname`, or a `podAntiAffinity`.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let pods = pods(cx)?;
    Ok(vec![Judged::new(&cx.target.cluster, || {
        let heaped = heaped(pods);
        if heaped.is_empty() {
            return Ok(Finding::pass(format!(
                "None has {MANY_CLAIMS} volumes on one node without one."
            )));
        }
        Ok(finding(&heaped))
    })])
}

fn finding(heaped: &Tally<'_>) -> Finding {
    let seen = format!(
        "Nothing keeps the pods of these workloads apart, and so many of their volumes are on one \
         node: {}.",
        heaped.listed()
    );
    let remedy = Remedy::new(
        "Give the pods topologySpreadConstraints with topologyKey kubernetes.io/hostname, or a \
         podAntiAffinity on their own labels.",
    );
    let remedy = heaped
        .of
        .iter()
        .take(1)
        .fold(remedy, |remedy, (workload, _)| remedy.run(edit(&workload.owner)));
    Finding::warn(
        seen,
        "When pods of these land on a node that has no attachment left, their volumes are not \
         attached and they do not start.",
    )
    .errors(&["volume-attach-failed", "volume-mount-failed"])
    .evidence("list pods (Kubernetes)", "spec.volumes[].persistentVolumeClaim", heaped.listed())
    .mend(remedy)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows, workloads},
        outcome::Status,
    };

    fn claims(on_one_node: u32, spread: bool) -> Value {
        workloads(&[json!({
            "owner": {"namespace": "shop", "kind": "StatefulSet", "name": "db"},
            "pods": {"count": 30, "names": ["shop/db-0"]}, "with_claims": 30,
            "claims_on_one_node": on_one_node, "spread": spread})])
    }

    #[test]
    fn rows() {
        let denied = json!({"denied": {"action": "list pods", "message": "forbidden"}});
        for account in [Account::KarpenterCluster, Account::AutoModeCluster] {
            assert_rows(
                account,
                &CHECK,
                &[
                    ("healthy", json!({}), &[(Status::Pass, "demo")]),
                    ("heaped", claims(10, false), &[(Status::Warn, "demo")]),
                    ("spread", claims(10, true), &[(Status::Pass, "demo")]),
                    ("few", claims(9, false), &[(Status::Pass, "demo")]),
                    (
                        "not readable",
                        json!({"facts": {"kubernetes": {"workloads": {"pods": denied.clone()}}}}),
                        &[(Status::Unknown, "demo")],
                    ),
                    (
                        "left alone",
                        json!({"scope": {"no_kube": true}}),
                        &[(Status::Skipped, "demo")],
                    ),
                ],
            );
        }
    }
}
