//! Whether NodePools let Karpenter remove and replace their nodes at all.

use serde_json::json;

use crate::{
    checks::{Area, Check, Context, Judged, Stop, Verdicts, remedies::quote},
    facts::kubernetes::node_pool::{Budget, NodePool},
    outcome::{Finding, Remedy},
    target::Product,
};

pub static CHECK: Check = Check {
    id: "nodepool-budgets",
    title: "NodePools let their nodes be removed and replaced",
    area: Area::Disruption,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["disruption-blocked"],
    needs: &[],
    doc: "\
## What
No NodePool has a disruption budget of 0 nodes that holds at all times, or `consolidateAfter:
Never`. A budget of 0 with a schedule, or for `Empty` nodes alone, is taken as meant.

## Why
A budget of `0` without a schedule and without reasons forbids every voluntary disruption:
underused nodes stay, and nodes that drifted from their NodePool keep their old AMI. With
`consolidateAfter: Never` nodes that are empty or underused are kept until they expire.

## Seen as
`No allowed disruptions due to blocking budget` in the NodePool's events.

## Fix
Give the budget a schedule and a duration, or a number of nodes above 0.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let pools = cx.kubernetes()?.node_pools.found()?.map_or(&[][..], Vec::as_slice);
    if pools.is_empty() {
        return Err(Stop::skipped("there is no NodePool yet"));
    }
    let judge =
        |pool: &NodePool| Judged::new(format!("nodepool/{}", pool.meta.name), || Ok(judge(pool)));
    Ok(pools.iter().map(judge).collect())
}

fn judge(pool: &NodePool) -> Finding {
    let name = &pool.meta.name;
    if let Some(budget) = pool.budgets.iter().find(|budget| forbids_all(budget)) {
        return Finding::warn(
            format!(
                "NodePool {name} has a disruption budget of {} nodes, at all times.",
                budget.nodes
            ),
            "Karpenter never consolidates its nodes, and never replaces those whose AMI or \
             settings are outdated.",
        )
        .errors(&["disruption-blocked"])
        .evidence("list nodepools (Kubernetes)", "spec.disruption.budgets[].nodes", &budget.nodes)
        .mend(patch(
            name,
            "Let a part of the nodes go at a time; for hours in which none may, add a budget of 0 \
             with schedule and duration.",
            &json!({"budgets": [{"nodes": "10%"}]}),
        ));
    }
    if pool.consolidate_after.as_deref() == Some("Never") {
        return Finding::warn(
            format!("NodePool {name} has consolidateAfter: Never."),
            "Its nodes are kept until they expire, however little runs on them.",
        )
        .errors(&["disruption-blocked"])
        .evidence("list nodepools (Kubernetes)", "spec.disruption.consolidateAfter", "Never")
        .mend(patch(
            name,
            "Say after how long without a change Karpenter may consolidate a node. If that is \
             meant to be never, leave this check out.",
            &json!({"consolidateAfter": "5m"}),
        ));
    }
    Finding::pass("It does.")
}

/// Always, and for every reason or for that of underused nodes and outdated ones.
fn forbids_all(budget: &Budget) -> bool {
    let nobody = matches!(budget.nodes.as_str(), "0" | "0%");
    let only_empty = budget.reasons.iter().all(|reason| reason == "Empty");
    nobody && budget.schedule.is_none() && (budget.reasons.is_empty() || !only_empty)
}

fn patch(name: &str, words: &str, disruption: &serde_json::Value) -> Remedy {
    let patch = json!({"spec": {"disruption": disruption}});
    Remedy::new(words).run(format!(
        "kubectl patch nodepool {} --type merge --patch {}",
        quote(name),
        quote(&patch.to_string())
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status,
    };

    fn pool(part: &Value) -> Value {
        let mut pool = json!({"meta": {"name": "default"}, "consolidate_after": "1m"});
        json_patch::merge(&mut pool, part);
        json!({"facts": {"kubernetes": {"node_pools": {"known": [pool]}}}})
    }

    #[test]
    fn rows() {
        let budget = |budget: Value| pool(&json!({"budgets": [{"nodes": "10%"}, budget]}));
        let scheduled = json!({"nodes": "0", "schedule": "0 9 * * mon-fri", "duration": "8h"});
        let denied = json!({"denied": {"action": "list nodepools", "message": "forbidden"}});
        let default = |status| [(status, "nodepool/default")];
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[
                ("healthy", json!({}), &default(Status::Pass)),
                ("none at any time", budget(json!({"nodes": "0"})), &default(Status::Warn)),
                ("none in per cent", budget(json!({"nodes": "0%"})), &default(Status::Warn)),
                ("none in office hours", budget(scheduled), &default(Status::Pass)),
                (
                    "none that drifted",
                    budget(json!({"nodes": "0", "reasons": ["Drifted"]})),
                    &default(Status::Warn),
                ),
                (
                    "none that are empty",
                    budget(json!({"nodes": "0", "reasons": ["Empty"]})),
                    &default(Status::Pass),
                ),
                ("never", pool(&json!({"consolidate_after": "Never"})), &default(Status::Warn)),
                (
                    "no NodePool",
                    json!({"facts": {"kubernetes": {"node_pools": "absent"}}}),
                    &[(Status::Skipped, "demo")],
                ),
                (
                    "not readable",
                    json!({"facts": {"kubernetes": {"node_pools": denied}}}),
                    &[(Status::Unknown, "demo")],
                ),
                ("left alone", json!({"scope": {"no_kube": true}}), &[(Status::Skipped, "demo")]),
            ],
        );
        let pass = |name| (Status::Pass, name);
        let pools =
            [pass("nodepool/general-purpose"), pass("nodepool/system"), pass("nodepool/batch")];
        assert_rows(Account::AutoModeCluster, &CHECK, &[("healthy", json!({}), &pools)]);
    }
}
