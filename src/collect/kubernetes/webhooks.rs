//! Admission webhooks under names of Karpenter's.

use serde::Deserialize;
use tokio::join;

use super::{
    kind::{Kind, List},
    server::ApiServer,
    wire::Meta,
};
use crate::facts::{
    Fact,
    kubernetes::webhooks::{ServiceName, Webhook},
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

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Wire {
    name: String,
    client_config: ClientConfig,
    failure_policy: String,
    rules: Vec<Rule>,
}

/// Who is called; of the certificate nothing is kept.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct ClientConfig {
    pub service: Option<Service>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Service {
    namespace: String,
    name: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Rule {
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

pub async fn webhooks(server: &ApiServer) -> Fact<Vec<Webhook>> {
    let (validating, mutating) = join!(read(server, VALIDATING), read(server, MUTATING));
    validating.and_then(|mut all| {
        mutating.map(|more| {
            all.extend(more);
            all
        })
    })
}

async fn read(server: &ApiServer, kind: Kind) -> Fact<Vec<Webhook>> {
    let add = |all: &mut Vec<Webhook>, configuration: Configuration| {
        let Configuration { metadata, webhooks } = configuration;
        let own = webhooks.into_iter().filter(|one| OWN.iter().any(|end| one.name.ends_with(end)));
        all.extend(own.map(|one| webhook(kind, &metadata.name, one)));
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
