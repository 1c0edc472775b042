//! The shorter lists beside the pods.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, de::IgnoredAny};

use super::selector::Selector;
use crate::{
    collect::kubernetes::{
        cni::DAEMON_SETS,
        kind::{Kind, List},
        pod::Template,
        server::ApiServer,
        wire::{Meta, Nothing, Object, Quantity},
    },
    facts::{
        Fact,
        kubernetes::workloads::{DaemonSet, DisruptionBudget, Named},
    },
};

const BUDGETS: Kind = Kind::built_in("policy", "poddisruptionbudgets");
const LIMIT_RANGES: Kind = Kind::core("limitranges");
const VOLUMES: Kind = Kind::core("persistentvolumes");
const CSI_NODES: Kind = Kind::built_in("storage.k8s.io", "csinodes");

/// The CSI drivers of EBS: the add-on's, and EKS Auto Mode's own.
const EBS_DRIVERS: [&str; 2] = ["ebs.csi.aws.com", "ebs.csi.eks.amazonaws.com"];

/// A PodDisruptionBudget, and the pods that it takes.
#[derive(Debug, Clone)]
pub struct Budget {
    pub budget: DisruptionBudget,
    /// `None` takes no pod.
    pub selector: Option<Selector>,
    /// Allows no disruption now, though it has pods.
    pub blocks: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct BudgetSpec {
    selector: Option<Selector>,
    min_available: Option<Quantity>,
    max_unavailable: Option<Quantity>,
    unhealthy_pod_eviction_policy: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct BudgetStatus {
    disruptions_allowed: i32,
    current_healthy: i32,
    desired_healthy: i32,
    expected_pods: i32,
}

pub async fn budgets(server: &ApiServer) -> Fact<Vec<Budget>> {
    server.list(&List::all(BUDGETS), budget).await
}

pub fn budget(object: Object<BudgetSpec, BudgetStatus>) -> Budget {
    let Object { metadata, spec, status } = object;
    let rule = match (spec.min_available, spec.max_unavailable) {
        (Some(least), _) => format!("minAvailable: {}", least.into_text()),
        (None, Some(most)) => format!("maxUnavailable: {}", most.into_text()),
        // What the API server takes where neither is given.
        (None, None) => "minAvailable: 1".to_owned(),
    };
    Budget {
        blocks: status.disruptions_allowed == 0 && status.expected_pods > 0,
        selector: spec.selector,
        budget: DisruptionBudget {
            meta: metadata.into_facts(),
            rule,
            expected: status.expected_pods,
            healthy: status.current_healthy,
            wanted_healthy: status.desired_healthy,
            lets_unhealthy_go: spec.unhealthy_pod_eviction_policy == "AlwaysAllow",
            ..DisruptionBudget::default()
        },
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct LimitRange {
    /// An empty list is written as null.
    limits: Option<Vec<Limit>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Limit {
    #[serde(rename = "type")]
    kind: String,
    /// Default limits; they are default requests too, where there are none.
    default: BTreeMap<String, Any>,
    default_request: BTreeMap<String, Any>,
}

/// A value that is not looked at, of whatever form.
type Any = IgnoredAny;

/// Namespaces in which a container without requests gets both CPU and memory.
pub async fn default_requests(server: &ApiServer) -> Fact<BTreeSet<String>> {
    let add = |namespaces: &mut BTreeSet<String>, range: Object<LimitRange>| {
        let of_containers =
            range.spec.limits.iter().flatten().filter(|limit| limit.kind == "Container");
        let given: BTreeSet<_> = of_containers
            .flat_map(|limit| limit.default.keys().chain(limit.default_request.keys()))
            .collect();
        if given.iter().any(|r| *r == "cpu") && given.iter().any(|r| *r == "memory") {
            namespaces.insert(range.metadata.namespace);
        }
    };
    server.fold(&List::all(LIMIT_RANGES), BTreeSet::new, add).await
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Volume {
    aws_elastic_block_store: Option<Nothing>,
}

pub async fn in_tree_volumes(server: &ApiServer) -> Fact<Named> {
    let add = |named: &mut Named, volume: Object<Volume>| {
        if volume.spec.aws_elastic_block_store.is_some() {
            named.add(|| volume.metadata.name);
        }
    };
    server.fold(&List::all(VOLUMES), Named::default, add).await
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CsiNode {
    /// An empty list is written as null.
    drivers: Option<Vec<Driver>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Driver {
    name: String,
    /// Null where the driver knows no limit.
    allocatable: Option<Allocatable>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Allocatable {
    count: Option<u32>,
}

pub async fn attach_limits(server: &ApiServer) -> Fact<BTreeMap<String, u32>> {
    let add = |limits: &mut BTreeMap<String, u32>, node: Object<CsiNode>| {
        let ebs = node
            .spec
            .drivers
            .iter()
            .flatten()
            .filter(|driver| EBS_DRIVERS.contains(&driver.name.as_str()));
        if let Some(limit) = ebs.filter_map(|driver| driver.allocatable.as_ref()?.count).max() {
            limits.insert(node.metadata.name, limit);
        }
    };
    server.fold(&List::all(CSI_NODES), BTreeMap::new, add).await
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SetSpec {
    template: Template,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct SetStatus {
    desired_number_scheduled: u32,
    number_ready: u32,
}

pub async fn daemon_sets(server: &ApiServer) -> Fact<Vec<DaemonSet>> {
    let keep = |set: Object<SetSpec, SetStatus>| {
        let containers = set.spec.template.spec.containers;
        DaemonSet {
            meta: Meta::into_facts(set.metadata),
            images: containers.into_iter().map(|container| container.image).collect(),
            desired: set.status.desired_number_scheduled,
            ready: set.status.number_ready,
        }
    };
    server.list(&List::all(DAEMON_SETS), keep).await
}
