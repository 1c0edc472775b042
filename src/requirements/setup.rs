//! The set-up that requests are asked for: one cluster, and what it uses.

use std::collections::{BTreeMap, BTreeSet};

use super::feature::Feature;
use super::kubernetes::KubernetesVersion;

/// The names and features that requests and policies are filled with.
#[derive(Debug, Clone)]
pub struct Setup {
    /// `aws`, `aws-cn`, `aws-us-gov`, …
    pub partition: String,
    pub region: String,
    /// The twelve digits of the account.
    pub account: String,
    pub cluster: String,
    /// Empty: the name of the getting-started guide, `KarpenterNodeRole-<cluster>`.
    pub node_role_arns: Vec<String>,
    /// `None`: a queue named like the cluster, as in the getting-started guide.
    pub queue_arn: Option<String>,
    pub features: BTreeSet<Feature>,
    /// The NodeClass's own tags (`spec.tags`).
    pub tags: BTreeMap<String, String>,
    /// Condition keys of launches whose values the NodeClass or the version decides, such as
    /// `ec2:MetadataHttpTokens`.
    pub launch: BTreeMap<String, String>,
    pub node_pool: String,
    pub node_class: String,
    /// The namespace and the service account of the controller.
    pub namespace: String,
    pub service_account: String,
    /// The cluster's OIDC issuer without `https://`, for a controller role of IRSA.
    pub oidc_provider: Option<String>,
    /// `None`: the newest that the Karpenter version is meant for.
    pub kubernetes: Option<KubernetesVersion>,
    /// The names, without a leading slash, of SSM parameters of one's own that hold AMI ids.
    pub ami_parameters: Vec<String>,
    pub subnet_arns: Vec<String>,
    pub security_group_arns: Vec<String>,
    pub image_arns: Vec<String>,
}

impl Setup {
    /// A set-up as the getting-started guide leaves it, without a queue.
    pub fn new(partition: &str, region: &str, account: &str, cluster: &str) -> Self {
        Self {
            partition: partition.to_owned(),
            region: region.to_owned(),
            account: account.to_owned(),
            cluster: cluster.to_owned(),
            node_role_arns: Vec::new(),
            queue_arn: None,
            features: BTreeSet::from([
                Feature::Role,
                Feature::AliasAmi,
                Feature::NotIsolatedVpc,
                Feature::Spot,
                Feature::EndpointDiscovery,
                Feature::Al2023,
                Feature::DryRun,
            ]),
            tags: BTreeMap::new(),
            launch: BTreeMap::new(),
            node_pool: "default".to_owned(),
            node_class: "default".to_owned(),
            namespace: "kube-system".to_owned(),
            service_account: "karpenter".to_owned(),
            oidc_provider: None,
            kubernetes: None,
            ami_parameters: Vec::new(),
            subnet_arns: Vec::new(),
            security_group_arns: Vec::new(),
            image_arns: Vec::new(),
        }
    }

    /// The same set-up with every feature in use.
    pub fn with_every_feature(mut self) -> Self {
        self.features = BTreeSet::from(Feature::ALL);
        self
    }

    pub fn uses(&self, features: &[Feature]) -> bool {
        features.iter().all(|feature| self.features.contains(feature))
    }
}
