//! `karpenter-preflight.toml`: the clusters of a team, what it demands, and what it lives with.
//!
//! Whatever a flag says too, the flag decides.

pub mod doc;
mod edit;
mod fields;
mod load;
#[cfg(test)]
mod tests;
pub mod waiver;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use crate::{
    checks,
    outcome::FailOn,
    requirements::version::KarpenterVersion,
    target::{ProductChoice, StageChoice, Tag, Thresholds},
};
pub use edit::{NewWaiver, append, renew};
pub use load::{ConfigError, find, line, parse, read};
pub use waiver::Waiver;

/// The name that is searched for, from the working directory upward.
pub const FILE_NAME: &str = "karpenter-preflight.toml";

/// The file as a whole.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The lowest status that makes the exit code 1.
    pub fail_on: Option<FailOn>,
    /// Exit with 0 although some checks are unknown.
    pub allow_unknown: bool,
    /// Run only these checks or areas.
    #[schemars(with = "Vec<String>")]
    pub select: Vec<Spanned<String>>,
    /// Leave these checks or areas out.
    #[schemars(with = "Vec<String>")]
    pub exclude: Vec<Spanned<String>>,
    /// What holds for every cluster that does not say otherwise.
    pub target: Cluster,
    /// The clusters to judge.
    #[schemars(with = "Vec<Cluster>")]
    pub cluster: Vec<Spanned<Cluster>>,
    /// From where on something is too little.
    pub thresholds: Thresholds,
    /// The status that the findings of a check get, by the check's id.
    #[schemars(with = "BTreeMap<String, Severity>")]
    pub severity: BTreeMap<Spanned<String>, Severity>,
    /// Findings that are lived with. Each key of a waiver must fit; any waiver will do.
    pub waiver: Vec<Waiver>,
}

/// A cluster, how to reach it, and what is known of it. The keys are those of the flags.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Cluster {
    /// Name of the EKS cluster.
    #[serde(deserialize_with = "fields::cluster")]
    pub name: Option<String>,
    /// Region of the cluster.
    #[serde(deserialize_with = "fields::region")]
    pub region: Option<String>,
    /// Profile of the shared AWS configuration.
    #[serde(deserialize_with = "fields::profile")]
    pub profile: Option<String>,
    /// ARN of a role to assume first.
    #[serde(deserialize_with = "fields::role")]
    pub assume_role: Option<String>,
    /// The Karpenter version that runs or will run, such as `1.6.2`.
    #[schemars(with = "Option<String>")]
    pub karpenter_version: Option<KarpenterVersion>,
    /// What runs the nodes.
    pub product: Option<ProductChoice>,
    /// Before or after Karpenter was installed.
    pub stage: Option<StageChoice>,
    /// Namespace of the controller.
    #[serde(deserialize_with = "fields::kubernetes_name")]
    pub namespace: Option<String>,
    /// Service account of the controller.
    #[serde(deserialize_with = "fields::kubernetes_name")]
    pub service_account: Option<String>,
    /// Role of the controller, name or ARN.
    #[serde(deserialize_with = "fields::role")]
    pub controller_role: Option<String>,
    /// Roles that nodes run with, names or ARNs.
    #[serde(deserialize_with = "fields::roles")]
    pub node_roles: Vec<String>,
    /// The queue in `settings.interruptionQueue`.
    #[serde(deserialize_with = "fields::queue")]
    pub interruption_queue: Option<String>,
    /// The tag that selects subnets and security groups, `key` or `key=value`.
    #[serde(deserialize_with = "fields::tag")]
    pub discovery_tag: Option<Tag>,
    /// The context of the kubeconfig.
    pub context: Option<String>,
    /// Leave the Kubernetes API alone.
    pub no_kube: Option<bool>,
}

impl Cluster {
    /// This one, and what `defaults` say where it says nothing.
    #[must_use]
    pub fn or(&self, defaults: &Self) -> Self {
        fn first<T: Clone>(own: &Option<T>, default: &Option<T>) -> Option<T> {
            own.clone().or_else(|| default.clone())
        }
        let roles = if self.node_roles.is_empty() { defaults } else { self };
        Self {
            name: first(&self.name, &defaults.name),
            region: first(&self.region, &defaults.region),
            profile: first(&self.profile, &defaults.profile),
            assume_role: first(&self.assume_role, &defaults.assume_role),
            karpenter_version: self.karpenter_version.or(defaults.karpenter_version),
            product: self.product.or(defaults.product),
            stage: self.stage.or(defaults.stage),
            namespace: first(&self.namespace, &defaults.namespace),
            service_account: first(&self.service_account, &defaults.service_account),
            controller_role: first(&self.controller_role, &defaults.controller_role),
            node_roles: roles.node_roles.clone(),
            interruption_queue: first(&self.interruption_queue, &defaults.interruption_queue),
            discovery_tag: first(&self.discovery_tag, &defaults.discovery_tag),
            context: first(&self.context, &defaults.context),
            no_kube: self.no_kube.or(defaults.no_kube),
        }
    }
}

/// What a finding counts as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    Warn,
    Fail,
}

/// The JSON Schema (2020-12) of the file, `schema/config.v1.json`.
pub fn schema_text() -> String {
    let settings = schemars::generate::SchemaSettings::draft2020_12();
    let mut schema = settings.into_generator().into_root_schema_for::<Config>();
    schema.insert("title".to_owned(), "karpenter-preflight.toml, version 1".into());
    let mut schema = schema.to_value();
    name_ids(&mut schema);
    format!("{schema:#}\n")
}

/// Names the ids, so that an editor completes them and marks a slip.
fn name_ids(schema: &mut serde_json::Value) {
    let checks = serde_json::json!(checks::ids());
    let with_areas = serde_json::json!(checks::ids_and_areas());
    let places = [
        ("/properties/select/items", "enum", &with_areas),
        ("/properties/exclude/items", "enum", &with_areas),
        ("/properties/severity", "propertyNames", &serde_json::json!({"enum": checks})),
        ("/$defs/Waiver/properties/check", "enum", &checks),
    ];
    for (place, key, ids) in places {
        if let Some(place) = schema.pointer_mut(place) {
            place[key] = ids.clone();
        }
    }
}
