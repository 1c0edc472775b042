//! Why pods find no node.

pub mod fit;
mod remedy;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use jiff::SignedDuration;

use crate::{
    checks::{
        Area, Check, Context, Judged, Stop, Verdicts,
        workloads::{counted, pods, workloads},
    },
    errors,
    facts::kubernetes::{
        node_pool::NodePool,
        workloads::{Owner, PendingPod, Pods},
    },
    outcome::Finding,
    target::Product,
};

/// How long a pod may wait for a node: an instance takes a minute or two to join, and Karpenter
/// says at least every five minutes why it makes none.
/// (`PodFailedToScheduleEvent`, `pkg/controllers/provisioning/scheduling/events.go`)
const GRACE: SignedDuration = SignedDuration::from_mins(5);

/// How many reasons are told one by one.
const REASONS: usize = 5;

/// How much is quoted of what Karpenter or the scheduler says, in characters.
const QUOTED: usize = 300;

pub static CHECK: Check = Check {
    id: "pod-constraints",
    title: "No pod waits for a node in vain",
    area: Area::Scheduling,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &[
        "incompatible-label-unknown",
        "incompatible-zone",
        "incompatible-requirement",
        "taint-not-tolerated",
        "affinity-or-spread-unsatisfied",
        "node-affinity-unsatisfied",
        "volume-zone-conflict",
        "volume-limit-reached",
        "nodepool-limits-reached",
        "no-instance-type-met",
        "insufficient-resources",
        "nodepool-incompatible",
    ],
    needs: &[],
    doc: "\
## What
No pod is unschedulable for more than five minutes. For those that are, node selector, node
affinity and tolerations are held against every NodePool; where one could take them, Karpenter's
own event says why it does not, and else the scheduler's. Pods of DaemonSets are left out: they
wait for their one node. So are Karpenter's own pods; see `controller-nodes`.

## Why
Karpenter makes a node only for a pod that a NodePool can satisfy. It can not where the pod
selects a label that no NodePool gives its nodes, such as `eks.amazonaws.com/nodegroup` of a
managed node group; a zone in which the NodeClass has no subnet; a value that the NodePool's
requirement does not list; where a taint is not tolerated; and where affinity, anti-affinity or
topology spread leave no place.

## Seen as
`FailedScheduling` events of the pod, of the scheduler's and of Karpenter's.

## Fix
Change the pod's rules or the NodePool's, as each finding says.
",
    run,
};

/// Workloads whose pods wait for the same reason.
struct Waiting<'a> {
    error: &'static str,
    reason: String,
    pods: u32,
    owners: Vec<&'a Owner>,
    first: &'a PendingPod,
}

fn run(cx: &Context<'_>) -> Verdicts {
    let pods = pods(cx)?;
    let pools = cx.kubernetes()?.node_pools.found()?.map_or(&[][..], Vec::as_slice);
    if pools.is_empty() {
        return Err(Stop::skipped("there is no NodePool yet"));
    }
    let waiting: Vec<_> = pods.pending.iter().filter(|pod| waits(cx, pod)).collect();
    let mut groups: BTreeMap<(&str, String), Waiting<'_>> = BTreeMap::new();
    for pod in waiting {
        let (error, reason) = reason(cx, pools, pod)?;
        // What is said in words differs from pod to pod by names and numbers.
        let key = if reason.starts_with(OWN_WORDS) { reason.clone() } else { String::new() };
        let group = groups.entry((error, key)).or_insert_with(|| Waiting {
            error,
            reason,
            pods: 0,
            owners: Vec::new(),
            first: pod,
        });
        if !group.owners.contains(&&pod.owner) {
            group.owners.push(&pod.owner);
            group.pods += pending_of(pods, pod);
        }
    }
    let mut groups: Vec<_> = groups.into_values().collect();
    groups.sort_by(|a, b| b.pods.cmp(&a.pods).then(a.reason.cmp(&b.reason)));
    let cluster = &cx.target.cluster;
    if groups.is_empty() {
        let kept = u32::try_from(pods.pending.len()).unwrap_or(u32::MAX);
        if pods.pending_total > kept {
            return Err(Stop::unknown(format!(
                "{} pods have no node, and only {kept} of them were looked at, for which that is \
                 no fault",
                pods.pending_total
            )));
        }
        return Ok(vec![Judged::new(cluster, || Ok(Finding::pass("None does.")))]);
    }
    let others = groups.split_off(groups.len().min(REASONS));
    let others: u32 = others.iter().map(|group| group.pods).sum();
    let judged = groups.iter().enumerate().map(|(i, group)| {
        let subject = match group.owners.as_slice() {
            [only] => only.words(),
            _ => cluster.clone(),
        };
        let others = if i == 0 { others } else { 0 };
        Judged::new(subject, || Ok(finding(group, others)))
    });
    Ok(judged.collect())
}

/// Whether Karpenter should have made a node for it by now.
fn waits(cx: &Context<'_>, pod: &PendingPod) -> bool {
    let since = pod.since.or(pod.meta.created);
    let long = since.is_none_or(|since| cx.now.duration_since(since) >= GRACE);
    let controllers = cx.facts.kubernetes.controllers.value().into_iter().flatten();
    let own = controllers.into_iter().any(|controller| {
        controller.meta.namespace == pod.owner.namespace && controller.meta.name == pod.owner.name
    });
    long && !own && pod.reason == "Unschedulable" && pod.owner.kind != "DaemonSet"
}

fn pending_of(pods: &Pods, pod: &PendingPod) -> u32 {
    let workload = pods.workloads.iter().find(|workload| workload.owner == pod.owner);
    workload.map_or(1, |workload| workload.pending.max(1))
}

const OWN_WORDS: &str = "No NodePool can take them";

/// The documented error, and what is known of why.
fn reason(
    cx: &Context<'_>,
    pools: &[NodePool],
    pod: &PendingPod,
) -> Result<(&'static str, String), Stop> {
    if let Some((pool, misfits)) = fit::nearest(cx.facts, pools, pod) {
        let words: Vec<_> = misfits.iter().map(fit::Misfit::words).collect();
        let error = misfits.first().map_or("nodepool-incompatible", fit::Misfit::error);
        let name = &pool.meta.name;
        return Ok((
            error,
            format!("{OWN_WORDS}. The nearest, {name}, {}", words.join(", and it ")),
        ));
    }
    let events = &workloads(cx)?.scheduling_events.known()?.events;
    let event = events
        .iter()
        .find(|event| event.object == pod.meta.name && event.namespace == pod.meta.namespace);
    let (who, message) = match event {
        Some(event) => ("Karpenter", &event.message),
        None => ("The scheduler", &pod.message),
    };
    Ok((documented(message), format!("{who} says of {}: {}", pod.meta.name, quoted(message))))
}

/// The documented error that a message shows, of those that this check knows.
fn documented(message: &str) -> &'static str {
    let groups =
        errors::explain::explain(message.as_bytes()).map(|found| found.groups).unwrap_or_default();
    let all = groups.iter().flat_map(|group| std::iter::once(group).chain(&group.follow_ups));
    let known = all.map(|group| group.entry.id.as_str()).filter(|id| CHECK.errors.contains(id));
    // In the order of the check's list, which has what tells most first.
    known
        .min_by_key(|id| CHECK.errors.iter().position(|e| e == id))
        .unwrap_or("nodepool-incompatible")
}

fn quoted(message: &str) -> String {
    match message.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}…", message.get(..end).unwrap_or_default()),
        None => message.to_owned(),
    }
}

fn finding(group: &Waiting<'_>, others: u32) -> Finding {
    let owners: Vec<_> = group.owners.iter().map(|owner| owner.words()).collect();
    let since = group.first.since.or(group.first.meta.created);
    let since = since.map_or_else(String::new, |since| {
        format!(", {} since {}", group.first.meta.name, since.strftime("%Y-%m-%d %H:%M UTC"))
    });
    let others = match others {
        0 => String::new(),
        more => format!(" {} more wait for other reasons.", counted(more, "pod")),
    };
    let seen = format!(
        "{} of {} wait for a node{since}. {}.{others}",
        counted(group.pods, "pod"),
        crate::checks::remedies::listed(&owners),
        group.reason.trim_end_matches('.')
    );
    Finding::fail(seen, "They stay Pending until the pods or the NodePool change.")
        .errors(&[group.error])
        .evidence(
            "list pods (Kubernetes)",
            "status.conditions[PodScheduled].message",
            quoted(&group.first.message),
        )
        .mend(remedy::remedy(group.error, group.first))
}
