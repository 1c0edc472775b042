//! Everything that a role, or the queue, is to be given: trust policy, managed policies and
//! policies of one's own, filled in and ready to attach.

use serde_json::Value;

use super::auto_mode::CUSTOM_TAGS;
use super::feature::Feature;
use super::fill::Values;
use super::load::embedded_json;
use super::node::{Capability, NodesOf, managed_policies};
use super::policy::{Layout, Policy, controller};
use super::setup::Setup;
use super::version::KarpenterVersion;

/// What policies are printed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The role of the Karpenter controller.
    Controller,
    /// The role of nodes that Karpenter launches.
    Node,
    /// The role of nodes that Auto Mode launches.
    AutoModeNode,
    /// The cluster role of a cluster without Auto Mode.
    Cluster,
    /// The cluster role of a cluster with Auto Mode.
    AutoModeCluster,
    /// The interruption queue: the one policy is its resource policy.
    Queue,
    /// The identity that runs this tool.
    Preflight,
}

/// The policies of one role, or of the queue.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Printed {
    /// Who may take the role; `None` where that is not ours to say.
    pub trust: Option<Value>,
    /// ARNs of AWS managed policies.
    pub managed: Vec<String>,
    pub policies: Vec<Policy>,
}

/// The policies for this kind of role, version and set-up. `layout` matters to the controller
/// only, and the version only to the controller and the nodes of Karpenter.
pub fn print(kind: Kind, version: KarpenterVersion, setup: &Setup, layout: Layout) -> Printed {
    let document = |text: &'static str| Values::new(version, setup).fill_json(&embedded_json(text));
    let alone = |name: &str, text: &'static str| Printed {
        policies: vec![Policy { name: name.to_owned(), document: document(text) }],
        ..Printed::default()
    };
    match kind {
        Kind::Controller => Printed {
            trust: Some(document(match setup.oidc_provider {
                Some(_) => include_str!("../../policies/trust/controller-irsa.json"),
                None => include_str!("../../policies/trust/controller-pod-identity.json"),
            })),
            policies: controller(version, setup, layout),
            ..Printed::default()
        },
        Kind::Node => node(NodesOf::Karpenter, version, setup),
        Kind::AutoModeNode => node(NodesOf::AutoMode, version, setup),
        Kind::Cluster => Printed {
            trust: Some(document(include_str!("../../policies/trust/cluster.json"))),
            managed: managed(&AUTO_MODE_CLUSTER[..1], setup),
            ..Printed::default()
        },
        Kind::AutoModeCluster => auto_mode_cluster(version, setup),
        Kind::Queue => {
            alone("EC2InterruptionPolicy", include_str!("../../policies/queue/policy.json"))
        }
        Kind::Preflight => alone(
            "KarpenterPreflightReadOnly",
            include_str!("../../policies/preflight-read-only.json"),
        ),
    }
}

fn node(nodes_of: NodesOf, version: KarpenterVersion, setup: &Setup) -> Printed {
    let values = Values::new(version, setup);
    let mut managed = managed_policies(version, nodes_of, &setup.partition);
    let mut policies = Vec::new();
    // The managed policy of the CNI knows IPv4 only.
    if nodes_of == NodesOf::Karpenter && setup.features.contains(&Feature::Ipv6) {
        managed.retain(|(capability, _)| *capability != Capability::Cni);
        let text = include_str!("../../policies/node/cni-ipv6-policy.json");
        let document = values.fill_json(&embedded_json(text));
        policies.push(Policy { name: format!("EKSCNIIPv6-{}", setup.cluster), document });
    }
    let trust = embedded_json(include_str!("../../policies/trust/node.json"));
    Printed {
        trust: Some(values.fill_json(&trust)),
        managed: managed.into_iter().map(|(_, arn)| arn).collect(),
        policies,
    }
}

fn auto_mode_cluster(version: KarpenterVersion, setup: &Setup) -> Printed {
    let values = Values::new(version, setup);
    let mut policies = Vec::new();
    if CUSTOM_TAGS.iter().any(|feature| setup.features.contains(feature)) {
        let text = include_str!("../../policies/auto-mode/custom-tags-policy.json");
        let document = values.fill_json(&embedded_json(text));
        policies.push(Policy { name: format!("EKSAutoModeTags-{}", setup.cluster), document });
    }
    let trust = embedded_json(include_str!("../../policies/trust/cluster-auto-mode.json"));
    Printed { trust: Some(trust), managed: managed(&AUTO_MODE_CLUSTER, setup), policies }
}

fn managed(names: &[&str], setup: &Setup) -> Vec<String> {
    let partition = &setup.partition;
    names.iter().map(|name| format!("arn:{partition}:iam::aws:policy/{name}")).collect()
}

/// The AWS managed policies of an Auto Mode cluster role, the first of which is all that a
/// cluster without Auto Mode needs.
/// <https://docs.aws.amazon.com/eks/latest/userguide/auto-cluster-iam-role.html>
const AUTO_MODE_CLUSTER: [&str; 5] = [
    "AmazonEKSClusterPolicy",
    "AmazonEKSComputePolicy",
    "AmazonEKSBlockStoragePolicy",
    "AmazonEKSLoadBalancingPolicy",
    "AmazonEKSNetworkingPolicy",
];
