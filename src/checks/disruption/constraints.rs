//! Whether the rules of pods keep Karpenter from consolidating their nodes.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    checks::{Area, Check, Context, Judged, Verdicts, remedies::listed, workloads::workloads},
    facts::kubernetes::workloads::{Event, Events},
    outcome::{Finding, Remedy},
    target::Product,
};

pub static CHECK: Check = Check {
    id: "consolidation-constraints",
    title: "Pods of Karpenter's nodes would find another place",
    area: Area::Disruption,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["disruption-blocked"],
    needs: &[],
    doc: "\
## What
Karpenter says of no node that its pods would not all find a place elsewhere.

## Why
Before Karpenter consolidates a node it works out where its pods would go. Required affinity and
anti-affinity between pods, topology spread and the like can leave no place; preferences count as
rules in that reckoning, although the scheduler would do without them. Karpenter tells the reason
in an event of the node. That nothing cheaper was found is no fault and is left out.

## Seen as
`Not all pods would schedule` in events of the reason `Unconsolidatable`.

## Fix
`preferred…` or `ScheduleAnyway` in place of `required…` or `DoNotSchedule` where the workload
can bear it, and fewer preferences.
",
    run,
};

/// How Karpenter begins the text (`pkg/controllers/disruption/consolidation.go`).
const NO_PLACE: &str = "not all pods would schedule";

fn run(cx: &Context<'_>) -> Verdicts {
    let events = workloads(cx)?.consolidation_events.known()?;
    Ok(vec![Judged::new(&cx.target.cluster, || {
        let blocked = events.events.iter().filter(|event| is_no_place(event));
        let mut by_pod: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        let mut nodes = BTreeSet::new();
        for event in blocked {
            nodes.insert(event.object.as_str());
            by_pod.entry(reason(event)).or_default().insert(&event.object);
        }
        Ok(match nodes.is_empty() {
            true => Finding::pass("It says so of none."),
            false => finding(&nodes, &by_pod, events),
        })
    })])
}

fn is_no_place(event: &Event) -> bool {
    event.message.to_ascii_lowercase().contains(NO_PLACE)
}

/// What stands after the beginning: the pod, and what keeps it.
fn reason(event: &Event) -> &str {
    let rest = event.message.get(NO_PLACE.len()..).unwrap_or_default();
    let rest = rest.trim_start_matches([',', ':', ' ']);
    let end = rest.char_indices().nth(REASON).map_or(rest.len(), |(end, _)| end);
    &rest[..end]
}

/// How much of a reason is shown, in characters; Karpenter lists every NodePool in it.
const REASON: usize = 240;

fn finding(
    nodes: &BTreeSet<&str>,
    by_pod: &BTreeMap<&str, BTreeSet<&str>>,
    events: &Events,
) -> Finding {
    let mut reasons: Vec<_> = by_pod.iter().collect();
    reasons.sort_by_key(|(reason, nodes)| (std::cmp::Reverse(nodes.len()), **reason));
    let reason = reasons.first().map_or("", |(reason, _)| **reason);
    let names: Vec<_> = nodes.iter().collect();
    let more = if events.more { " More events were not read." } else { "" };
    Finding::warn(
        format!(
            "Karpenter would remove {} and finds no other place for their pods: {}. The most \
             frequent reason: {reason}.{more}",
            names.len(),
            listed(&names)
        ),
        "These nodes stay, however little runs on them.",
    )
    .errors(&["disruption-blocked"])
    .evidence("list events (Kubernetes)", "reason=Unconsolidatable", reason)
    .mend(
        Remedy::new(
            "Loosen the affinity, anti-affinity or topology spread of the pod that it names: \
             preferred in place of required, ScheduleAnyway in place of DoNotSchedule. Karpenter \
             treats preferences as rules here, so that fewer of those help too.",
        )
        .run("kubectl get events --all-namespaces --field-selector reason=Unconsolidatable"),
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

    fn events(messages: &[&str]) -> Value {
        let event = |(i, message): (usize, &&str)| json!({"object": format!("node-{i}"), "message": message});
        let events: Vec<_> = messages.iter().enumerate().map(event).collect();
        json!({"facts": {"kubernetes": {"workloads": {"consolidation_events": {"known": {"events": events}}}}}})
    }

    #[test]
    fn rows() {
        let denied = json!({"denied": {"action": "list events", "message": "forbidden"}});
        let denied =
            json!({"facts": {"kubernetes": {"workloads": {"consolidation_events": denied}}}});
        let no_place = "Not all pods would schedule, shop/web-1 => would schedule against uninitialized nodeclaim/default-abc";
        let demo = |status| [(status, "demo")];
        for account in [Account::KarpenterCluster, Account::AutoModeCluster] {
            assert_rows(
                account,
                &CHECK,
                &[
                    ("healthy", json!({}), &demo(Status::Pass)),
                    ("no place", events(&[no_place; 40]), &demo(Status::Warn)),
                    (
                        "nothing cheaper",
                        events(&[
                            "Can't replace with a cheaper node",
                            "SpotToSpotConsolidation is disabled, can't replace a spot node with a spot node",
                        ]),
                        &demo(Status::Pass),
                    ),
                    ("not readable", denied.clone(), &demo(Status::Unknown)),
                    ("left alone", json!({"scope": {"no_kube": true}}), &demo(Status::Skipped)),
                ],
            );
        }
    }
}
