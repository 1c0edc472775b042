//! EC2NodeClasses of Karpenter and NodeClasses of EKS Auto Mode.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Condition, Meta};

/// A node class of either product; a field that one of them lacks is empty for it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NodeClass {
    pub meta: Meta,
    /// A role's name; people write ARNs too.
    pub role: Option<String>,
    pub instance_profile: Option<String>,
    pub subnet_terms: Vec<SelectorTerm>,
    pub security_group_terms: Vec<SelectorTerm>,
    /// Auto Mode: subnets that pods get addresses from, where they are others.
    pub pod_subnet_terms: Vec<SelectorTerm>,
    pub pod_security_group_terms: Vec<SelectorTerm>,
    pub ami_family: Option<String>,
    pub ami_terms: Vec<AmiTerm>,
    /// The user's own tags.
    pub tags: BTreeMap<String, String>,
    pub metadata_options: Option<MetadataOptions>,
    /// What nodes' volumes are made of. Auto Mode's `ephemeralStorage` is one without a device.
    pub volumes: Vec<Volume>,
    pub associate_public_ip: Option<bool>,
    pub user_data: Option<UserData>,
    /// `spec.ipPrefixCount`: /28 blocks per interface.
    pub ip_prefix_count: Option<u32>,
    /// Auto Mode: `Auto` (prefix delegation) or `32`.
    pub ipv4_prefix_size: Option<String>,
    pub max_pods: Option<u32>,
    pub capacity_reservation_terms: Vec<SelectorTerm>,
    /// Name or id.
    pub placement_group: Option<String>,
    pub conditions: Vec<Condition>,
    pub status: Resolved,
}

/// A term of a selector: its parts hold together, terms stand beside each other.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct SelectorTerm {
    pub id: Option<String>,
    /// Of security groups: the group's name.
    pub name: Option<String>,
    /// Of capacity reservations: the owner's account.
    pub owner: Option<String>,
    /// A value may hold `*`; `*` alone means any value.
    pub tags: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct AmiTerm {
    /// `family@version`.
    pub alias: Option<String>,
    pub id: Option<String>,
    pub name: Option<String>,
    pub owner: Option<String>,
    pub ssm_parameter: Option<String>,
    pub tags: BTreeMap<String, String>,
}

/// `spec.metadataOptions`. What is not written has the default of the custom resource.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MetadataOptions {
    /// `enabled` or `disabled`.
    pub http_endpoint: Option<String>,
    /// Network hops that an answer may take.
    pub http_put_response_hop_limit: Option<i64>,
    /// `required` or `optional`.
    pub http_tokens: Option<String>,
}

/// What is kept of `spec.userData`, which may hold secrets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UserData {
    pub bytes: u64,
    /// Whether it speaks of the taint `karpenter.sh/unregistered`.
    pub registers_taint: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Volume {
    pub device: Option<String>,
    pub encrypted: Option<bool>,
    /// Id, ARN or alias.
    pub kms_key: Option<String>,
    pub snapshot: Option<String>,
    /// Such as `100Gi`.
    pub size: Option<String>,
    /// `gp3`, `io2`, …
    pub kind: Option<String>,
    pub iops: Option<u64>,
    /// MiB a second.
    pub throughput: Option<u64>,
}

/// What Karpenter says that it found (`status`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Resolved {
    pub subnets: Vec<String>,
    pub security_groups: Vec<String>,
    pub amis: Vec<String>,
    pub instance_profile: Option<String>,
}
