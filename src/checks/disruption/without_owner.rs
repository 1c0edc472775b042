//! Whether pods on Karpenter's nodes have something that makes them again.

use crate::{
    checks::{
        Area, Check, Context, Judged, Verdicts,
        workloads::{Tally, counted, is_system, place, placed_pods},
    },
    outcome::{Finding, Remedy},
    target::Product,
};

pub static CHECK: Check = Check {
    id: "pods-without-owner",
    title: "Pods on Karpenter's nodes are made again when a node goes",
    area: Area::Disruption,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &[],
    needs: &[],
    doc: "\
## What
Each pod on a node of Karpenter's has an owner, such as a ReplicaSet, a StatefulSet or a Job.

## Why
When Karpenter takes a node away, its pods are evicted and their owners make them anew. A pod
that somebody made by hand has none: up to Karpenter 0.18 it kept its node from consolidation,
and since 0.19 it is evicted like any other and does not come back.

## Seen as
Nothing: the pod is gone when its node is consolidated.

## Fix
Make it by a Deployment or a Job, or keep its node with `karpenter.sh/do-not-disrupt` while it is
needed.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let pods = placed_pods(cx)?;
    Ok(vec![Judged::new(&cx.target.cluster, || {
        let bare = Tally::new(pods, |workload| {
            let counts = workload.owner.kind == "Pod" && !is_system(cx, &workload.owner.namespace);
            if counts {
                workload.on_karpenter.saturating_sub(workload.do_not_disrupt.count)
            } else {
                0
            }
        });
        Ok(match bare.is_empty() {
            true => Finding::pass("Each has an owner."),
            false => finding(&bare),
        })
    })])
}

fn finding(bare: &Tally<'_>) -> Finding {
    let first = bare.of.first().and_then(|(workload, _)| workload.pods.names.first());
    let (pod, namespace) = place(first.map_or("", String::as_str));
    Finding::warn(
        format!(
            "{} on Karpenter's nodes have no owner: {}.",
            counted(bare.pods(), "pod"),
            bare.listed()
        ),
        "When Karpenter consolidates or replaces their nodes they are evicted, and nothing makes \
         them again.",
    )
    .evidence("list pods (Kubernetes)", "metadata.ownerReferences", "none")
    .mend(
        Remedy::new(
            "Run them by a Deployment or a Job. While one must not be lost, keep its node; \
             Karpenter then leaves that node alone:",
        )
        .run(format!("kubectl annotate pod {pod}{namespace} karpenter.sh/do-not-disrupt=true")),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows, workloads},
        outcome::Status,
    };

    fn bare(namespace: &str, on_karpenter: u32, kept: u32) -> Value {
        workloads(&[json!({
            "owner": {"namespace": namespace, "kind": "Pod", "name": "debug"},
            "pods": {"count": 1, "names": [format!("{namespace}/debug")]},
            "do_not_disrupt": {"count": kept, "names": []}, "on_karpenter": on_karpenter})])
    }

    #[test]
    fn rows() {
        let denied = json!({"denied": {"action": "list nodes", "message": "forbidden"}});
        let denied = json!({"facts": {"kubernetes": {"nodes": denied}}});
        let demo = |status| [(status, "demo")];
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[
                ("healthy", json!({}), &demo(Status::Pass)),
                ("by hand", bare("shop", 1, 0), &demo(Status::Warn)),
                ("by hand and kept", bare("shop", 1, 1), &demo(Status::Pass)),
                ("on another node", bare("shop", 0, 0), &demo(Status::Pass)),
                ("EKS's own", bare("kube-system", 1, 0), &demo(Status::Pass)),
                ("nodes not readable", denied, &demo(Status::Unknown)),
                ("left alone", json!({"scope": {"no_kube": true}}), &demo(Status::Skipped)),
            ],
        );
    }
}
