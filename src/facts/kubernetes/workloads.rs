//! Workloads: pods folded by their owner while they are read, and what hangs on pods.
//!
//! There may be 100,000 pods: of a workload the first few names are kept and the rest is
//! counted. Only pods that no node took are kept one by one, up to a bound.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    Meta,
    controller::{NodeRequirement, Toleration},
};
use crate::facts::Fact;

/// How many names of many are kept.
pub const NAMES: usize = 3;

/// How many pods without a node are kept one by one: of one workload, and in all.
pub const PENDING_OF_ONE: usize = 2;
pub const PENDING: usize = 200;

/// How many workloads are kept apart; the pods of further ones are counted by namespace and kind.
pub const WORKLOADS: usize = 10_000;

/// Everything about workloads.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Workloads {
    pub pods: Fact<Pods>,
    /// PodDisruptionBudgets that allow no disruption now, and have pods.
    pub blocking_budgets: Fact<Vec<DisruptionBudget>>,
    /// Why Karpenter made no node for a pod: events of the reason `FailedScheduling`.
    pub scheduling_events: Fact<Events>,
    /// Why Karpenter cannot give back a node: events of the reason `Unconsolidatable`.
    pub consolidation_events: Fact<Events>,
    /// Namespaces in which a LimitRange gives containers a request that they do not state.
    pub default_requests: Fact<BTreeSet<String>>,
    /// PersistentVolumes with `spec.awsElasticBlockStore`.
    pub in_tree_volumes: Fact<Named>,
    /// How many EBS volumes a node can take, by node: their CSINodes, of
    /// the EBS CSI driver or of EKS Auto Mode's.
    pub attach_limits: Fact<BTreeMap<String, u32>>,
    pub daemon_sets: Fact<Vec<DaemonSet>>,
}

/// Things of which there may be many: all are counted and the first few named.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct Named {
    pub count: u32,
    /// With the namespace where there is one, such as `default/web-0`.
    pub names: Vec<String>,
}

impl Named {
    pub fn add(&mut self, name: impl FnOnce() -> String) {
        self.count += 1;
        if self.names.len() < NAMES {
            self.names.push(name());
        }
    }
}

/// The pods that have not ended, folded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Pods {
    pub total: u32,
    /// Whether the nodes were known that the pods are on: without them nothing is said of what
    /// is on Karpenter's nodes.
    pub nodes_known: bool,
    pub workloads: Vec<Workload>,
    /// Pods that no node took.
    pub pending_total: u32,
    pub pending: Vec<PendingPod>,
    /// What is placed on each node that is not Karpenter's.
    pub node_use: BTreeMap<String, NodeUse>,
    /// Pods on Karpenter's nodes that more than one PodDisruptionBudget selects.
    pub of_two_budgets: Named,
}

/// The pods of one owner.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Workload {
    pub owner: Owner,
    pub pods: Named,
    pub on_karpenter: u32,
    pub pending: u32,
    /// Pods that request no CPU at all, or no memory at all.
    pub without_requests: u32,
    /// Pods with `karpenter.sh/do-not-disrupt: true`, on Karpenter's nodes. One with a duration
    /// ends by itself.
    pub do_not_disrupt: Named,
    /// Nodes of Karpenter's that those pods are on.
    pub kept_nodes: u32,
    pub oom_killed: OomKilled,
    /// Pods with a PersistentVolumeClaim.
    pub with_claims: u32,
    /// The most claims of this workload on one node.
    pub claims_on_one_node: u32,
    /// Whether an anti-affinity or a topology spread keeps its pods apart.
    pub spread: bool,
    pub windows: Option<Windows>,
}

/// What makes a pod's like again.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Owner {
    pub namespace: String,
    /// `Deployment`, `StatefulSet`, `DaemonSet`, `CronJob`, …; `Pod` where nothing owns it.
    pub kind: String,
    /// Empty where the pods of many owners are counted together.
    pub name: String,
}

/// Containers that ran out of memory, as the pods still tell.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OomKilled {
    pub pods: Named,
    /// When the latest was killed.
    pub latest: Option<Timestamp>,
    pub container: String,
    /// Its memory limit, where it has one.
    pub limit: Option<String>,
}

/// Pods that run on Windows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Windows {
    /// What they select as `node.kubernetes.io/windows-build`.
    pub builds: BTreeSet<String>,
    /// The first few images.
    pub images: BTreeSet<String>,
}

/// A pod that no node took.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PendingPod {
    pub meta: Meta,
    pub owner: Owner,
    /// Reason and message of its PodScheduled condition.
    pub reason: String,
    pub message: String,
    pub since: Option<Timestamp>,
    pub node_selector: BTreeMap<String, String>,
    /// Terms stand beside each other, requirements of a term hold together.
    pub required_node_affinity: Vec<Vec<NodeRequirement>>,
    pub tolerations: Vec<Toleration>,
    /// What its containers request together, by resource.
    pub requests: BTreeMap<String, String>,
}

/// What is placed on a node.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NodeUse {
    pub pods: u32,
    /// Thousandths of a CPU that are requested.
    pub cpu: u64,
    /// Bytes of memory that are requested.
    pub memory: u64,
}

/// A PodDisruptionBudget that allows no disruption now.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DisruptionBudget {
    pub meta: Meta,
    /// Such as `minAvailable: 2`.
    pub rule: String,
    pub expected: i32,
    pub healthy: i32,
    pub wanted_healthy: i32,
    /// `AlwaysAllow` lets go of pods that are not healthy.
    pub lets_unhealthy_go: bool,
    /// The pods that it selects, on Karpenter's nodes.
    pub pods: Named,
    /// Nodes of Karpenter's that those pods are on.
    pub nodes: u32,
}

/// Events of one reason.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Events {
    /// The newest of an object each.
    pub events: Vec<Event>,
    /// There are more than were read.
    pub more: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Event {
    pub namespace: String,
    /// The object that it is about.
    pub object: String,
    pub message: String,
    /// When it was last seen.
    pub at: Option<Timestamp>,
}

/// A DaemonSet, as far as nodes wait for what it does.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DaemonSet {
    pub meta: Meta,
    pub images: Vec<String>,
    /// Pods wanted and ready.
    pub desired: u32,
    pub ready: u32,
}

impl Owner {
    /// Such as `Deployment shop/web`.
    pub fn words(&self) -> String {
        match self.name.as_str() {
            "" => format!("other {}s in {}", self.kind, self.namespace),
            name => format!("{} {}/{name}", self.kind, self.namespace),
        }
    }
}
