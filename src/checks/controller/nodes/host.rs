//! Whether a node could take a replica of the controller, and if not, why.

use std::collections::BTreeMap;

use crate::{
    checks::scheduling::pending::fit::tolerated,
    facts::kubernetes::{
        controller::{Deployment, NodeRequirement},
        node::Node,
        quantity,
        workloads::NodeUse,
    },
};

/// What a node says to a replica.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Host {
    /// So many replicas.
    Takes(u32),
    /// Why it takes none, in words that follow a number of nodes.
    Refuses(String),
    /// It cannot be told: a label is asked for that was not read.
    Unknown(String),
}

/// What comes before the names of labels that are read of nodes, besides whole names; another
/// label that a Deployment selects by cannot be judged.
/// (`LABELS` in `src/collect/kubernetes/node.rs`)
const READ: &[&str] = &[
    "kubernetes.io/arch",
    "kubernetes.io/os",
    "node.kubernetes.io/",
    "topology.kubernetes.io/",
    "karpenter.sh/",
    "karpenter.k8s.aws/",
    "eks.amazonaws.com/",
    "alpha.eksctl.io/nodegroup-name",
];

/// `own` replicas are on the node already, and count in what is used of it.
pub fn host(deployment: &Deployment, node: &Node, used: NodeUse, own: u32) -> Host {
    let refuses = |why: &str| Host::Refuses(why.to_owned());
    if node.labels.contains_key("karpenter.sh/nodepool") {
        return refuses("Karpenter's, which its own pods avoid");
    }
    if node.labels.get("eks.amazonaws.com/compute-type").is_some_and(|kind| kind == "fargate") {
        return refuses("on Fargate, where each takes one pod");
    }
    if node.meta.deleting.is_some() || node.cordoned {
        return refuses("cordoned or being deleted");
    }
    if node.conditions.iter().any(|condition| condition.kind == "Ready") {
        return refuses("not Ready");
    }
    match selected(deployment, &node.labels) {
        Ok(true) => {}
        Ok(false) => return refuses("left out by its node selector or node affinity"),
        Err(label) => return Host::Unknown(label),
    }
    let taints = node.taints.iter();
    if let Some(taint) = taints.into_iter().find(|taint| !tolerated(taint, &deployment.tolerations))
    {
        return Host::Refuses(format!("tainted with {}:{}", taint.key, taint.effect));
    }
    room(deployment, node, used, own)
}

fn room(deployment: &Deployment, node: &Node, used: NodeUse, own: u32) -> Host {
    let (cpu, memory) = requested(deployment);
    let own = u64::from(own);
    let free_cpu = quantity::cpu(node.allocatable.get("cpu")) + own * cpu;
    let free_cpu = free_cpu.saturating_sub(used.cpu);
    let free_memory = quantity::whole(node.allocatable.get("memory")) + own * memory;
    let free_memory = free_memory.saturating_sub(used.memory);
    let pods = quantity::whole(node.allocatable.get("pods")) + own;
    let free_pods = pods.saturating_sub(u64::from(used.pods));
    let times = |free: u64, each: u64| free.checked_div(each).unwrap_or(u64::MAX);
    for (free, each, what) in
        [(free_memory, memory, "memory"), (free_cpu, cpu, "CPU"), (free_pods, 1, "pods")]
    {
        if times(free, each) == 0 {
            return Host::Refuses(format!("short of {what}"));
        }
    }
    let fit = times(free_cpu, cpu).min(times(free_memory, memory)).min(free_pods);
    let fit = if deployment.one_replica_a_node { fit.min(1) } else { fit };
    Host::Takes(u32::try_from(fit).unwrap_or(u32::MAX))
}

/// CPU in thousandths and memory in bytes of one replica.
pub fn requested(deployment: &Deployment) -> (u64, u64) {
    let of = |resource| deployment.requests.get(resource);
    (quantity::cpu(of("cpu")), quantity::whole(of("memory")))
}

/// Whether selector and affinity take a node with these labels; `Err` names a label that was
/// not read.
fn selected(deployment: &Deployment, labels: &BTreeMap<String, String>) -> Result<bool, String> {
    let is_read = |key: &str| {
        READ.iter().any(|read| key == *read || (read.ends_with('/') && key.starts_with(read)))
    };
    let asked = deployment.node_selector.keys().map(String::as_str);
    let terms = &deployment.required_node_affinity;
    let of_terms = terms.iter().flatten().map(|requirement| requirement.key.as_str());
    if let Some(unread) = asked.chain(of_terms).find(|key| !is_read(key)) {
        return Err(unread.to_owned());
    }
    let selector =
        deployment.node_selector.iter().all(|(key, value)| labels.get(key) == Some(value));
    let term = |term: &Vec<NodeRequirement>| term.iter().all(|wanted| holds(wanted, labels));
    Ok(selector && (terms.is_empty() || terms.iter().any(term)))
}

fn holds(wanted: &NodeRequirement, labels: &BTreeMap<String, String>) -> bool {
    let value = labels.get(&wanted.key);
    let listed = || value.is_some_and(|value| wanted.values.contains(value));
    match wanted.operator.as_str() {
        "In" => listed(),
        "NotIn" => !listed(),
        "Exists" => value.is_some(),
        "DoesNotExist" => value.is_none(),
        // Numbers of nodes are asked for by nobody here.
        _ => true,
    }
}
