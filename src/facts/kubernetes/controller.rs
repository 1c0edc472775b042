//! Karpenter's Deployment, its service account and its pods.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Meta;

/// A Deployment whose container is Karpenter's controller.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Deployment {
    pub meta: Meta,
    pub labels: BTreeMap<String, String>,
    /// The labels that its pods get.
    pub pod_labels: BTreeMap<String, String>,
    /// As the container names it, such as `public.ecr.aws/karpenter/controller:1.6.2@sha256:…`.
    pub image: String,
    pub replicas: u32,
    pub ready_replicas: u32,
    pub service_account: String,
    /// The controller container's environment, where a value is written out. Only settings of
    /// Karpenter's and of the AWS SDK's are kept.
    pub env: BTreeMap<String, String>,
    /// The flags that the container is started with, such as `--cluster-name=demo`.
    pub args: Vec<String>,
    /// Names of ConfigMaps and Secrets that the environment comes from as a whole.
    pub env_from: Vec<String>,
    /// `ClusterFirst`, `Default`, …
    pub dns_policy: String,
    pub host_network: bool,
    pub node_selector: BTreeMap<String, String>,
    /// Node affinity terms that are required, as Kubernetes writes them.
    pub required_node_affinity: Vec<Vec<NodeRequirement>>,
    pub tolerations: Vec<Toleration>,
    /// Whether a required anti-affinity keeps replicas on nodes of their own.
    pub one_replica_a_node: bool,
    /// Whether a `DoNotSchedule` spread keeps replicas in zones of their own.
    pub one_replica_a_zone: bool,
    /// Requests of the controller container by resource, such as `memory: 1Gi`.
    pub requests: BTreeMap<String, String>,
}

/// A term of a node affinity or of a NodePool's requirements.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct NodeRequirement {
    pub key: String,
    /// `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt`, `Lt`, …
    pub operator: String,
    pub values: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct Toleration {
    /// Empty: every key.
    pub key: String,
    /// `Equal` or `Exists`.
    pub operator: String,
    pub value: String,
    /// Empty: every effect.
    pub effect: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServiceAccount {
    pub meta: Meta,
    /// The annotations of `eks.amazonaws.com/`, such as `eks.amazonaws.com/role-arn`.
    pub annotations: BTreeMap<String, String>,
}

/// A pod of the controller's.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Pod {
    pub meta: Meta,
    /// `Running`, `Pending`, …
    pub phase: String,
    pub node: Option<String>,
    pub service_account: String,
    /// What EKS's webhooks put into the environment: `AWS_ROLE_ARN`, `AWS_REGION`,
    /// `AWS_CONTAINER_CREDENTIALS_FULL_URI`, …
    pub env: BTreeMap<String, String>,
    pub ready: bool,
    pub restarts: u32,
    /// Why it waits, such as `CrashLoopBackOff`, and what is said of it.
    pub waiting: Option<String>,
    /// The end of the last run: reason, such as `OOMKilled`, and message.
    pub last_ended: Option<String>,
    pub last_ended_at: Option<Timestamp>,
    /// Why it is not scheduled, from its PodScheduled condition.
    pub unscheduled: Option<String>,
}
