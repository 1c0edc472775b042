//! Whether the controller's replicas have nodes to run on that are not Karpenter's own.

mod fargate;
mod host;
mod hosts;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use super::running::{self, Running};
use crate::{
    checks::{
        Area, Check, Context, Judged, Stop, Verdicts,
        remedies::{listed, quote},
    },
    facts::kubernetes::{
        controller::{Deployment, NodeRequirement, Toleration},
        node::Node,
    },
    outcome::{Finding, Remedy},
    target::Product,
};
use hosts::Hosts;

const ZONE: &str = "topology.kubernetes.io/zone";
const NODE_POOL: &str = "karpenter.sh/nodepool";
const NODE_GROUP: &str = "eks.amazonaws.com/nodegroup";

pub static CHECK: Check = Check {
    id: "controller-nodes",
    title: "The controller has nodes that are not its own",
    area: Area::Controller,
    products: &[Product::Karpenter],
    errors: &["controller-unschedulable"],
    needs: &["eks:ListFargateProfiles", "eks:DescribeFargateProfile"],
    doc: "\
## What
The controller's replicas run, or could run, on nodes that Karpenter did not make: by node
selector, affinity, taints and what is free of CPU, memory and pods; in two zones where there are
two replicas or more. A Fargate profile that takes its pods is as good. Before an install it is
judged as the chart installs it: two replicas on nodes of their own. No node of a managed node group
has the label `karpenter.sh/nodepool`.

## Why
Since 0.16 the chart runs two replicas. They avoid each other's node and every node that Karpenter
made, and Karpenter makes no node for them: it would be running on what it may remove. So a node
group of one node leaves a replica Pending, and one whose nodes carry a label of Karpenter's takes
none. On Fargate each replica gets a node of its own from the Fargate profile.

## Seen as
`0/1 nodes are available: 1 Insufficient memory` in the events of Karpenter's own pods.

## Fix
Two nodes in the node group, in two zones; or one replica, if a while without Karpenter is no
harm. `kubectl label nodes <node> karpenter.sh/nodepool-` where the label was left by a copy.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let mut judged = match running::all(cx) {
        Ok(all) => all.iter().map(|one| Judged::new(one.name(), || judge(cx, one))).collect(),
        Err(Stop::Skipped(_)) if cx.target.before_install() => {
            let name = format!("{}/karpenter", cx.target.namespace.value);
            vec![Judged::new(name, || before_install(cx))]
        }
        Err(stop) => return Err(stop),
    };
    if let Some(nodes) = cx.kubernetes()?.nodes.value() {
        let left = |node: &&Node| {
            node.labels.contains_key(NODE_POOL) && node.labels.contains_key(NODE_GROUP)
        };
        let left: Vec<_> = nodes.iter().filter(left).map(|node| node.meta.name.as_str()).collect();
        if !left.is_empty() {
            judged.push(Judged::new(cx.target.cluster.clone(), || Ok(labels_left(&left))));
        }
    }
    Ok(judged)
}

fn judge(cx: &Context<'_>, one: &Running<'_>) -> Result<Finding, Stop> {
    let Deployment { replicas, ready_replicas: ready, .. } = *one.deployment;
    if replicas == 0 {
        return Err(Stop::skipped("it is scaled to no replica; see controller-health"));
    }
    if ready >= replicas && one.on_fargate().is_some() {
        return Ok(Finding::pass("Its replicas run on Fargate."));
    }
    let placed = one.pods.iter().filter_map(|pod| pod.node.as_deref());
    let placed: Vec<&str> = placed.collect();
    let unplaced = one.pods.iter().any(|pod| pod.unscheduled.is_some() || pod.node.is_none());
    if ready >= replicas || (!unplaced && placed.len() >= replicas as usize) {
        return in_zones(cx, one.deployment, &placed);
    }
    let own = |node: &str| {
        u32::try_from(placed.iter().filter(|name| **name == node).count()).unwrap_or(0)
    };
    let hosts = Hosts::of(cx, one.deployment, own)?;
    if hosts.take() >= replicas && !unplaced {
        return in_zones(cx, one.deployment, &hosts.names());
    }
    let labels = &one.deployment.pod_labels;
    if let Some(profile) = fargate::taking(cx, one.namespace(), labels)? {
        return Ok(older_than_profile(one, &profile.name));
    }
    let said = one.pods.iter().find_map(|pod| pod.unscheduled.as_deref());
    let said = said.map_or_else(String::new, |said| format!(" The scheduler says: {said}"));
    let seen = format!(
        "{} wants {}, of which {ready} are ready.{} {}{said}",
        one.name(),
        replicas_in_words(one.deployment),
        needs(one.deployment),
        hosts.words()
    );
    let finding = match ready {
        0 => Finding::fail(
            seen,
            "No replica finds a node: nothing is launched, and nothing removed.",
        ),
        _ => Finding::warn(
            seen,
            "The others stay Pending. When the node of the one that runs goes, nothing is launched \
             until it runs again.",
        ),
    };
    Ok(short(cx, finding, one.deployment))
}

/// As the chart of the getting-started guide would run it.
/// (`charts/karpenter/values.yaml`; `controller.resources` of the guide)
fn before_install(cx: &Context<'_>) -> Result<Finding, Stop> {
    let chart = Deployment {
        replicas: 2,
        pod_labels: ["app.kubernetes.io/name", "app.kubernetes.io/instance"]
            .map(|label| (label.to_owned(), "karpenter".to_owned()))
            .into(),
        one_replica_a_node: true,
        one_replica_a_zone: true,
        node_selector: BTreeMap::from([("kubernetes.io/os".to_owned(), "linux".to_owned())]),
        required_node_affinity: vec![vec![NodeRequirement {
            key: NODE_POOL.to_owned(),
            operator: "DoesNotExist".to_owned(),
            values: Vec::new(),
        }]],
        tolerations: vec![Toleration {
            key: "CriticalAddonsOnly".to_owned(),
            operator: "Exists".to_owned(),
            ..Toleration::default()
        }],
        requests: BTreeMap::from([
            ("cpu".to_owned(), "1".to_owned()),
            ("memory".to_owned(), "1Gi".to_owned()),
        ]),
        ..Deployment::default()
    };
    let hosts = Hosts::of(cx, &chart, |_| 0)?;
    if hosts.take() >= chart.replicas {
        return in_zones(cx, &chart, &hosts.names());
    }
    if let Some(profile) = fargate::taking(cx, &cx.target.namespace.value, &chart.pod_labels)? {
        return Ok(Finding::pass(format!("The Fargate profile {} takes its pods.", profile.name)));
    }
    let seen =
        format!("The chart runs {}.{} {}", replicas_in_words(&chart), needs(&chart), hosts.words());
    let finding = Finding::warn(
        seen,
        "Karpenter makes no node for itself: replicas without a node stay Pending, and with none \
         that runs nothing is launched.",
    );
    Ok(short(cx, finding, &chart))
}

/// EKS decides on a pod's way when the pod is made, and never again.
fn older_than_profile(one: &Running<'_>, profile: &str) -> Finding {
    let Deployment { replicas, ready_replicas: ready, .. } = *one.deployment;
    let seen = format!(
        "{} wants {replicas} replicas, of which {ready} are ready. The Fargate profile {profile} \
         takes its pods, and those that wait were made without it.",
        one.name()
    );
    let finding = match ready {
        0 => Finding::fail(seen, "No replica runs: nothing is launched, and nothing removed."),
        _ => Finding::warn(seen, "The others stay Pending until they are made anew."),
    };
    let words = "Make the pods anew; only pods that are made while a profile takes them go to \
                 Fargate. If they still wait, their events say what the profile lacks.";
    finding
        .errors(&["controller-unschedulable"])
        .evidence("eks:DescribeFargateProfile", "fargateProfile.selectors", profile)
        .mend(Remedy::new(words).run(one.restart()))
}

fn replicas_in_words(deployment: &Deployment) -> String {
    match (deployment.replicas, deployment.one_replica_a_node) {
        (1, _) => "1 replica".to_owned(),
        (many, true) => format!("{many} replicas on nodes of their own"),
        (many, false) => format!("{many} replicas"),
    }
}

fn needs(deployment: &Deployment) -> String {
    let of = |resource| deployment.requests.get(resource).map(String::as_str);
    match (of("cpu"), of("memory")) {
        (None, None) => String::new(),
        (cpu, memory) => format!(
            " Each asks for {} CPU and {} of memory.",
            cpu.unwrap_or("no"),
            memory.unwrap_or("nothing")
        ),
    }
}

fn in_zones(cx: &Context<'_>, deployment: &Deployment, names: &[&str]) -> Result<Finding, Stop> {
    let nodes = cx.kubernetes()?.nodes.known()?;
    let of_these = nodes.iter().filter(|node| names.contains(&node.meta.name.as_str()));
    let zones: BTreeSet<_> = of_these.filter_map(|node| node.labels.get(ZONE)).collect();
    let words: Vec<_> = zones.iter().collect();
    if zones.len() != 1 || deployment.replicas < 2 {
        return Ok(Finding::pass(match words.as_slice() {
            [] => "They are on nodes that are not Karpenter's.".to_owned(),
            zones => format!("They are on nodes that are not Karpenter's, in {}.", listed(zones)),
        }));
    }
    let finding = Finding::warn(
        format!("Every node for its {} replicas is in {}.", deployment.replicas, words[0]),
        "When that zone fails, Karpenter fails with it, just when nodes elsewhere are needed.",
    );
    Ok(short(cx, finding, deployment))
}

/// More nodes, or fewer replicas.
fn short(cx: &Context<'_>, finding: Finding, deployment: &Deployment) -> Finding {
    let nodes = cx.facts.kubernetes.nodes.value().into_iter().flatten();
    let group = nodes.into_iter().find_map(|node| node.labels.get(NODE_GROUP));
    let mut remedy = Remedy::new(format!(
        "Let a node group have {} nodes in subnets of two zones, large enough for a replica each. \
         If a while without Karpenter does no harm, run one replica, in the chart's value \
         `replicas` too.",
        deployment.replicas
    ))
    .run(format!(
        "aws eks update-nodegroup-config --region {} --cluster-name {} --nodegroup-name {} \
         --scaling-config minSize={},desiredSize={}",
        quote(cx.region()),
        quote(&cx.target.cluster),
        group.map_or_else(|| "NODE_GROUP".to_owned(), |group| quote(group)),
        deployment.replicas,
        deployment.replicas
    ));
    if !deployment.meta.name.is_empty() && deployment.replicas > 1 {
        remedy = remedy.run(format!(
            "kubectl scale deployment {} --namespace {} --replicas 1",
            quote(&deployment.meta.name),
            quote(&deployment.meta.namespace)
        ));
    }
    finding
        .errors(&["controller-unschedulable"])
        .evidence("list deployments (Kubernetes)", "spec.replicas", deployment.replicas.to_string())
        .mend(remedy)
}

fn labels_left(nodes: &[&str]) -> Finding {
    let remedy = nodes.iter().take(3).fold(
        Remedy::new(
            "Take the label off, and out of the node group's labels, if it stands there: only \
             Karpenter sets it, on nodes that it made.",
        ),
        |remedy, node| remedy.run(format!("kubectl label nodes {} {NODE_POOL}-", quote(node))),
    );
    Finding::warn(
        format!(
            "{} of the nodes of managed node groups have the label {NODE_POOL}: {}.",
            nodes.len(),
            listed(nodes)
        ),
        "Karpenter's own pods avoid every node with this label, so that these nodes take none of \
         them.",
    )
    .errors(&["controller-unschedulable"])
    .evidence("list nodes (Kubernetes)", "metadata.labels", NODE_POOL)
    .mend(remedy)
}
