//! Whether the selected subnets have addresses left for nodes and their pods.

use super::{API, selected};
use crate::{
    checks::{Area, Check, Context, Judged, Verdicts, remedies::quote},
    facts::ec2::Subnet,
    outcome::{Finding, Remedy},
    target::Product,
};

/// IPv4 addresses that a node takes as soon as one pod runs on it: the VPC CNI keeps a whole
/// interface warm beside the one in use (`WARM_ENI_TARGET=1`), and the interfaces of a `large`
/// instance hold 10 addresses each. With prefixes it is about the same: one for the node and a
/// block of 16. <https://docs.aws.amazon.com/eks/latest/best-practices/vpc-cni.html>
const PER_NODE: u32 = 20;

/// The same on an IPv6 cluster: the node's own; pods take IPv6 addresses.
const PER_NODE_IPV6: u32 = 1;

pub static CHECK: Check = Check {
    id: "subnets-free-addresses",
    title: "The selected subnets have free addresses",
    area: Area::Launch,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["insufficient-free-addresses"],
    needs: &[API],
    doc: "\
## What
Each zone has, in the subnets that the discovery tag selects, free IPv4 addresses for at least
one more node and its pods: 20, and 1 on an IPv6 cluster.

## Why
A launch takes an address for the node, and the VPC CNI takes more for its pods: with its default
settings two whole interfaces, 20 addresses on a `large` instance and more on larger ones. In
each zone Karpenter takes the selected subnet with the most free addresses, even if that is none.
So a full subnet beside one with room in the same zone does no harm yet, and is a warning. A zone
whose subnets are all full is a fail.

## Seen as
`InsufficientFreeAddressesInSubnet` on the NodeClaim; pods that get no address show
`failed to assign an IP address to container`.

## Fix
Add a larger subnet in the zone, from a secondary CIDR block if need be, and tag it.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let subnets = selected(cx)?;
    let ipv6 = cx
        .facts
        .cluster
        .value()
        .is_some_and(|cluster| cluster.network.ip_family.as_deref() == Some("ipv6"));
    let per_node = if ipv6 { PER_NODE_IPV6 } else { PER_NODE };
    let judge = |subnet: &Subnet| {
        let best = subnets
            .iter()
            .filter(|other| other.zone == subnet.zone && other.vpc_id == subnet.vpc_id)
            .max_by_key(|other| other.free_addresses)
            .unwrap_or(subnet);
        Judged::new(&subnet.id, || Ok(judge(cx, subnet, best, per_node)))
    };
    Ok(subnets.iter().map(judge).collect())
}

/// Judges a subnet, given the one with the most free addresses in its zone.
fn judge(cx: &Context<'_>, subnet: &Subnet, best: &Subnet, per_node: u32) -> Finding {
    let Subnet { id, zone, free_addresses: free, .. } = subnet;
    let left = best.free_addresses;
    if *free >= per_node {
        return Finding::pass(format!("{free} free addresses in {zone}."));
    }
    let seen = match free {
        0 => format!("{id} in {zone} has no free address."),
        1 => format!("{id} in {zone} has 1 free address."),
        _ => format!("{id} in {zone} has {free} free addresses."),
    };
    let finding = if left >= per_node {
        Finding::warn(
            seen,
            format!(
                "Nothing stops yet: in {zone} Karpenter takes {}, which has {left} free. Nodes \
                 and pods that are in {id} already get no further addresses there.",
                best.id
            ),
        )
    } else if left == 0 {
        Finding::fail(
            seen,
            format!(
                "No selected subnet in {zone} has a free address, and Karpenter picks one all the \
                 same: every launch in {zone} fails."
            ),
        )
    } else {
        Finding::warn(
            seen,
            format!(
                "The most that a selected subnet in {zone} has left is {left}. With the VPC CNI's \
                 default settings a node takes {per_node} on a large instance and more on larger \
                 ones, so the next node may start, but its pods may get no addresses."
            ),
        )
    };
    finding
        .errors(&["insufficient-free-addresses"])
        .evidence(API, "Subnets[].AvailableIpAddressCount", free.to_string())
        .mend(remedy(cx, subnet))
}

fn remedy(cx: &Context<'_>, subnet: &Subnet) -> Remedy {
    Remedy::new(format!(
        "See what holds the addresses; then add a larger subnet in {}, from a secondary CIDR \
         block of {} if need be, and give it the tag {}. Prefixes or custom networking make pods \
         take fewer of these addresses.",
        subnet.zone, subnet.vpc_id, cx.target.discovery_tag.value
    ))
    .run(format!(
        "aws ec2 describe-network-interfaces --region {} --filters Name=subnet-id,Values={} \
         --query 'NetworkInterfaces[].[NetworkInterfaceId,InterfaceType,Description]' \
         --output text",
        quote(cx.region()),
        subnet.id
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status,
    };

    fn selected(subnets: &[(&str, &str, &str, u32)]) -> Value {
        let subnet = |&(id, zone, vpc, free): &(&str, &str, &str, u32)| {
            json!({"id": id, "arn": null, "vpc_id": vpc, "zone": zone, "zone_id": null,
                   "cidr": null, "free_addresses": free, "owner": null, "tags": {}})
        };
        let subnets: Vec<_> = subnets.iter().map(subnet).collect();
        json!({"facts": {"discovered_subnets": {"known": subnets}}})
    }

    #[test]
    fn rows() {
        let ipv6 = |free| {
            let mut patch = selected(&[("subnet-01", "a", "vpc-01", free)]);
            patch["facts"]["cluster"] = json!({"known": {"network": {"ip_family": "ipv6"}}});
            patch
        };
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                (
                    "room",
                    json!({}),
                    &[
                        (Status::Pass, "subnet-01"),
                        (Status::Pass, "subnet-02"),
                        (Status::Pass, "subnet-03"),
                    ],
                ),
                (
                    "one zone is full",
                    selected(&[("subnet-01", "a", "vpc-01", 0), ("subnet-02", "b", "vpc-01", 20)]),
                    &[(Status::Fail, "subnet-01"), (Status::Pass, "subnet-02")],
                ),
                (
                    "full beside one with room",
                    selected(&[("subnet-01", "a", "vpc-01", 0), ("subnet-02", "a", "vpc-01", 20)]),
                    &[(Status::Warn, "subnet-01"), (Status::Pass, "subnet-02")],
                ),
                (
                    "the one with room is in another VPC",
                    selected(&[("subnet-01", "a", "vpc-01", 0), ("subnet-09", "a", "vpc-02", 20)]),
                    &[(Status::Fail, "subnet-01"), (Status::Pass, "subnet-09")],
                ),
                (
                    "not enough for a node's pods",
                    selected(&[("subnet-01", "a", "vpc-01", 19), ("subnet-02", "b", "vpc-01", 1)]),
                    &[(Status::Warn, "subnet-01"), (Status::Warn, "subnet-02")],
                ),
                ("IPv6: the node's own", ipv6(1), &[(Status::Pass, "subnet-01")]),
                ("IPv6: none", ipv6(0), &[(Status::Fail, "subnet-01")]),
                ("none selected", selected(&[]), &[(Status::Skipped, "demo")]),
                (
                    "not readable",
                    json!({"facts": {"discovered_subnets": {"denied": {"action": API, "message": "no"}}}}),
                    &[(Status::Unknown, "demo")],
                ),
            ],
        );
    }
}
