//! Nodes.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{
    kind::{Kind, List},
    server::ApiServer,
    wire::{self, Object},
};
use crate::facts::{Fact, kubernetes::node::Node};

pub const NODES: Kind = Kind::core("nodes");

/// The labels that checks read, whole or by what comes before the name.
const LABELS: &[&str] = &[
    "kubernetes.io/arch",
    "kubernetes.io/os",
    "node.kubernetes.io/",
    "topology.kubernetes.io/",
    "topology.k8s.aws/",
    "karpenter.sh/",
    "karpenter.k8s.aws/",
    "eks.amazonaws.com/",
    "alpha.eksctl.io/nodegroup-name",
    "vpc.amazonaws.com/",
    "k8s.amazonaws.com/",
    "nvidia.com/",
];

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Spec {
    #[serde(rename = "providerID")]
    provider_id: Option<String>,
    taints: Vec<wire::Taint>,
    unschedulable: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Status {
    allocatable: BTreeMap<String, wire::Quantity>,
    conditions: Vec<wire::Condition>,
    node_info: NodeInfo,
    volumes_attached: Vec<wire::Nothing>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct NodeInfo {
    kubelet_version: String,
}

pub async fn nodes(server: &ApiServer) -> Fact<Vec<Node>> {
    server.list(&List::all(NODES), node).await
}

fn node(node: Object<Spec, Status>) -> Node {
    let Object { mut metadata, spec, status } = node;
    let kept = |label: &str| {
        LABELS
            .iter()
            .any(|known| known.ends_with('/') && label.starts_with(known) || label == *known)
    };
    let mut labels = std::mem::take(&mut metadata.labels);
    labels.retain(|label, _| kept(label));
    let mut conditions = wire::conditions(status.conditions);
    conditions.retain(|condition| condition.status != healthy(&condition.kind));
    Node {
        meta: metadata.into_facts(),
        labels,
        taints: wire::taints(spec.taints),
        cordoned: spec.unschedulable,
        provider_id: spec.provider_id,
        allocatable: wire::quantities(status.allocatable),
        attached_volumes: u32::try_from(status.volumes_attached.len()).unwrap_or(u32::MAX),
        conditions,
        kubelet_version: status.node_info.kubelet_version,
    }
}

/// The status of a condition that is well: `Ready`, and those of EKS's node monitoring agent
/// (`KernelReady`, `StorageReady`, …), when they are true, every other one when it is false.
fn healthy(kind: &str) -> &'static str {
    if kind.ends_with("Ready") { "True" } else { "False" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_read_is_kept() {
        let read = serde_json::json!({
            "metadata": {
                "name": "ip-10-0-1-10.us-west-2.compute.internal",
                "creationTimestamp": "2026-01-10T09:30:00Z",
                "labels": {"kubernetes.io/arch": "arm64", "kubernetes.io/hostname": "ip",
                    "karpenter.sh/nodepool": "default", "team": "a"},
                "managedFields": [{"manager": "kubelet"}],
            },
            "spec": {"providerID": "aws:///us-west-2a/i-1", "unschedulable": true,
                "taints": [{"key": "a", "effect": "NoSchedule", "timeAdded": null}]},
            "status": {
                "allocatable": {"cpu": "1930m", "pods": 29},
                "volumesAttached": [{"name": "a", "devicePath": ""}, {"name": "b", "devicePath": ""}],
                "conditions": [
                    {"type": "MemoryPressure", "status": "False"},
                    {"type": "DiskPressure", "status": "True", "reason": "KubeletHasDiskPressure"},
                    {"type": "KernelReady", "status": "True"},
                    {"type": "Ready", "status": "Unknown", "lastTransitionTime": "2026-10-20T08:05:00Z"},
                ],
                "nodeInfo": {"kubeletVersion": "v1.35.1-eks-1"},
                "images": [{"names": ["x"]}],
            },
        });
        let node = node(serde_json::from_value(read).unwrap());
        assert_eq!(
            node.labels.into_keys().collect::<Vec<_>>(),
            ["karpenter.sh/nodepool", "kubernetes.io/arch"]
        );
        let troubles: Vec<_> = node.conditions.iter().map(|found| found.kind.as_str()).collect();
        assert_eq!(troubles, ["DiskPressure", "Ready"]);
        assert_eq!((node.attached_volumes, node.cordoned), (2, true));
        assert_eq!(node.allocatable["pods"], "29");
        assert_eq!(node.taints[0].key, "a");
    }
}
