//! Whether PodDisruptionBudgets ever let Karpenter empty a node.

use crate::{
    checks::{
        Area, Check, Context, Judged, Verdicts,
        remedies::{listed, quote},
        workloads::{counted, first_few, placed_pods, workloads},
    },
    facts::kubernetes::workloads::{DisruptionBudget, Named},
    outcome::{Finding, Remedy},
    target::Product,
};

pub static CHECK: Check = Check {
    id: "pod-disruption-budgets",
    title: "PodDisruptionBudgets let pods of Karpenter's nodes go",
    area: Area::Disruption,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["disruption-blocked", "node-deletion-blocked"],
    needs: &[],
    doc: "\
## What
Each PodDisruptionBudget that selects pods on nodes of Karpenter's allows a disruption now, and
no pod is selected by two of them.

## Why
Karpenter evicts pods through Kubernetes, which refuses where a budget allows none. It does not
start to consolidate or replace such a node, and a node that is deleted or expires is never empty.
A budget whose `minAvailable` is the number of replicas, or whose `maxUnavailable` is 0, never
allows any. Kubernetes evicts no pod that two budgets select.

## Seen as
`Pdb prevents pod evictions` and `Cannot disrupt Node` in events, `Failed to drain node` on one
that is being deleted.

## Fix
More replicas than `minAvailable`, or `maxUnavailable: 1`. For budgets that are short because pods
are not ready: mend the pods, or set `unhealthyPodEvictionPolicy: AlwaysAllow`.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let pods = placed_pods(cx)?;
    let budgets = workloads(cx)?.blocking_budgets.known()?;
    let on_nodes: Vec<_> = budgets.iter().filter(|budget| budget.pods.count > 0).collect();
    let (short, never): (Vec<_>, Vec<_>) =
        on_nodes.into_iter().partition(|budget| is_short(budget));
    let cluster = &cx.target.cluster;
    let mut judged = Vec::new();
    if !never.is_empty() {
        judged.push(Judged::new(cluster, || Ok(never_allows(&never))));
    }
    if !short.is_empty() {
        judged.push(Judged::new(cluster, || Ok(allows_none_now(&short))));
    }
    if pods.of_two_budgets.count > 0 {
        judged.push(Judged::new(cluster, || Ok(of_two(&pods.of_two_budgets))));
    }
    if judged.is_empty() {
        judged.push(Judged::new(cluster, || Ok(Finding::pass("Each allows one."))));
    }
    Ok(judged)
}

/// It would allow one if all of its pods were healthy.
fn is_short(budget: &DisruptionBudget) -> bool {
    budget.wanted_healthy < budget.expected
}

fn name(budget: &DisruptionBudget) -> String {
    format!("{}/{}", budget.meta.namespace, budget.meta.name)
}

fn sums(budgets: &[&DisruptionBudget]) -> String {
    let pods: u32 = budgets.iter().map(|budget| budget.pods.count).sum();
    counted(pods, "pod")
}

fn get(budgets: &[&DisruptionBudget], remedy: Remedy) -> Remedy {
    budgets.iter().take(1).fold(remedy, |remedy, budget| {
        remedy.run(format!(
            "kubectl describe poddisruptionbudget {} --namespace {}",
            quote(&budget.meta.name),
            quote(&budget.meta.namespace)
        ))
    })
}

fn never_allows(budgets: &[&DisruptionBudget]) -> Finding {
    let words: Vec<_> = budgets
        .iter()
        .map(|budget| {
            format!(
                "{} ({}, {})",
                name(budget),
                budget.rule,
                counted(u32::try_from(budget.expected).unwrap_or(0), "pod")
            )
        })
        .collect();
    let seen = format!(
        "{} can never allow a disruption: {}. They hold {} on Karpenter's nodes.",
        budgets.len(),
        listed(&words),
        sums(budgets)
    );
    let remedy = Remedy::new(
        "Run more replicas than minAvailable asks for, or set maxUnavailable: 1 in its place. \
         terminationGracePeriod in the NodePool is a last bound for nodes that must go.",
    );
    Finding::warn(
        seen,
        "Karpenter does not consolidate or replace the nodes that these pods are on, and one that \
         is deleted or expires is never empty.",
    )
    .errors(&["disruption-blocked", "node-deletion-blocked"])
    .evidence("list poddisruptionbudgets (Kubernetes)", "status.disruptionsAllowed", "0")
    .mend(get(budgets, remedy))
}

fn allows_none_now(budgets: &[&DisruptionBudget]) -> Finding {
    let words: Vec<_> = budgets
        .iter()
        .map(|budget| {
            format!(
                "{} ({} of {} healthy, {} wanted)",
                name(budget),
                budget.healthy,
                budget.expected,
                budget.wanted_healthy
            )
        })
        .collect();
    let seen = format!(
        "{} allow no disruption because too few of their pods are healthy: {}. They hold {} on \
         Karpenter's nodes.",
        budgets.len(),
        listed(&words),
        sums(budgets)
    );
    let remedy = Remedy::new(
        "Mend the pods that are not ready. With unhealthyPodEvictionPolicy: AlwaysAllow a budget \
         lets go of those at least.",
    );
    Finding::warn(seen, "Until they are healthy, Karpenter does not remove or replace their nodes.")
        .errors(&["disruption-blocked", "node-deletion-blocked"])
        .evidence("list poddisruptionbudgets (Kubernetes)", "status.disruptionsAllowed", "0")
        .mend(get(budgets, remedy))
}

fn of_two(pods: &Named) -> Finding {
    let (pod, namespace) = crate::checks::workloads::place(pods.names.first().map_or("", |n| n));
    Finding::warn(
        format!(
            "{} on Karpenter's nodes are selected by more than one PodDisruptionBudget: {}.",
            counted(pods.count, "pod"),
            first_few(pods)
        ),
        "Kubernetes evicts no pod that two budgets select, whatever they allow, so that its node \
         cannot be emptied.",
    )
    .errors(&["disruption-blocked"])
    .evidence("list poddisruptionbudgets (Kubernetes)", "spec.selector", pods.count.to_string())
    .mend(
        Remedy::new("Leave each pod one budget: narrow the selector of the other, or delete it.")
            .run(format!("kubectl get pod {pod}{namespace} --show-labels"))
            .run(format!("kubectl get poddisruptionbudgets{namespace} --output wide")),
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

    fn budget(i: usize, expected: i32, healthy: i32, wanted: i32, pods: u32) -> Value {
        json!({"meta": {"name": format!("web-{i}"), "namespace": "shop"},
               "rule": "minAvailable: 1", "expected": expected, "healthy": healthy,
               "wanted_healthy": wanted, "pods": {"count": pods, "names": []}, "nodes": 1})
    }

    fn budgets(budgets: &[Value]) -> Value {
        json!({"facts": {"kubernetes": {"workloads": {"blocking_budgets": {"known": budgets}}}}})
    }

    #[test]
    fn rows() {
        let many: Vec<_> = (0..500).map(|i| budget(i, 1, 1, 1, 1)).collect();
        let two = json!({"facts": {"kubernetes": {"workloads": {"pods": {"known": {
            "of_two_budgets": {"count": 2, "names": ["shop/web-1", "shop/web-2"]}}}}}}});
        let denied =
            json!({"denied": {"action": "list poddisruptionbudgets", "message": "forbidden"}});
        let denied = json!({"facts": {"kubernetes": {"workloads": {"blocking_budgets": denied}}}});
        let demo = |status| [(status, "demo")];
        for account in [Account::KarpenterCluster, Account::AutoModeCluster] {
            assert_rows(
                account,
                &CHECK,
                &[
                    ("healthy", json!({}), &demo(Status::Pass)),
                    ("never", budgets(&[budget(1, 1, 1, 1, 1)]), &demo(Status::Warn)),
                    ("hundreds", budgets(&many), &demo(Status::Warn)),
                    ("not now", budgets(&[budget(1, 3, 1, 2, 3)]), &demo(Status::Warn)),
                    (
                        "both",
                        budgets(&[budget(1, 1, 1, 1, 1), budget(2, 3, 1, 2, 3)]),
                        &[(Status::Warn, "demo"), (Status::Warn, "demo")],
                    ),
                    ("on other nodes", budgets(&[budget(1, 1, 1, 1, 0)]), &demo(Status::Pass)),
                    ("two of one pod", two.clone(), &demo(Status::Warn)),
                    ("not readable", denied.clone(), &demo(Status::Unknown)),
                    ("left alone", json!({"scope": {"no_kube": true}}), &demo(Status::Skipped)),
                ],
            );
        }
    }
}
