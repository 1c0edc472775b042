//! Admission webhooks: Karpenter's own, and those of others that nothing goes without.

mod gatekeepers;

use std::collections::BTreeMap;

use serde::Deserialize;
use tokio::join;

use super::{
    kind::{Kind, List},
    server::ApiServer,
    wire::{Meta, Requirement},
};
use crate::facts::{
    Fact,
    kubernetes::webhooks::{Gatekeeper, ServiceName, Webhook},
};

const GROUP: &str = "admissionregistration.k8s.io";
const VALIDATING: Kind = Kind::built_in(GROUP, "validatingwebhookconfigurations");
const MUTATING: Kind = Kind::built_in(GROUP, "mutatingwebhookconfigurations");
/// How the names of Karpenter's webhooks end.
const OWN: [&str; 2] = [".karpenter.sh", ".karpenter.k8s.aws"];

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Configuration {
    metadata: Meta,
    webhooks: Vec<Wire>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Wire {
    name: String,
    client_config: ClientConfig,
    failure_policy: String,
    rules: Vec<Rule>,
    namespace_selector: Labels,
    object_selector: Labels,
}

/// Which labels the namespace or the object must have.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Labels {
    match_labels: BTreeMap<String, String>,
    match_expressions: Vec<Requirement>,
}

/// Who is called; of the certificate nothing is kept.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct ClientConfig {
    pub service: Option<Service>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Service {
    namespace: String,
    name: String,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Rule {
    operations: Vec<String>,
    api_groups: Vec<String>,
    api_versions: Vec<String>,
    resources: Vec<String>,
}

impl ClientConfig {
    pub fn into_service(self) -> Option<ServiceName> {
        let Service { namespace, name } = self.service?;
        Some(ServiceName { namespace, name })
    }
}

/// Karpenter's webhooks, and the services that others' lead to.
pub async fn webhooks(server: &ApiServer) -> (Fact<Vec<Webhook>>, Fact<Vec<Gatekeeper>>) {
    let (validating, mutating) = join!(read(server, VALIDATING), read(server, MUTATING));
    let both = validating.and_then(|mut all| {
        mutating.map(|more| {
            all.extend(more);
            all
        })
    });
    let gatekeepers = both.clone().map(|all| gatekeepers::of(&all));
    let own = both.map(|all| all.into_iter().filter_map(Found::of_karpenter).collect());
    (own, gatekeepers::asked(server, gatekeepers).await)
}

/// A webhook as it stands in a configuration.
#[derive(Debug, Clone)]
pub struct Found {
    kind: Kind,
    configuration: String,
    webhook: Wire,
}

impl Found {
    fn is_karpenters(&self) -> bool {
        OWN.iter().any(|end| self.webhook.name.ends_with(end))
    }

    fn of_karpenter(self) -> Option<Webhook> {
        self.is_karpenters().then(|| webhook(self.kind, &self.configuration, self.webhook))
    }
}

async fn read(server: &ApiServer, kind: Kind) -> Fact<Vec<Found>> {
    let add = |all: &mut Vec<Found>, configuration: Configuration| {
        let Configuration { metadata, webhooks } = configuration;
        all.extend(webhooks.into_iter().map(|webhook| Found {
            kind,
            configuration: metadata.name.clone(),
            webhook,
        }));
    };
    server.fold(&List::all(kind), Vec::new, add).await
}

fn webhook(kind: Kind, configuration: &str, webhook: Wire) -> Webhook {
    let rules = webhook.rules.iter().flat_map(|rule| {
        let resources = rule.resources.iter().filter(|resource| !resource.contains('/'));
        resources.flat_map(move |resource| {
            let versions = rule.api_groups.iter().flat_map(move |group| {
                rule.api_versions.iter().map(move |version| format!("{group}/{version}"))
            });
            versions.map(move |version| format!("{} {resource}", version.trim_start_matches('/')))
        })
    });
    Webhook {
        kind: kind.plural.trim_end_matches('s').to_owned(),
        configuration: configuration.to_owned(),
        asked_about: rules.collect(),
        name: webhook.name,
        service: webhook.client_config.into_service(),
        required: webhook.failure_policy != "Ignore",
    }
}
