//! What the software on a node asks of the account, by capability, and the AWS managed
//! policies that grant it.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::entry::{RequestFile, requests};
use super::feature::Feature;
use super::load::{About, embedded};
use super::range::VersionRanges;
use super::request::Request;
use super::setup::Setup;
use super::version::KarpenterVersion;
use super::versions::judged_as;

/// Something that a node can do if its role lets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Capability {
    /// Become a node of the cluster.
    Join,
    /// Pull images from ECR.
    Pull,
    /// Give pods addresses (IPv4), where the CNI has no role of its own.
    Cni,
    /// Give pods addresses (IPv6), where the CNI has no role of its own.
    CniIpv6,
    /// Hand out the credentials of EKS Pod Identity.
    PodIdentity,
    /// Be reached through Session Manager; no node needs it.
    Ssm,
}

/// Who runs the nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodesOf {
    Karpenter,
    AutoMode,
}

impl Capability {
    pub const ALL: [Self; 6] =
        [Self::Join, Self::Pull, Self::Cni, Self::CniIpv6, Self::PodIdentity, Self::Ssm];
}

/// The capabilities that nodes have from their role; of those, only [`Capability::Ssm`] can be
/// done without. The CNI's are needed only where the CNI has no role of its own, and Pod
/// Identity's only where pods use it.
pub fn capabilities(nodes_of: NodesOf, setup: &Setup) -> Vec<Capability> {
    let cni = match setup.features.contains(&Feature::Ipv6) {
        true => Capability::CniIpv6,
        false => Capability::Cni,
    };
    match nodes_of {
        NodesOf::Karpenter => {
            vec![Capability::Join, Capability::Pull, cni, Capability::PodIdentity, Capability::Ssm]
        }
        NodesOf::AutoMode => vec![Capability::Pull, Capability::PodIdentity],
    }
}

/// The requests that a node makes for one capability.
pub fn node(capability: Capability, setup: &Setup) -> Vec<Request> {
    requests(file(capability), KarpenterVersion::NEWEST, setup)
}

/// The ARNs of the AWS managed policies that upstream and AWS put on a node role, each with
/// what it is for. Others that grant the same serve as well.
pub fn managed_policies(
    version: KarpenterVersion,
    nodes_of: NodesOf,
    partition: &str,
) -> Vec<(Capability, String)> {
    let judged = judged_as(version);
    let wanted = MANAGED.managed.iter().filter(|policy| {
        policy.nodes_of == nodes_of
            && policy.versions.as_ref().is_none_or(|ranges| ranges.contains(judged))
    });
    wanted.map(|p| (p.capability, format!("arn:{partition}:iam::aws:policy/{}", p.name))).collect()
}

/// Where the data comes from.
pub fn about() -> &'static About {
    &MANAGED.about
}

pub(super) fn file(capability: Capability) -> &'static RequestFile {
    &FILES[capability as usize]
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ManagedFile {
    about: About,
    managed: Vec<Managed>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Managed {
    capability: Capability,
    name: String,
    #[serde(rename = "for")]
    nodes_of: NodesOf,
    versions: Option<VersionRanges>,
}

static MANAGED: LazyLock<ManagedFile> =
    LazyLock::new(|| embedded(include_str!("../../policies/node/managed.toml")));

/// In the order of [`Capability::ALL`].
static FILES: LazyLock<[RequestFile; 6]> = LazyLock::new(|| {
    [
        embedded(include_str!("../../policies/node/requests/join.toml")),
        embedded(include_str!("../../policies/node/requests/pull.toml")),
        embedded(include_str!("../../policies/node/requests/cni.toml")),
        embedded(include_str!("../../policies/node/requests/cni-ipv6.toml")),
        embedded(include_str!("../../policies/node/requests/pod-identity.toml")),
        embedded(include_str!("../../policies/node/requests/ssm.toml")),
    ]
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pull_policy_changed_its_name_in_1_4() {
        about().assert_sound();
        for (version, pull) in [
            ("1.3.8", "arn:aws:iam::aws:policy/AmazonEC2ContainerRegistryReadOnly"),
            ("1.4.0", "arn:aws:iam::aws:policy/AmazonEC2ContainerRegistryPullOnly"),
        ] {
            let policies = managed_policies(version.parse().unwrap(), NodesOf::Karpenter, "aws");
            assert_eq!(policies.len(), 4);
            assert!(policies.contains(&(Capability::Pull, pull.to_owned())), "{version}");
        }
        let auto = managed_policies(KarpenterVersion::NEWEST, NodesOf::AutoMode, "aws-cn");
        assert_eq!(auto.len(), 2);
        assert!(auto.iter().all(|(_, arn)| arn.starts_with("arn:aws-cn:iam::aws:policy/")));
    }

    #[test]
    fn auto_mode_nodes_call_nothing_to_join() {
        let setup = Setup::new("aws", "eu-west-1", "111122223333", "prod");
        let of = |nodes_of| capabilities(nodes_of, &setup);
        assert!(!of(NodesOf::AutoMode).contains(&Capability::Join));
        assert!(of(NodesOf::Karpenter).contains(&Capability::Cni));
        // Every managed policy is there for a capability that such nodes have.
        for nodes_of in [NodesOf::Karpenter, NodesOf::AutoMode] {
            for (capability, arn) in managed_policies(KarpenterVersion::NEWEST, nodes_of, "aws") {
                assert!(of(nodes_of).contains(&capability), "{arn}");
            }
        }
    }

    #[test]
    fn each_capability_has_its_own_requests() {
        let setup = Setup::new("aws", "eu-west-1", "111122223333", "prod");
        for (capability, action) in [
            (Capability::Join, "ec2:DescribeInstances"),
            (Capability::Pull, "ecr:BatchGetImage"),
            (Capability::Cni, "ec2:AssignPrivateIpAddresses"),
            (Capability::CniIpv6, "ec2:AssignIpv6Addresses"),
            (Capability::PodIdentity, "eks-auth:AssumeRoleForPodIdentity"),
            (Capability::Ssm, "ssm:UpdateInstanceInformation"),
        ] {
            assert!(node(capability, &setup).iter().any(|r| r.action == action), "{action}");
        }
    }
}
