//! What is to be checked, and how it is reached.

use std::{collections::BTreeSet, path::PathBuf, time::Duration};

use clap::{Args, builder::TypedValueParser};

use super::{
    offered::{self, offered},
    words,
};
use crate::{
    requirements::version::KarpenterVersion,
    target::{ProductChoice, StageChoice, Tag, Thresholds},
};

/// How to reach AWS.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "AWS")]
pub struct AwsArgs {
    /// Region of the cluster [default: from the environment or profile]
    #[arg(long, value_parser = words::region)]
    pub region: Option<String>,
    /// Profile of the shared AWS configuration
    #[arg(long, value_parser = words::profile)]
    pub profile: Option<String>,
    /// Assume this role first
    #[arg(long, value_name = "ARN", value_parser = words::role)]
    pub assume_role: Option<String>,
    /// How long the whole run may take, such as 45s or 2m
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = words::duration)]
    pub timeout: Duration,
    /// Show each API call and how long it took, on standard error
    #[arg(long, short)]
    pub verbose: bool,
    #[command(flatten)]
    pub kube: KubeArgs,
}

/// How to reach the cluster's API server.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Kubernetes")]
pub struct KubeArgs {
    /// Read the cluster through this kubeconfig [default: as the pod that this runs in, or with a
    /// token made from the AWS credentials]
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// Read the cluster through this context [default: the kubeconfig's current one]
    #[arg(long, value_name = "NAME")]
    pub context: Option<String>,
}

/// What is to be checked; whatever is not said is read from the account.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Target")]
pub struct ScopeArgs {
    /// Name of the EKS cluster
    #[arg(long, short, value_parser = words::cluster)]
    pub cluster: Option<String>,
    /// The Karpenter version that runs or will run, such as 1.6.2 [default: the newest known]
    #[arg(long, value_name = "VERSION", value_parser = version_of_karpenter(), hide_possible_values = true)]
    pub karpenter_version: Option<KarpenterVersion>,
    /// What runs the nodes [default: auto]
    #[arg(long, value_enum)]
    pub product: Option<ProductChoice>,
    /// Before or after Karpenter was installed [default: auto]
    #[arg(long, value_enum)]
    pub stage: Option<StageChoice>,
    /// Namespace of the controller [default: kube-system]
    #[arg(long, value_parser = words::kubernetes_name)]
    pub namespace: Option<String>,
    /// Service account of the controller [default: karpenter]
    #[arg(long, value_parser = words::kubernetes_name)]
    pub service_account: Option<String>,
    /// Role of the controller, name or ARN
    #[arg(long, value_name = "ROLE", value_parser = words::role)]
    pub controller_role: Option<String>,
    /// A role that nodes run with, name or ARN; may be given several times
    #[arg(long = "node-role", value_name = "ROLE", value_parser = words::role)]
    pub node_roles: Vec<String>,
    /// The queue in `settings.interruptionQueue`
    #[arg(long, value_name = "NAME", value_parser = words::queue)]
    pub interruption_queue: Option<String>,
    /// The tag that selects subnets and security groups
    /// [default: karpenter.sh/discovery=<cluster>]
    #[arg(long, value_name = "KEY[=VALUE]", value_parser = words::tag)]
    pub discovery_tag: Option<Tag>,
    /// A tag in `spec.tags` of a NodeClass that is yet to come, or that cannot be read; may be given
    /// several times
    #[arg(long = "nodeclass-tag", value_name = "KEY=VALUE", value_parser = words::user_tag)]
    pub nodeclass_tags: Vec<(String, String)>,
    /// Leave the cluster alone: ask AWS only
    #[arg(long, help_heading = "Kubernetes", conflicts_with_all = ["kubeconfig", "context"])]
    pub no_kube: bool,
    /// What the configuration demands.
    #[arg(skip)]
    pub thresholds: Thresholds,
    /// Which of these the configuration says, by name.
    #[arg(skip)]
    pub configured: BTreeSet<String>,
}

fn version_of_karpenter() -> impl TypedValueParser<Value = KarpenterVersion> {
    offered(|text: &str| text.parse::<KarpenterVersion>(), offered::karpenter_versions)
}
