//! What is to be checked, and how each part of that was learned.
//!
//! [`Scope`] is what the user said; [`resolve`](resolve::resolve) adds what the account shows
//! and gives a [`Target`]. Every value keeps its [`Origin`], so that nothing is guessed
//! silently.

pub mod alias;
pub mod cluster_says;
pub mod mismatch;
pub mod names;
pub mod redact;
pub mod resolve;
pub mod saved;
mod scope;
pub mod selector;
mod thresholds;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{facts::Unseen, requirements::version::KarpenterVersion};
pub use scope::{ProductChoice, Scope, StageChoice, Tag, Uses};
pub use thresholds::Thresholds;

/// What runs nodes in the cluster.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Product {
    Karpenter,
    AutoMode,
}

impl Product {
    pub fn title(self) -> &'static str {
        match self {
            Self::Karpenter => "Karpenter",
            Self::AutoMode => "EKS Auto Mode",
        }
    }
}

/// Whether Karpenter is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Before an install: what is not there yet is no fault.
    Before,
    /// After an install: what is missing will be missed.
    After,
}

/// How a value was learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// A command-line flag.
    Flag,
    /// `karpenter-preflight.toml`.
    Configuration,
    /// The environment or profile of the caller.
    Environment,
    /// `eks:DescribeCluster`.
    Cluster,
    /// Karpenter's Deployment in the cluster.
    Deployment,
    /// The service account that the Deployment runs with.
    ServiceAccount,
    /// A NodeClass of the cluster.
    NodeClass,
    /// A pod identity association of the cluster.
    PodIdentityAssociation,
    /// An access entry of the cluster.
    AccessEntry,
    /// An instance profile that Karpenter made for the cluster.
    InstanceProfile,
    /// A name that the known installers give.
    UsualName,
    /// The default of Karpenter or of its chart.
    Default,
    /// Nothing says which: the newest release known is assumed.
    NewestKnown,
    /// The documents that are judged name it.
    Documents,
    /// Nothing says which, and a made-up one stands for it.
    StandIn,
}

impl Origin {
    /// How the report names it.
    pub fn words(self) -> &'static str {
        match self {
            Self::Flag => "flag",
            Self::Configuration => "configuration",
            Self::Environment => "environment",
            Self::Cluster => "cluster",
            Self::Deployment => "Deployment",
            Self::ServiceAccount => "service account",
            Self::NodeClass => "NodeClass",
            Self::PodIdentityAssociation => "pod identity association",
            Self::AccessEntry => "access entry",
            Self::InstanceProfile => "instance profile",
            Self::UsualName => "usual name",
            Self::Default => "default",
            Self::NewestKnown => "assumed: newest known",
            Self::Documents => "documents",
            Self::StandIn => "made up",
        }
    }
}

/// A value and how it was learned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Sourced_{T}")]
pub struct Sourced<T> {
    pub value: T,
    pub origin: Origin,
}

impl<T> Sourced<T> {
    pub fn new(value: T, origin: Origin) -> Self {
        Self { value, origin }
    }
}

/// A role that nodes run with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeRole {
    /// The name, without path.
    pub name: String,
    pub product: Product,
    pub origin: Origin,
}

/// The interruption queue: the one that was named, or those found under a usual name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueueTarget {
    /// The user named it, or the controller's own settings do. It may be a URL or an ARN where
    /// Karpenter wants a name.
    Named(Sourced<String>),
    /// Found under usual names.
    Found(Vec<String>),
    /// Not named, and none exists under a usual name.
    None,
    /// Not named, and whether one exists under a usual name could not be read.
    NotSeen,
}

/// What is checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    pub cluster: String,
    pub region: Sourced<String>,
    pub partition: &'static str,
    /// Empty only where `product_unseen` says why.
    pub products: Vec<Sourced<Product>>,
    /// Why it is not known whether a product that is not among these runs nodes too: whether EKS
    /// Auto Mode is on, or whether Karpenter is installed beside it.
    pub product_unseen: Option<Unseen>,
    pub stage: Sourced<Stage>,
    pub karpenter_version: Sourced<KarpenterVersion>,
    pub namespace: Sourced<String>,
    pub service_account: Sourced<String>,
    /// Role names; several where several fit, none before an install.
    pub controller_roles: Vec<Sourced<String>>,
    pub node_roles: Vec<NodeRole>,
    /// Node roles that something shows to be of a product that is not judged: what is done to
    /// mend the others must not break them.
    pub other_node_roles: Vec<NodeRole>,
    pub queue: QueueTarget,
    pub discovery_tag: Sourced<Tag>,
    /// Tags that the user says a NodeClass will set.
    pub node_class_tags: BTreeMap<String, String>,
    /// The user wants the Kubernetes API left alone.
    pub no_kube: bool,
    /// From where on something is too little.
    pub thresholds: Thresholds,
    /// What the user says is in use.
    pub uses: Uses,
    /// What the reader must know about how the target was found.
    pub notes: Vec<String>,
}

impl Target {
    pub fn runs(&self, product: Product) -> bool {
        self.products.iter().any(|found| found.value == product)
    }

    pub fn before_install(&self) -> bool {
        self.stage.value == Stage::Before
    }
}
