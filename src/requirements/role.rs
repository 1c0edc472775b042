//! Everything that a role, or the queue, is to be given: trust policy, managed policies and
//! policies of one's own, filled in and ready to attach.

use serde_json::Value;

use super::auto_mode::CUSTOM_TAGS;
use super::fill::Values;
use super::load::embedded_json;
use super::node::{NodesOf, managed_policies};
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
#[derive(Debug, Clone, PartialEq)]
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
    let values = Values::new(version, setup);
    let fill = |text: &'static str| values.fill_json(&embedded_json(text));
    let own = |name: String, text: &'static str| Policy { name, document: fill(text) };
    let managed = |nodes_of| {
        managed_policies(version, nodes_of, &setup.partition).into_iter().map(|(_, arn)| arn)
    };
    let eks = |names: &[&str]| -> Vec<String> {
        names.iter().map(|n| format!("arn:{}:iam::aws:policy/{n}", setup.partition)).collect()
    };
    match kind {
        Kind::Controller => Printed {
            trust: Some(fill(match setup.oidc_provider {
                Some(_) => include_str!("../../policies/trust/controller-irsa.json"),
                None => include_str!("../../policies/trust/controller-pod-identity.json"),
            })),
            managed: Vec::new(),
            policies: controller(version, setup, layout),
        },
        Kind::Node | Kind::AutoModeNode => Printed {
            trust: Some(fill(include_str!("../../policies/trust/node.json"))),
            managed: match kind {
                Kind::Node => managed(NodesOf::Karpenter).collect(),
                _ => managed(NodesOf::AutoMode).collect(),
            },
            policies: Vec::new(),
        },
        Kind::Cluster => Printed {
            trust: Some(fill(include_str!("../../policies/trust/cluster.json"))),
            managed: eks(&["AmazonEKSClusterPolicy"]),
            policies: Vec::new(),
        },
        Kind::AutoModeCluster => Printed {
            trust: Some(fill(include_str!("../../policies/trust/cluster-auto-mode.json"))),
            managed: eks(&AUTO_MODE_CLUSTER),
            policies: match CUSTOM_TAGS.iter().any(|feature| setup.features.contains(feature)) {
                true => vec![own(
                    format!("EKSAutoModeCustomTags-{}", setup.cluster),
                    include_str!("../../policies/auto-mode/custom-tags.json"),
                )],
                false => Vec::new(),
            },
        },
        Kind::Queue => Printed {
            trust: None,
            managed: Vec::new(),
            policies: vec![own(
                "EC2InterruptionPolicy".to_owned(),
                include_str!("../../policies/queue/policy.json"),
            )],
        },
        Kind::Preflight => Printed {
            trust: None,
            managed: Vec::new(),
            policies: vec![own(
                "KarpenterPreflightReadOnly".to_owned(),
                include_str!("../../policies/preflight-read-only.json"),
            )],
        },
    }
}

/// The AWS managed policies of an Auto Mode cluster role.
/// <https://docs.aws.amazon.com/eks/latest/userguide/auto-cluster-iam-role.html>
const AUTO_MODE_CLUSTER: [&str; 5] = [
    "AmazonEKSClusterPolicy",
    "AmazonEKSComputePolicy",
    "AmazonEKSBlockStoragePolicy",
    "AmazonEKSLoadBalancingPolicy",
    "AmazonEKSNetworkingPolicy",
];
