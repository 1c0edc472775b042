//! The parts of pods and of their templates that more than one reader wants.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Deserialize;

use super::wire;

/// A template of pods, as Deployments and DaemonSets have it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Template {
    pub metadata: wire::Meta,
    pub spec: PodSpec,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct PodSpec {
    pub containers: Vec<Container>,
    pub service_account_name: String,
    pub node_name: String,
    pub dns_policy: String,
    pub host_network: bool,
    pub node_selector: BTreeMap<String, String>,
    pub affinity: Affinity,
    pub tolerations: Vec<Toleration>,
    pub topology_spread_constraints: Vec<Spread>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Container {
    pub name: String,
    pub image: String,
    pub command: Vec<String>,
    pub args: Vec<String>,
    pub env: Vec<EnvVar>,
    pub env_from: Vec<EnvFrom>,
    pub resources: Resources,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Resources {
    pub requests: BTreeMap<String, wire::Quantity>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct EnvVar {
    pub name: String,
    pub value: String,
    pub value_from: Option<ValueFrom>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ValueFrom {
    pub field_ref: FieldRef,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct FieldRef {
    pub field_path: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct EnvFrom {
    pub config_map_ref: Named,
    pub secret_ref: Named,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Named {
    pub name: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Affinity {
    pub node_affinity: NodeAffinity,
    pub pod_anti_affinity: PodAntiAffinity,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct NodeAffinity {
    pub required_during_scheduling_ignored_during_execution: NodeSelector,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct NodeSelector {
    pub node_selector_terms: Vec<NodeSelectorTerm>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct NodeSelectorTerm {
    pub match_expressions: Vec<wire::Requirement>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct PodAntiAffinity {
    pub required_during_scheduling_ignored_during_execution: Vec<Spread>,
}

/// An affinity term or a spread constraint.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Spread {
    pub topology_key: String,
    pub when_unsatisfiable: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Toleration {
    pub key: String,
    pub operator: String,
    pub value: String,
    pub effect: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct PodStatus {
    pub phase: String,
    pub conditions: Vec<wire::Condition>,
    pub container_statuses: Vec<ContainerStatus>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ContainerStatus {
    pub restart_count: u32,
    pub state: ContainerState,
    pub last_state: ContainerState,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct ContainerState {
    pub waiting: Option<Waiting>,
    pub terminated: Option<Terminated>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Waiting {
    pub reason: String,
    pub message: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Terminated {
    pub reason: String,
    pub message: String,
    pub finished_at: Option<Timestamp>,
}

/// The environment, where a value is written out or is a field of the pod that is known.
pub fn env(vars: Vec<EnvVar>, namespace: &str) -> BTreeMap<String, String> {
    let value = |var: EnvVar| match var.value_from {
        None => Some((var.name, var.value)),
        Some(from) if from.field_ref.field_path == "metadata.namespace" => {
            Some((var.name, namespace.to_owned()))
        }
        Some(_) => None,
    };
    vars.into_iter().filter_map(value).collect()
}
