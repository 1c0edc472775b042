//! The VPC CNI: its settings and its ENIConfigs.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{
    auth::CONFIG_MAPS,
    kind::{Kind, List},
    pod::{Container, Template, env},
    server::ApiServer,
    wire::Object,
};
use crate::facts::{
    Fact,
    kubernetes::cni::{Cni, EniConfig},
};

pub const DAEMON_SETS: Kind = Kind::built_in("apps", "daemonsets");
const ENI_CONFIGS: Kind = Kind::custom("crd.k8s.amazonaws.com", "v1alpha1", "eniconfigs");
const AWS_NODE: &str = "aws-node";

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct DaemonSet {
    template: Template,
}

/// The settings; absent where another CNI, or EKS Auto Mode, gives pods their addresses.
pub async fn cni(server: &ApiServer) -> Fact<Cni> {
    let read = server.get(DAEMON_SETS, Some("kube-system"), AWS_NODE).await;
    read.and_then(|set: Object<DaemonSet>| {
        let mut containers = set.spec.template.spec.containers.into_iter();
        containers
            .find(|container| container.name == AWS_NODE)
            .map_or(Fact::Absent, |container| Fact::Known(settings(container)))
    })
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ConfigMap {
    data: BTreeMap<String, String>,
}

/// Whether the control plane gives pods of Windows nodes their addresses; absent without the
/// ConfigMap that says so.
pub async fn windows_ipam(server: &ApiServer) -> Fact<bool> {
    let read = server.get(CONFIG_MAPS, Some("kube-system"), "amazon-vpc-cni").await;
    read.map(|ConfigMap { data }| {
        data.get("enable-windows-ipam").is_some_and(|value| value.eq_ignore_ascii_case("true"))
    })
}

fn settings(container: Container) -> Cni {
    let env = env(container.env, "kube-system");
    let is_on = |name: &str| env.get(name).is_some_and(|value| value.eq_ignore_ascii_case("true"));
    Cni {
        image: container.image,
        custom_networking: is_on("AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG"),
        eni_config_label: env
            .get("ENI_CONFIG_LABEL_DEF")
            .cloned()
            .filter(|label| !label.is_empty()),
        prefix_delegation: is_on("ENABLE_PREFIX_DELEGATION"),
        pod_eni: is_on("ENABLE_POD_ENI"),
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct EniConfigSpec {
    subnet: Option<String>,
    security_groups: Vec<String>,
}

/// The ENIConfigs; absent where the cluster does not know the kind.
pub async fn eni_configs(server: &ApiServer) -> Fact<Vec<EniConfig>> {
    let keep = |config: Object<EniConfigSpec>| EniConfig {
        name: config.metadata.name,
        subnet: config.spec.subnet.filter(|subnet| !subnet.is_empty()),
        security_groups: config.spec.security_groups,
    };
    server.list(&List::all(ENI_CONFIGS), keep).await
}
