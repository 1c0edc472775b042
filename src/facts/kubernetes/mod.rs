//! What the Kubernetes API says: Karpenter's own objects, `aws-auth`, nodes and workloads.
//!
//! Lists hold only what a check reads; what there are thousands of is folded while it is read.

pub mod auth;
pub mod cni;
pub mod controller;
pub mod node;
pub mod node_class;
pub mod node_pool;
pub mod quantity;
pub mod storage;
pub mod webhooks;
pub mod workloads;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Fact;

/// Everything that was read from the cluster itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Kubernetes {
    /// How the API server was reached. Whatever stops every read is the state of this fact.
    pub access: Fact<Access>,
    /// Deployments that are a Karpenter controller's; none before an install.
    pub controllers: Fact<Vec<controller::Deployment>>,
    /// The service accounts that those Deployments run with.
    pub service_accounts: Fact<Vec<controller::ServiceAccount>>,
    /// The pods of those Deployments.
    pub controller_pods: Fact<Vec<controller::Pod>>,
    /// `kube-system/aws-auth`; absent where there is none.
    pub aws_auth: Fact<auth::AwsAuth>,
    /// Karpenter's custom resource definitions.
    pub crds: Fact<Vec<node_pool::Crd>>,
    /// EC2NodeClasses of Karpenter; absent where the cluster does not know the kind.
    pub ec2_node_classes: Fact<Vec<node_class::NodeClass>>,
    /// NodeClasses of EKS Auto Mode; absent where the cluster does not know the kind.
    pub auto_node_classes: Fact<Vec<node_class::NodeClass>>,
    /// Admission webhooks of Karpenter's; since 1.0 it has none.
    pub webhooks: Fact<Vec<webhooks::Webhook>>,
    /// Services that others' admission webhooks lead to, by namespace and name.
    pub gatekeepers: Fact<Vec<webhooks::Gatekeeper>>,
    pub node_pools: Fact<Vec<node_pool::NodePool>>,
    pub node_claims: Fact<Vec<node_pool::NodeClaim>>,
    pub nodes: Fact<Vec<node::Node>>,
    /// The VPC CNI's settings; absent where pods get their addresses in another way.
    pub cni: Fact<cni::Cni>,
    /// `enable-windows-ipam` of the VPC CNI's ConfigMap; absent where there is none.
    pub windows_ipam: Fact<bool>,
    /// ENIConfigs; absent where the cluster does not know the kind.
    pub eni_configs: Fact<Vec<cni::EniConfig>>,
    pub workloads: workloads::Workloads,
    pub storage: storage::Storage,
}

/// How the API server was reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    pub via: Via,
    /// URL of the API server.
    pub server: String,
    /// Such as `v1.35.2-eks-3abbec1`.
    pub version: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Via {
    /// A context of the kubeconfig.
    Kubeconfig { context: String },
    /// The service account of the pod that this runs in.
    InCluster,
    /// A token made from the caller's AWS credentials.
    AwsToken,
}

/// What every object has, as far as a check reads it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Meta {
    pub name: String,
    /// Empty for what is in no namespace.
    pub namespace: String,
    pub created: Option<Timestamp>,
    /// When its deletion was asked for.
    pub deleting: Option<Timestamp>,
    pub finalizers: Vec<String>,
}

/// A condition of an object's status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    /// Such as `SubnetsReady`.
    #[serde(rename = "type")]
    pub kind: String,
    /// `True`, `False` or `Unknown`.
    pub status: String,
    #[serde(default)]
    pub reason: String,
    #[serde(default)]
    pub message: String,
    /// When the status last changed.
    pub since: Option<Timestamp>,
}

/// A taint of a node or NodePool.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Taint {
    pub key: String,
    #[serde(default)]
    pub value: String,
    /// `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
    pub effect: String,
}
