//! Nodes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Condition, Meta, Taint};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Node {
    pub meta: Meta,
    /// The labels that checks read: those of zones, architecture, operating system, instance
    /// type, capacity type, node group, NodePool and compute type.
    pub labels: BTreeMap<String, String>,
    pub taints: Vec<Taint>,
    /// `spec.unschedulable`.
    pub cordoned: bool,
    pub provider_id: Option<String>,
    /// By resource, such as `cpu: 1930m`.
    pub allocatable: BTreeMap<String, String>,
    /// Volumes that it has attached.
    pub attached_volumes: u32,
    /// Conditions whose status is not the healthy one.
    pub conditions: Vec<Condition>,
    /// Such as `v1.35.1-eks-…`.
    pub kubelet_version: String,
}
