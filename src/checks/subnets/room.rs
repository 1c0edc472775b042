//! Whether a subnet has room for one more node, and what follows if it has not.

use super::{API, more::new_subnet};
use crate::{
    checks::{
        Context, Stop,
        remedies::quote,
        selection::{Selector, single_tag},
    },
    facts::ec2::Subnet,
    outcome::{Finding, Remedy},
    target::{Product, Tag},
};

/// For whom nodes are launched into the subnet.
#[derive(Debug, Clone, Copy)]
pub enum Consumer<'a> {
    /// Whoever selects it.
    Selector(&'a Selector<'a>),
    /// The built-in node pools of EKS Auto Mode, where their NodeClass is not known.
    BuiltInPools,
}

/// How the nodes' pods get IPv4 addresses from the subnet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pods {
    /// The VPC CNI of one's own, with its default settings.
    Cni,
    /// Blocks of 16.
    Blocks,
    /// One at a time.
    Single,
    /// Not from this subnet.
    Elsewhere,
}

impl Consumer<'_> {
    fn pods(self) -> Pods {
        match self {
            Self::BuiltInPools => Pods::Blocks,
            Self::Selector(Selector::Class(class)) if class.product == Product::AutoMode => {
                match class.spec.ipv4_prefix_size.as_deref() {
                    _ if !class.spec.pod_subnet_terms.is_empty() => Pods::Elsewhere,
                    Some("32") => Pods::Single,
                    _ => Pods::Blocks,
                }
            }
            Self::Selector(_) => Pods::Cni,
        }
    }

    /// IPv4 addresses that a node takes with its first pods.
    ///
    /// With Karpenter the VPC CNI keeps a whole interface warm beside the one in use
    /// (`WARM_ENI_TARGET=1`), and the interfaces of a `large` instance hold 10 addresses each;
    /// with prefixes it is about the same.
    /// <https://docs.aws.amazon.com/eks/latest/best-practices/vpc-cni.html>
    ///
    /// A node of EKS Auto Mode takes its own and a block of 16 for pods.
    /// <https://docs.aws.amazon.com/eks/latest/userguide/create-node-class.html>
    fn per_node(self) -> u32 {
        match self.pods() {
            Pods::Cni => 20,
            Pods::Blocks => 17,
            Pods::Single => 2,
            Pods::Elsewhere => 1,
        }
    }

    fn takes(self) -> &'static str {
        match self.pods() {
            Pods::Cni => {
                "With the VPC CNI's default settings a node takes 20 on a large instance and more \
                 on larger ones"
            }
            Pods::Blocks => "A node takes its own address and a whole block of 16 for its pods",
            Pods::Single => "A node takes its own address and one for each pod",
            Pods::Elsewhere => "A node takes its own address",
        }
    }

    /// Its name, and that of the subnets it picks from.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::BuiltInPools => ("EKS", "subnet of the cluster"),
            Self::Selector(Selector::Class(class)) => (class.launcher(), "selected subnet"),
            Self::Selector(Selector::Tag(_)) => ("Karpenter", "selected subnet"),
        }
    }

    /// The tag that makes a new subnet be used.
    fn tag(self) -> Option<Tag> {
        match self {
            Self::Selector(Selector::Tag(tag)) => Some((*tag).clone()),
            Self::Selector(Selector::Class(class)) => {
                class.spec.subnet_terms.iter().find_map(single_tag)
            }
            Self::BuiltInPools => None,
        }
    }

    /// How a new subnet comes to be used.
    fn selecting(self) -> String {
        match self {
            Self::Selector(Selector::Tag(tag)) => format!("give it the tag {tag}"),
            Self::Selector(Selector::Class(class)) => format!("let {class} select it"),
            Self::BuiltInPools => {
                "select it in a NodeClass and NodePool of your own, as the built-in node pools \
                 stay in these subnets"
                    .to_owned()
            }
        }
    }
}

/// The same on an IPv6 cluster: the node's own; pods take IPv6 addresses.
const PER_NODE_IPV6: u32 = 1;

/// A subnet and the one with the most free addresses in its zone and VPC.
pub struct Room<'a> {
    subnet: &'a Subnet,
    best: &'a Subnet,
}

impl<'a> Room<'a> {
    /// The room in a subnet, given all that a launch may pick from.
    pub fn of(subnet: &'a Subnet, all: impl Iterator<Item = &'a Subnet>) -> Self {
        let best = all
            .filter(|other| other.zone == subnet.zone && other.vpc_id == subnet.vpc_id)
            .max_by_key(|other| other.free_addresses)
            .unwrap_or(subnet);
        Self { subnet, best }
    }

    pub fn judge(&self, cx: &Context<'_>, consumer: Consumer<'_>) -> Result<Finding, Stop> {
        let Subnet { id, zone, free_addresses: free, .. } = self.subnet;
        let asked = cx.target.thresholds.free_addresses;
        let per_node = self.threshold(cx, consumer, asked)?;
        let enough = *free >= per_node;
        if enough && asked.is_none_or(|asked| *free >= asked) {
            let fit = match per_node {
                PER_NODE_IPV6 => String::new(),
                _ => format!(", enough for about {} small nodes", free / consumer.per_node()),
            };
            return Ok(Finding::pass(format!("{free} free addresses in {zone}{fit}.")));
        }
        let seen = match free {
            0 => format!("{id} in {zone} has no free address."),
            1 => format!("{id} in {zone} has 1 free address."),
            _ => format!("{id} in {zone} has {free} free addresses."),
        };
        let short = match asked {
            Some(asked) if enough => Finding::warn(
                seen,
                format!(
                    "Nothing stops yet: it is fewer than the {asked} that the configuration asks \
                     for (thresholds.free_addresses)."
                ),
            ),
            _ => self.short(seen, per_node, consumer),
        };
        Ok(short
            .errors(&["insufficient-free-addresses"])
            .evidence(API, "Subnets[].AvailableIpAddressCount", free.to_string())
            .mend(self.remedy(cx, consumer)))
    }

    /// The addresses that the next node needs. Where the IP family is not known, it matters only
    /// between the two thresholds.
    fn threshold(
        &self,
        cx: &Context<'_>,
        consumer: Consumer<'_>,
        asked: Option<u32>,
    ) -> Result<u32, Stop> {
        let ipv4 = asked.map_or(consumer.per_node(), |asked| asked.clamp(1, consumer.per_node()));
        let decided = |free: u32| !(PER_NODE_IPV6..ipv4).contains(&free);
        match cx.cluster() {
            Ok(cluster) if cluster.network.ip_family.as_deref() == Some("ipv6") => {
                Ok(PER_NODE_IPV6)
            }
            Ok(_) => Ok(ipv4),
            Err(_) if decided(self.subnet.free_addresses) && decided(self.best.free_addresses) => {
                Ok(ipv4)
            }
            Err(stop) => Err(stop),
        }
    }

    fn short(&self, seen: String, per_node: u32, consumer: Consumer<'_>) -> Finding {
        let Subnet { id, zone, .. } = self.subnet;
        let (who, subnet) = consumer.names();
        let left = self.best.free_addresses;
        if left >= per_node {
            return Finding::warn(
                seen,
                format!(
                    "Nothing stops yet: in {zone} {who} takes {}, which has {left} free. Nodes \
                     and pods that are in {id} already get no further addresses there.",
                    self.best.id
                ),
            );
        }
        if left == 0 {
            return Finding::fail(
                seen,
                format!(
                    "No {subnet} in {zone} has a free address, and {who} picks one all the same: \
                     every launch in {zone} fails."
                ),
            );
        }
        Finding::warn(
            seen,
            format!(
                "The most that a {subnet} in {zone} has left is {left}. {}, so the next node may \
                 start, but its pods may get no addresses.",
                consumer.takes()
            ),
        )
    }

    fn remedy(&self, cx: &Context<'_>, consumer: Consumer<'_>) -> Remedy {
        let Subnet { id, zone, vpc_id, .. } = self.subnet;
        let (prefixes, managed) = match consumer.pods() {
            Pods::Cni => {
                (" Prefixes or custom networking make pods take fewer of these addresses.", "")
            }
            // EC2 leaves out what a service manages unless it is asked for it.
            _ => ("", " --include-managed-resources"),
        };
        let remedy = Remedy::new(format!(
            "See what holds the addresses; then add a larger subnet in {zone}, from a secondary \
             CIDR block of {vpc_id} if need be, and {}.{prefixes}",
            consumer.selecting()
        ))
        .run(format!(
            "aws ec2 describe-network-interfaces --region {} --filters Name=subnet-id,Values={id}\
             {managed} --query \
             'NetworkInterfaces[].[NetworkInterfaceId,InterfaceType,Description]' --output text",
            quote(cx.region())
        ));
        match consumer.tag() {
            Some(tag) => new_subnet(cx, remedy, self.subnet, &tag),
            None => remedy,
        }
    }
}
