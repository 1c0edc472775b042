//! NodePools, NodeClaims and the definitions of Karpenter's kinds.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use serde::Deserialize;

use super::{
    kind::{Kind, List},
    server::ApiServer,
    webhooks::ClientConfig,
    wire::{self, Object, Quantity},
};
use crate::facts::{
    Fact,
    kubernetes::node_pool::{Budget, Crd, NodeClaim, NodeClassRef, NodePool},
};

const GROUP: &str = "karpenter.sh";
const CRDS: Kind = Kind::built_in("apiextensions.k8s.io", "customresourcedefinitions");
/// The definitions that are read, by name: a cluster has hundreds of others, and large ones.
pub const CRD_NAMES: [&str; 5] = [
    "ec2nodeclasses.karpenter.k8s.aws",
    "nodeclaims.karpenter.sh",
    "nodeoverlays.karpenter.sh",
    "nodepools.karpenter.sh",
    "nodeclasses.eks.amazonaws.com",
];
/// The label by which a NodeClaim names its NodePool.
const NODE_POOL: &str = "karpenter.sh/nodepool";

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PoolSpec {
    template: Template,
    disruption: Disruption,
    limits: BTreeMap<String, Quantity>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Template {
    metadata: wire::Meta,
    spec: ClaimSpec,
}

/// What a NodePool's template and a NodeClaim have in common.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ClaimSpec {
    node_class_ref: Reference,
    requirements: Vec<wire::Requirement>,
    taints: Vec<wire::Taint>,
    startup_taints: Vec<wire::Taint>,
    resources: Resources,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Resources {
    requests: BTreeMap<String, Quantity>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Reference {
    group: String,
    /// Of v1beta1, in the place of the group.
    api_version: String,
    kind: String,
    name: String,
}

impl Reference {
    fn into_facts(self) -> NodeClassRef {
        let group = match self.group.as_str() {
            "" => self.api_version.split('/').next().unwrap_or_default().to_owned(),
            _ => self.group,
        };
        NodeClassRef { group, kind: self.kind, name: self.name }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Disruption {
    consolidation_policy: String,
    consolidate_after: Option<String>,
    budgets: Vec<Budget>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PoolStatus {
    resources: BTreeMap<String, Quantity>,
    conditions: Vec<wire::Condition>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ClaimStatus {
    #[serde(rename = "providerID")]
    provider_id: Option<String>,
    node_name: Option<String>,
    conditions: Vec<wire::Condition>,
}

/// NodePools, of v1 or else of the version before; absent where the kind is not known.
pub async fn node_pools(server: &ApiServer) -> Fact<Vec<NodePool>> {
    match server.list(&of("v1", "nodepools"), node_pool).await {
        Fact::Absent => server.list(&of("v1beta1", "nodepools"), node_pool).await,
        read => read,
    }
}

/// NodeClaims, of v1 or else of the version before; absent where the kind is not known.
pub async fn node_claims(server: &ApiServer) -> Fact<Vec<NodeClaim>> {
    match server.list(&of("v1", "nodeclaims"), node_claim).await {
        Fact::Absent => server.list(&of("v1beta1", "nodeclaims"), node_claim).await,
        read => read,
    }
}

fn of(version: &'static str, plural: &'static str) -> List {
    List::all(Kind::custom(GROUP, version, plural))
}

fn node_pool(pool: Object<PoolSpec, PoolStatus>) -> NodePool {
    let Object { metadata, spec, status } = pool;
    let template = spec.template.spec;
    NodePool {
        meta: metadata.into_facts(),
        node_class: template.node_class_ref.into_facts(),
        requirements: wire::requirements(template.requirements),
        labels: spec.template.metadata.labels,
        taints: wire::taints(template.taints),
        startup_taints: wire::taints(template.startup_taints),
        limits: wire::quantities(spec.limits),
        resources: wire::quantities(status.resources),
        consolidation_policy: spec.disruption.consolidation_policy,
        consolidate_after: spec.disruption.consolidate_after,
        budgets: spec.disruption.budgets,
        conditions: wire::conditions(status.conditions),
    }
}

fn node_claim(claim: Object<ClaimSpec, ClaimStatus>) -> NodeClaim {
    let Object { mut metadata, spec, status } = claim;
    NodeClaim {
        node_pool: metadata.labels.remove(NODE_POOL),
        meta: metadata.into_facts(),
        node_class: spec.node_class_ref.into_facts(),
        node: status.node_name.filter(|name| !name.is_empty()),
        provider_id: status.provider_id.filter(|id| !id.is_empty()),
        requests: wire::quantities(spec.resources.requests),
        startup_taints: wire::taints(spec.startup_taints),
        conditions: wire::conditions(status.conditions),
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CrdSpec {
    versions: Vec<CrdVersion>,
    conversion: Conversion,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Conversion {
    webhook: Option<ConversionWebhook>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ConversionWebhook {
    client_config: ClientConfig,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CrdVersion {
    name: String,
    served: bool,
    storage: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct CrdStatus {
    stored_versions: Vec<String>,
}

/// The definitions of Karpenter's kinds that the cluster has.
pub async fn crds(server: &ApiServer) -> Fact<Vec<Crd>> {
    let reads = CRD_NAMES.map(|name| async move { server.get(CRDS, None, name).await.map(crd) });
    let mut found = Vec::new();
    for read in join_all(reads).await {
        match read {
            Fact::Known(crd) => found.push(crd),
            Fact::Absent => {}
            unseen => return unseen.map(|_| Vec::new()),
        }
    }
    Fact::Known(found)
}

fn crd(crd: Object<CrdSpec, CrdStatus>) -> Crd {
    let versions = &crd.spec.versions;
    let served = versions.iter().filter(|version| version.served);
    let storage = versions.iter().find(|version| version.storage);
    Crd {
        served: served.map(|version| version.name.clone()).collect(),
        storage: storage.map(|version| version.name.clone()),
        converted_by: crd.spec.conversion.webhook.and_then(|one| one.client_config.into_service()),
        stored: crd.status.stored_versions,
        name: crd.metadata.name,
    }
}
