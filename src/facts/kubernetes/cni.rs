//! The VPC CNI as the cluster runs it.

use serde::{Deserialize, Serialize};

/// The settings of the DaemonSet `kube-system/aws-node`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cni {
    /// Such as `602401143452.dkr.ecr.us-west-2.amazonaws.com/amazon-k8s-cni:v1.20.4`.
    pub image: String,
    /// `AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG`: pods get addresses of the subnets that ENIConfigs
    /// name.
    pub custom_networking: bool,
    /// `ENI_CONFIG_LABEL_DEF`: the node label whose value is the name of the ENIConfig.
    pub eni_config_label: Option<String>,
    /// `ENABLE_PREFIX_DELEGATION`: nodes take /28 blocks instead of single addresses.
    pub prefix_delegation: bool,
    /// `ENABLE_POD_ENI`: pods may have security groups of their own.
    pub pod_eni: bool,
}

/// An ENIConfig: where pods of nodes with its name get their addresses.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EniConfig {
    pub name: String,
    pub subnet: Option<String>,
    pub security_groups: Vec<String>,
}
