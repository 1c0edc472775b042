//! NodePools, NodeClaims and the definitions of Karpenter's kinds.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Condition, Meta, Taint, controller::NodeRequirement, webhooks::ServiceName};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NodePool {
    pub meta: Meta,
    pub node_class: NodeClassRef,
    pub requirements: Vec<NodeRequirement>,
    /// Labels that its nodes get.
    pub labels: BTreeMap<String, String>,
    pub taints: Vec<Taint>,
    pub startup_taints: Vec<Taint>,
    /// `spec.limits` by resource.
    pub limits: BTreeMap<String, String>,
    /// What its nodes use, from its status.
    pub resources: BTreeMap<String, String>,
    /// `WhenEmpty` or `WhenEmptyOrUnderutilized`.
    pub consolidation_policy: String,
    /// Such as `30s` or `Never`.
    pub consolidate_after: Option<String>,
    pub budgets: Vec<Budget>,
    pub conditions: Vec<Condition>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NodeClassRef {
    /// `karpenter.k8s.aws` or `eks.amazonaws.com`.
    pub group: String,
    pub kind: String,
    pub name: String,
}

/// How many nodes may be disrupted at once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Budget {
    /// A number or a percentage.
    pub nodes: String,
    pub reasons: Vec<String>,
    pub schedule: Option<String>,
    pub duration: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NodeClaim {
    pub meta: Meta,
    pub node_pool: Option<String>,
    pub node_class: NodeClassRef,
    pub node: Option<String>,
    /// Such as `aws:///us-west-2a/i-0abc`.
    pub provider_id: Option<String>,
    /// What its pods asked for.
    pub requests: BTreeMap<String, String>,
    pub startup_taints: Vec<Taint>,
    pub conditions: Vec<Condition>,
}

/// A custom resource definition of Karpenter's.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Crd {
    /// Such as `nodepools.karpenter.sh`.
    pub name: String,
    /// Versions that are served.
    pub served: Vec<String>,
    /// The version that new objects are stored in.
    pub storage: Option<String>,
    /// `status.storedVersions`: versions in which objects may still lie in etcd.
    pub stored: Vec<String>,
    /// Who converts objects between versions (`spec.conversion`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub converted_by: Option<ServiceName>,
}
