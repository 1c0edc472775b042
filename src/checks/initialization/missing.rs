//! What a node waits for, and the DaemonSet that should bring it.

use super::condition;
use crate::{
    checks::{Context, Stop, remedies::quote},
    facts::kubernetes::{node::Node, node_pool::NodeClaim, quantity, workloads::DaemonSet},
    outcome::Remedy,
};

/// What a node waits for.
pub enum Missing {
    /// A resource that the node does not offer.
    Resource(String),
    /// A taint that nobody takes off; `true` where the NodePool calls it a start-up taint.
    Taint(String, bool),
    /// The node is not Ready, and what its condition says of it.
    Ready(String),
    /// Anything else, in Karpenter's words.
    Other(String),
}

/// Who offers a resource or takes off a taint: what the name or an image of the DaemonSet holds,
/// what it is, and where it comes from.
struct Provider {
    of: &'static str,
    marks: &'static [&'static str],
    name: &'static str,
    from: &'static str,
}

const PROVIDERS: &[Provider] = &[
    Provider {
        of: "nvidia.com/gpu",
        marks: &["nvidia-device-plugin", "k8s-device-plugin", "nvidia-dra"],
        name: "NVIDIA's device plug-in",
        from: "https://github.com/NVIDIA/k8s-device-plugin",
    },
    Provider {
        of: "amd.com/gpu",
        marks: &["amdgpu-device-plugin", "amdgpu-dp", "rocm/k8s-device-plugin"],
        name: "AMD's device plug-in",
        from: "https://github.com/ROCm/k8s-device-plugin",
    },
    Provider {
        of: "aws.amazon.com/neuron",
        marks: &["neuron-device-plugin"],
        name: "the Neuron device plug-in",
        from: "https://awsdocs-neuron.readthedocs-hosted.com/en/latest/containers/kubernetes-getting-started.html",
    },
    Provider {
        of: "habana.ai/gaudi",
        marks: &["habanalabs-device-plugin", "habana"],
        name: "the Habana device plug-in",
        from: "https://docs.habana.ai/",
    },
    Provider {
        of: "vpc.amazonaws.com/efa",
        marks: &["aws-efa-k8s-device-plugin"],
        name: "the EFA device plug-in",
        from: "https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html",
    },
    Provider {
        of: "ebs.csi.aws.com/agent-not-ready",
        marks: &["ebs-csi-node", "aws-ebs-csi-driver"],
        name: "the EBS CSI driver",
        from: "https://docs.aws.amazon.com/eks/latest/userguide/ebs-csi.html",
    },
    Provider {
        of: "efs.csi.aws.com/agent-not-ready",
        marks: &["efs-csi-node", "aws-efs-csi-driver"],
        name: "the EFS CSI driver",
        from: "https://docs.aws.amazon.com/eks/latest/userguide/efs-csi.html",
    },
    Provider {
        of: "node.cilium.io/agent-not-ready",
        marks: &["cilium"],
        name: "Cilium",
        from: "https://docs.cilium.io/en/stable/installation/taints/",
    },
];

/// The VPC CNI offers this one where it is told to.
const POD_ENI: &str = "vpc.amazonaws.com/pod-eni";

/// Whether the VPC CNI is known to be told to offer it.
fn pod_eni_is_on(cx: &Context<'_>) -> bool {
    cx.facts.kubernetes.cni.value().is_some_and(|cni| cni.pod_eni)
}

/// A provider's name, where to get it, and its DaemonSet if that is there.
pub type Provided = (&'static str, &'static str, Option<DaemonSet>);

/// The DaemonSet that offers a resource or takes off a taint, by the key of either. `None` where
/// nothing is known of the key.
pub fn provider(cx: &Context<'_>, key: &str) -> Option<Result<Provided, Stop>> {
    let provider = PROVIDERS.iter().find(|provider| key.starts_with(provider.of))?;
    Some(daemon_set(cx, provider.marks).map(|found| (provider.name, provider.from, found)))
}

fn daemon_set(cx: &Context<'_>, marks: &[&str]) -> Result<Option<DaemonSet>, Stop> {
    let all = cx.kubernetes()?.workloads.daemon_sets.known()?;
    let is_it = |set: &&DaemonSet| {
        marks.iter().any(|mark| {
            set.meta.name.contains(mark) || set.images.iter().any(|image| image.contains(mark))
        })
    };
    Ok(all.iter().find(is_it).cloned())
}

impl Missing {
    pub fn of(cx: &Context<'_>, claim: &NodeClaim) -> Self {
        let nodes = cx.facts.kubernetes.nodes.value().into_iter().flatten();
        let node = nodes.into_iter().find(|node| Some(&node.meta.name) == claim.node.as_ref());
        let condition = condition(claim, "Initialized");
        let (reason, message) = condition.map_or(("", ""), |c| (&c.reason, &c.message));
        let quoted = || message.split('"').nth(1).unwrap_or_default().to_owned();
        match reason {
            "ResourceNotRegistered" => Self::Resource(quoted()),
            "StartupTaintsExist" => Self::Taint(quoted(), true),
            "NodeNotReady" => Self::not_ready(node, message),
            "KnownEphemeralTaintsExist" => Self::Taint(quoted(), false),
            _ => node.and_then(|node| Self::seen_on(node, claim)).unwrap_or_else(|| {
                Self::Other(if message.is_empty() { reason } else { message }.to_owned())
            }),
        }
    }

    /// What the node itself shows, where Karpenter does not say it: before 1.0 it gave no reason.
    fn seen_on(node: &Node, claim: &NodeClaim) -> Option<Self> {
        if node.conditions.iter().any(|condition| condition.kind == "Ready") {
            return Some(Self::not_ready(Some(node), ""));
        }
        let is_there = |key: &str| node.taints.iter().any(|taint| taint.key == key);
        if let Some(taint) = claim.startup_taints.iter().find(|taint| is_there(&taint.key)) {
            return Some(Self::Taint(format!("{}:{}", taint.key, taint.effect), true));
        }
        let asked = claim.requests.iter().filter(|(_, wanted)| is_some(Some(wanted)));
        let mut missing = asked.filter(|(name, _)| !is_some(node.allocatable.get(*name)));
        missing.next().map(|(name, _)| Self::Resource(name.clone()))
    }

    fn not_ready(node: Option<&Node>, message: &str) -> Self {
        let ready = node.and_then(|node| node.conditions.iter().find(|c| c.kind == "Ready"));
        Self::Ready(ready.map_or(message, |condition| &condition.message).to_owned())
    }

    /// What NodeClaims are put together by.
    pub fn key(&self) -> String {
        match self {
            Self::Resource(name) => format!("{name} is not registered"),
            Self::Taint(taint, _) => format!("{taint} still exists"),
            Self::Ready(_) => "the node is not Ready".to_owned(),
            Self::Other(text) => text.clone(),
        }
    }

    pub fn error(&self, cx: &Context<'_>) -> &'static str {
        match self {
            Self::Resource(name) if name == POD_ENI && pod_eni_is_on(cx) => "pod-eni-unsupported",
            Self::Ready(_) => "nodes-not-ready",
            _ => "node-not-initialized",
        }
    }

    pub fn words(&self, cx: &Context<'_>) -> Result<String, Stop> {
        Ok(match self {
            Self::Resource(name) if name == POD_ENI && pod_eni_is_on(cx) => {
                "They do not offer vpc.amazonaws.com/pod-eni, although the VPC CNI has \
                 ENABLE_POD_ENI=true: EKS gives it to the instance types that its VPC resource \
                 controller knows, which lacks the newest ones and some small ones, and with the \
                 permissions of the cluster role."
                    .to_owned()
            }
            Self::Resource(name) if name == POD_ENI => {
                "They do not offer vpc.amazonaws.com/pod-eni, which the VPC CNI registers only \
                 with ENABLE_POD_ENI=true."
                    .to_owned()
            }
            Self::Resource(name) => {
                format!("They do not offer {name}, which their pods ask for. {}", who(cx, name)?)
            }
            Self::Taint(taint, true) => {
                format!("The start-up taint {taint} is still on them. {}", who(cx, taint)?)
            }
            Self::Taint(taint, false) => {
                format!("Kubernetes's own taint {taint} is still on them.")
            }
            Self::Ready(message) if message.is_empty() => "They are not Ready.".to_owned(),
            Self::Ready(message) => format!("They are not Ready: {message}."),
            Self::Other(text) if text.is_empty() => "Nothing says why.".to_owned(),
            Self::Other(text) => format!("Karpenter says: {text}."),
        })
    }

    pub fn remedy(&self, cx: &Context<'_>, node: &str) -> Result<Remedy, Stop> {
        let look = format!("kubectl describe node {}", quote(node));
        Ok(match self {
            Self::Resource(name) if name == POD_ENI && pod_eni_is_on(cx) => Remedy::new(
                "Read the node's events: where they say that the type is not supported, leave it \
                 out of the NodePool (instance-family, NotIn) until it is; otherwise see that the \
                 cluster role has AmazonEKSVPCResourceController.",
            )
            .run(format!(
                "kubectl get events --all-namespaces --field-selector {}",
                quote(&format!("involvedObject.kind=Node,involvedObject.name={node}"))
            ))
            .run(look),
            Self::Resource(name) if name == POD_ENI => Remedy::new(
                "Let the VPC CNI give pods interfaces of their own, and see that the cluster role \
                 has AmazonEKSVPCResourceController.",
            )
            .run("kubectl set env daemonset aws-node --namespace kube-system ENABLE_POD_ENI=true"),
            Self::Resource(key) | Self::Taint(key, true) => bring(cx, key)?.run(look),
            Self::Taint(_, false) | Self::Ready(_) => Remedy::new(
                "Look what the node says of itself, and in the kubelet's log for permissions, \
                 security groups and the network: the network plug-in must be ready first.",
            )
            .run(look)
            .run(format!(
                "kubectl get pods --namespace kube-system --output wide --field-selector {}",
                quote(&format!("spec.nodeName={node}"))
            )),
            Self::Other(_) => Remedy::new("Look what the node and the NodeClaim say.").run(look),
        })
    }
}

/// Whether a quantity is there and is not zero.
fn is_some(text: Option<&String>) -> bool {
    quantity::cpu(text) > 0
}

/// Whether the DaemonSet that a key belongs to is there.
fn who(cx: &Context<'_>, key: &str) -> Result<String, Stop> {
    Ok(match provider(cx, key).transpose()? {
        None => "Nothing here is known to bring that about.".to_owned(),
        Some((name, _, None)) => {
            format!("That is what {name} does, and no DaemonSet here looks like it.")
        }
        Some((name, _, Some(set))) => format!(
            "That is what {name} does: DaemonSet {}/{} has {} of {} pods ready.",
            set.meta.namespace, set.meta.name, set.ready, set.desired
        ),
    })
}

fn bring(cx: &Context<'_>, key: &str) -> Result<Remedy, Stop> {
    Ok(match provider(cx, key).transpose()? {
        None => Remedy::new(
            "Find out which DaemonSet or controller brings that about, and see that it runs on \
             these nodes: it must tolerate their taints. A start-up taint that nothing takes off \
             does not belong in the NodePool.",
        )
        .run("kubectl get daemonsets --all-namespaces"),
        Some((name, from, None)) => Remedy::new(format!(
            "Install {name} ({from}), so that it runs on these nodes, or use an AMI that brings it."
        )),
        Some((name, _, Some(set))) => Remedy::new(format!(
            "See why {name} does not do it on these nodes: it must select them and tolerate their \
             taints."
        ))
        .run(format!("kubectl get pods --namespace {} --output wide", quote(&set.meta.namespace)))
        .run(format!(
            "kubectl describe daemonset {} --namespace {}",
            quote(&set.meta.name),
            quote(&set.meta.namespace)
        )),
    })
}
