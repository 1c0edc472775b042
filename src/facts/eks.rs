//! What EKS says of a cluster.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// `eks:DescribeCluster`, as far as a check reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cluster {
    pub name: String,
    pub arn: String,
    /// The Kubernetes version, such as `1.35`.
    pub version: String,
    pub platform_version: Option<String>,
    /// `ACTIVE`, `CREATING`, `UPDATING`, `DELETING`, `FAILED` or `PENDING`.
    pub status: String,
    /// What EKS itself found wrong with the cluster; up to three hours old.
    #[serde(default)]
    pub health_issues: Vec<HealthIssue>,
    pub endpoint: Option<String>,
    pub role_arn: String,
    pub oidc_issuer: Option<String>,
    pub authentication_mode: AuthenticationMode,
    pub network: ClusterNetwork,
    pub auto_mode: AutoMode,
    /// `zonalShiftConfig.enabled`.
    #[serde(default)]
    pub zonal_shift: Option<bool>,
}

/// A fault that EKS found (`cluster.health.issues`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HealthIssue {
    /// Such as `Ec2SubnetNotFound`.
    pub code: String,
    pub message: String,
    /// Ids of the resources at fault.
    pub resources: Vec<String>,
}

/// Where EKS looks to let a node in (`accessConfig.authenticationMode`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum AuthenticationMode {
    /// Only the `aws-auth` ConfigMap. Also what clusters without an access config have.
    ConfigMap,
    /// Both; access entries win.
    ApiAndConfigMap,
    /// Only access entries.
    Api,
}

impl AuthenticationMode {
    /// As the EKS API spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ConfigMap => "CONFIG_MAP",
            Self::ApiAndConfigMap => "API_AND_CONFIG_MAP",
            Self::Api => "API",
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterNetwork {
    pub vpc_id: Option<String>,
    /// The control plane's subnets.
    pub subnet_ids: Vec<String>,
    pub cluster_security_group_id: Option<String>,
    /// Further groups of the control plane's interfaces.
    #[serde(default)]
    pub security_group_ids: Vec<String>,
    pub endpoint_public_access: bool,
    pub endpoint_private_access: bool,
    /// Who may use the public endpoint; none given means everybody.
    #[serde(default)]
    pub public_access_cidrs: Vec<String>,
    /// `ipv4` or `ipv6`.
    pub ip_family: Option<String>,
}

/// The three switches of EKS Auto Mode, which EKS wants on or off together.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AutoMode {
    pub compute: bool,
    pub block_storage: bool,
    pub load_balancing: bool,
    /// The built-in node pools that are on: `general-purpose`, `system`.
    pub node_pools: Vec<String>,
    pub node_role_arn: Option<String>,
}

/// A managed node group, as far as it tells Karpenter's node roles from others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeGroup {
    pub name: String,
    pub node_role_arn: Option<String>,
}

/// `eks:DescribeFargateProfile`: which pods EKS gives a node of their own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FargateProfile {
    pub name: String,
    /// `CREATING`, `ACTIVE`, `DELETING`, …
    pub status: String,
    /// A pod that one of these fits runs on Fargate.
    pub selectors: Vec<FargateSelector>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FargateSelector {
    /// May hold `*` and `?`.
    pub namespace: String,
    /// A pod needs all of them; values may hold `*` and `?`.
    pub labels: BTreeMap<String, String>,
}

/// `eks:DescribeAccessEntry` with its associated access policies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessEntry {
    pub principal_arn: String,
    /// `STANDARD`, `EC2_LINUX`, `EC2_WINDOWS`, `EC2`, … in the API's spelling.
    pub entry_type: String,
    pub username: Option<String>,
    pub groups: Vec<String>,
    pub created: Option<Timestamp>,
    /// The associated access policies.
    pub policies: super::Fact<Vec<AssociatedPolicy>>,
}

/// An access policy that an entry is associated with (`eks:ListAssociatedAccessPolicies`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssociatedPolicy {
    pub arn: String,
    pub scope: AccessScope,
}

/// Where an access policy holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccessScope {
    /// In the whole cluster.
    Cluster,
    /// In some namespaces only, and for nothing that is in none, such as nodes.
    Namespaces,
}

/// A pod identity association.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PodIdentityAssociation {
    pub id: String,
    pub namespace: String,
    pub service_account: String,
    pub role_arn: String,
    /// The role that is really used, where the association chains to another account's.
    pub target_role_arn: Option<String>,
    /// A policy, as JSON text, that narrows the sessions further.
    #[serde(default)]
    pub policy: Option<String>,
    /// The sessions carry no tags of the cluster, namespace and service account.
    #[serde(default)]
    pub session_tags_disabled: bool,
}

/// `eks:DescribeAddon`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Addon {
    pub name: String,
    pub version: Option<String>,
    /// `ACTIVE`, `DEGRADED`, `CREATE_FAILED`, … in the API's spelling.
    pub status: String,
    /// The role that EKS gives to the add-on's service account (IRSA).
    pub service_account_role_arn: Option<String>,
    /// The environment that its configuration sets.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
}
