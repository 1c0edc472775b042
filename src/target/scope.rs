//! What the user said about the cluster to check.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    str::FromStr,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Origin, Thresholds};
use crate::requirements::{Feature, version::KarpenterVersion};

/// The cluster, and everything that the user said about it. Saved with the facts, so that a
/// later run over them asks the same question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scope {
    pub cluster: String,
    pub region: String,
    /// `Flag`, `Configuration` or `Environment`.
    pub region_origin: Origin,
    #[serde(default)]
    pub product: ProductChoice,
    #[serde(default)]
    pub stage: StageChoice,
    #[serde(default)]
    pub karpenter_version: Option<KarpenterVersion>,
    #[serde(default)]
    pub namespace: Option<String>,
    #[serde(default)]
    pub service_account: Option<String>,
    /// A name or an ARN.
    #[serde(default)]
    pub controller_role: Option<String>,
    /// Names or ARNs.
    #[serde(default)]
    pub node_roles: Vec<String>,
    #[serde(default)]
    pub interruption_queue: Option<String>,
    #[serde(default)]
    pub discovery_tag: Option<Tag>,
    /// Tags that a NodeClass will set, by key.
    #[serde(default)]
    pub nodeclass_tags: BTreeMap<String, String>,
    /// The Kubernetes API is not to be asked.
    #[serde(default)]
    pub no_kube: bool,
    #[serde(default)]
    pub thresholds: Thresholds,
    #[serde(default, skip_serializing_if = "Uses::is_empty")]
    pub uses: Uses,
    /// Which of these the configuration says, by name.
    #[serde(default)]
    pub configured: BTreeSet<String>,
}

impl Scope {
    /// A cluster of which nothing else was said.
    pub fn new(cluster: String, region: String, region_origin: Origin) -> Self {
        Self {
            cluster,
            region,
            region_origin,
            product: ProductChoice::default(),
            stage: StageChoice::default(),
            karpenter_version: None,
            namespace: None,
            service_account: None,
            controller_role: None,
            node_roles: Vec::new(),
            interruption_queue: None,
            discovery_tag: None,
            nodeclass_tags: BTreeMap::new(),
            no_kube: false,
            thresholds: Thresholds::default(),
            uses: Uses::default(),
            configured: BTreeSet::new(),
        }
    }

    pub fn namespace(&self) -> &str {
        self.namespace.as_deref().unwrap_or("kube-system")
    }

    pub fn service_account(&self) -> &str {
        self.service_account.as_deref().unwrap_or("karpenter")
    }

    /// The tag that selects subnets and security groups: `karpenter.sh/discovery=<cluster>`
    /// unless the user says otherwise.
    pub fn discovery_tag(&self) -> Tag {
        self.discovery_tag.clone().unwrap_or_else(|| Tag {
            key: "karpenter.sh/discovery".to_owned(),
            value: Some(self.cluster.clone()),
        })
    }
}

#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema, clap::ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub enum ProductChoice {
    /// What the cluster shows.
    #[default]
    Auto,
    Karpenter,
    AutoMode,
}

#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema, clap::ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub enum StageChoice {
    /// `after` if anything of Karpenter is found.
    #[default]
    Auto,
    Before,
    After,
}

/// What is in use, where no fact shows it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Uses {
    pub features: BTreeSet<Feature>,
    /// Names, without a leading slash, of SSM parameters that hold AMI ids.
    pub ami_parameters: Vec<String>,
}

impl Uses {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A tag to select by; without a value, any value will do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(into = "String", try_from = "String")]
#[schemars(with = "String")]
pub struct Tag {
    pub key: String,
    pub value: Option<String>,
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            Some(value) => write!(f, "{}={value}", self.key),
            None => f.write_str(&self.key),
        }
    }
}

/// Why a text is not a tag.
#[derive(Debug, thiserror::Error)]
#[error("a discovery tag is KEY or KEY=VALUE with a key of 1 to 128 characters")]
pub struct NotATag;

impl FromStr for Tag {
    type Err = NotATag;

    fn from_str(text: &str) -> Result<Self, NotATag> {
        let (key, value) = match text.split_once('=') {
            Some((key, value)) => (key, Some(value.to_owned())),
            None => (text, None),
        };
        if key.is_empty() || key.chars().count() > 128 {
            return Err(NotATag);
        }
        // Karpenter reads `*` as "any value".
        Ok(Self { key: key.to_owned(), value: value.filter(|value| value != "*") })
    }
}

impl From<Tag> for String {
    fn from(tag: Tag) -> Self {
        tag.to_string()
    }
}

impl TryFrom<String> for Tag {
    type Error = NotATag;

    fn try_from(text: String) -> Result<Self, NotATag> {
        text.parse()
    }
}
