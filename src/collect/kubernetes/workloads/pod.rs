//! A pod as it is read: what the fold looks at, and nothing of the rest.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Deserialize;

use crate::collect::kubernetes::{
    pod::{NodeAffinity, Toleration},
    wire::{Condition, Nothing, Quantity},
};

pub type Quantities = BTreeMap<String, Quantity>;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Pod {
    pub metadata: Meta,
    pub spec: Spec,
    pub status: Status,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Meta {
    pub name: String,
    pub namespace: String,
    pub creation_timestamp: Option<Timestamp>,
    pub deletion_timestamp: Option<Timestamp>,
    pub labels: BTreeMap<String, String>,
    pub annotations: Annotations,
    pub owner_references: Vec<OwnerReference>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Annotations {
    #[serde(rename = "karpenter.sh/do-not-disrupt")]
    pub do_not_disrupt: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct OwnerReference {
    pub kind: String,
    pub name: String,
    pub controller: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Spec {
    pub node_name: String,
    pub containers: Vec<Container>,
    pub init_containers: Vec<Container>,
    /// For the pod as a whole, since Kubernetes 1.34.
    pub resources: Resources,
    pub overhead: Quantities,
    pub node_selector: BTreeMap<String, String>,
    pub affinity: Affinity,
    pub tolerations: Vec<Toleration>,
    pub topology_spread_constraints: Vec<Nothing>,
    pub volumes: Vec<Volume>,
    pub os: Os,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Container {
    pub name: String,
    pub image: String,
    pub resources: Resources,
    /// `Always` makes an init container one that stays.
    pub restart_policy: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Resources {
    pub requests: Quantities,
    pub limits: Quantities,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Affinity {
    pub node_affinity: NodeAffinity,
    pub pod_anti_affinity: AntiAffinity,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct AntiAffinity {
    pub required_during_scheduling_ignored_during_execution: Vec<Nothing>,
    pub preferred_during_scheduling_ignored_during_execution: Vec<Nothing>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Volume {
    pub persistent_volume_claim: Option<Nothing>,
    /// A claim that is made with the pod.
    pub ephemeral: Option<Nothing>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Os {
    pub name: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Status {
    pub phase: String,
    pub conditions: Vec<Condition>,
    pub container_statuses: Vec<ContainerStatus>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ContainerStatus {
    pub name: String,
    pub state: State,
    pub last_state: State,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct State {
    pub terminated: Option<Terminated>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Terminated {
    pub reason: String,
    pub finished_at: Option<Timestamp>,
}

impl Pod {
    pub fn named(&self) -> String {
        format!("{}/{}", self.metadata.namespace, self.metadata.name)
    }

    /// Claims that it mounts.
    pub fn claims(&self) -> u32 {
        let has = |volume: &&Volume| {
            volume.persistent_volume_claim.is_some() || volume.ephemeral.is_some()
        };
        u32::try_from(self.spec.volumes.iter().filter(has).count()).unwrap_or(u32::MAX)
    }

    /// Whether it says where its like should not be.
    pub fn is_spread(&self) -> bool {
        let apart = &self.spec.affinity.pod_anti_affinity;
        !self.spec.topology_spread_constraints.is_empty()
            || !apart.required_during_scheduling_ignored_during_execution.is_empty()
            || !apart.preferred_during_scheduling_ignored_during_execution.is_empty()
    }

    pub fn is_windows(&self) -> bool {
        let selects = |key| self.spec.node_selector.get(key).is_some_and(|os| os == "windows");
        self.spec.os.name == "windows"
            || selects("kubernetes.io/os")
            || selects("beta.kubernetes.io/os")
    }

    pub fn condition(&self, kind: &str) -> Option<&Condition> {
        self.status.conditions.iter().find(|condition| condition.kind == kind)
    }
}
