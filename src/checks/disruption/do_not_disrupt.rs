//! Whether pods forbid Karpenter to remove their nodes.

use crate::{
    checks::{
        Area, Check, Context, Judged, Verdicts,
        remedies::quote,
        workloads::{Tally, counted, edit, first_few, placed_pods},
    },
    outcome::{Finding, Remedy},
    target::Product,
};

pub static CHECK: Check = Check {
    id: "do-not-disrupt-pods",
    title: "No lasting pod forbids the removal of its node",
    area: Area::Disruption,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["disruption-blocked", "node-deletion-blocked"],
    needs: &[],
    doc: "\
## What
Of the pods on nodes that Karpenter made, none but those of Jobs has the annotation
`karpenter.sh/do-not-disrupt: true`. One with a duration in place of `true` ends by itself.

## Why
Karpenter leaves a node with such a pod alone: it does not consolidate it, and does not replace
it when its NodePool or AMI changed. When the node is deleted or expires, it is not drained to
its end until the pod is gone or the NodePool's `terminationGracePeriod` is over. A Job ends by
itself; a Deployment does not.

## Seen as
`Pod has \"karpenter.sh/do-not-disrupt\" annotation` in the node's events: `Cannot disrupt Node`.

## Fix
Take the annotation off what runs for ever, and protect it by a PodDisruptionBudget that allows
one at a time; or give it a duration, and the NodePool a `terminationGracePeriod`.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let pods = placed_pods(cx)?;
    Ok(vec![Judged::new(&cx.target.cluster, || {
        let lasting = Tally::new(pods, |workload| match workload.owner.kind.as_str() {
            "Job" | "CronJob" => 0,
            _ => workload.do_not_disrupt.count,
        });
        Ok(match lasting.is_empty() {
            true => Finding::pass("None does."),
            false => finding(&lasting),
        })
    })])
}

fn finding(lasting: &Tally<'_>) -> Finding {
    let nodes: u32 = lasting.of.iter().map(|(workload, _)| workload.kept_nodes).max().unwrap_or(0);
    let names = lasting.of.first().map(|(w, _)| first_few(&w.do_not_disrupt)).unwrap_or_default();
    let seen = format!(
        "{} on Karpenter's nodes have karpenter.sh/do-not-disrupt=true: {}; such as {names}. The first \
         of these workloads alone keeps {}.",
        counted(lasting.pods(), "pod"),
        lasting.listed(),
        counted(nodes, "node")
    );
    let remedy = Remedy::new(
        "Take the annotation out of the pod template of what runs for ever; a \
         PodDisruptionBudget with maxUnavailable 1 protects it and lets nodes go. For a task of \
         known length, write the duration in place of true.",
    );
    let remedy = lasting.of.iter().take(1).fold(remedy, |remedy, (workload, _)| {
        let owner = &workload.owner;
        match owner.kind.as_str() {
            "Pod" if !owner.name.is_empty() => remedy.run(format!(
                "kubectl annotate pod {} --namespace {} karpenter.sh/do-not-disrupt-",
                quote(&owner.name),
                quote(&owner.namespace)
            )),
            _ => remedy.run(edit(owner)),
        }
    });
    Finding::warn(
        seen,
        "Karpenter neither consolidates these nodes nor moves them to a new AMI, however little \
         runs there.",
    )
    .errors(&["disruption-blocked"])
    .evidence(
        "list pods (Kubernetes)",
        "metadata.annotations[karpenter.sh/do-not-disrupt]",
        lasting.pods().to_string(),
    )
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

    fn kept(kind: &str) -> Value {
        workloads(&[json!({
            "owner": {"namespace": "shop", "kind": kind, "name": "db"},
            "pods": {"count": 9, "names": ["shop/db-0"]}, "kept_nodes": 5,
            "do_not_disrupt": {"count": 9, "names": ["shop/db-0", "shop/db-1", "shop/db-2"]}})])
    }

    #[test]
    fn rows() {
        let denied = json!({"denied": {"action": "list pods", "message": "forbidden"}});
        let no_pods = json!({"facts": {"kubernetes": {"workloads": {"pods": denied}}}});
        let unplaced = json!({"facts": {"kubernetes": {"workloads": {"pods": {"known": {"nodes_known": false}}}}}});
        let demo = |status| [(status, "demo")];
        for account in [Account::KarpenterCluster, Account::AutoModeCluster] {
            assert_rows(
                account,
                &CHECK,
                &[
                    ("healthy", json!({}), &demo(Status::Pass)),
                    ("a StatefulSet", kept("StatefulSet"), &demo(Status::Warn)),
                    ("a pod of nobody's", kept("Pod"), &demo(Status::Warn)),
                    ("Jobs end by themselves", kept("CronJob"), &demo(Status::Pass)),
                    ("not readable", no_pods.clone(), &demo(Status::Unknown)),
                    ("nodes not known", unplaced.clone(), &demo(Status::Unknown)),
                    ("left alone", json!({"scope": {"no_kube": true}}), &demo(Status::Skipped)),
                ],
            );
        }
    }
}
