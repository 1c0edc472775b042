//! Whether the subnets have whole blocks of 16 addresses left for nodes that take such.

use std::collections::BTreeSet;

use super::more::new_subnet;
use crate::{
    checks::{
        Area, Check, Context, Judged, Stop, Verdicts,
        network::{Block, node_subnets},
        remedies::quote,
        selection::{Selector, selectors, single_tag},
    },
    facts::ec2::Subnet,
    outcome::{Finding, Remedy},
    target::{Product, Tag, names},
};

const INTERFACES: &str = "ec2:DescribeNetworkInterfaces";
/// A prefix has 16 addresses and begins at a multiple of 16.
const PREFIX_BITS: u8 = 28;
/// Blocks below which a scale-up soon meets the end: a node takes one, and keeps one warm.
const FEW: usize = 8;

pub static CHECK: Check = Check {
    id: "subnet-prefixes",
    title: "The subnets have whole blocks of addresses left",
    area: Area::Launch,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["prefix-allocation-failed", "failed-assign-ip"],
    needs: &["eks:DescribeCluster", "eks:DescribeAddon", super::API, INTERFACES],
    doc: "\
## What
Where nodes take prefixes, each subnet that they are launched into has free blocks of 16 addresses
that begin at a multiple of 16. Nodes of EKS Auto Mode take them unless the NodeClass says
otherwise, those of Karpenter where the VPC CNI has `ENABLE_PREFIX_DELEGATION`. The blocks are
counted from the addresses of all network interfaces; CIDR reservations are not read.

## Why
EC2 counts free addresses and not free blocks: single addresses of load balancers, endpoints and
other pods, strewn over a subnet, leave hundreds of addresses free and no block whole. New nodes
then start, and their pods get no addresses.

## Seen as
`InsufficientCidrBlocks: The specified subnet does not have enough free cidr blocks` in the log of
the VPC CNI, and `failed to assign an IP address to container`.

## Fix
Launch nodes into subnets of their own, or reserve a part of the subnet for prefixes while it is
still empty.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    takes_prefixes(cx)?;
    let subnets = node_subnets(cx)?;
    Ok(subnets
        .iter()
        .map(|subnet| Judged::new(&subnet.id, || judge(cx, subnet, &subnets)))
        .collect())
}

/// Stops where nodes take single addresses.
fn takes_prefixes(cx: &Context<'_>) -> Result<(), Stop> {
    if cx.cluster()?.network.ip_family.as_deref() == Some("ipv6") {
        return Err(Stop::skipped("pods take IPv6 addresses, of which there are enough"));
    }
    if cx.target.runs(Product::AutoMode) {
        return Ok(());
    }
    let by_daemon_set = cx.facts.kubernetes.cni.value().is_some_and(|cni| cni.prefix_delegation);
    let addon = cx.facts.addons.get(names::CNI_ADDON);
    if by_daemon_set || names::takes_prefixes(&cx.facts.addons) {
        return Ok(());
    }
    if let Some(addon) = addon {
        addon.found()?;
    }
    Err(Stop::skipped("nodes take single addresses, not prefixes"))
}

fn judge(cx: &Context<'_>, subnet: &Subnet, all: &[&Subnet]) -> Result<Finding, Stop> {
    let Some(free) = free_blocks(cx, subnet)? else {
        return Err(Stop::unknown("ec2:DescribeSubnets shows no IPv4 block for it"));
    };
    let Subnet { id, zone, free_addresses, .. } = subnet;
    if free >= FEW {
        return Ok(Finding::pass(format!("{free} blocks of 16 are free in {zone}.")));
    }
    if *free_addresses < 1 << (32 - PREFIX_BITS) {
        return Err(Stop::skipped(
            "it has too few free addresses for a block (see subnets-free-addresses)",
        ));
    }
    let seen = format!(
        "{id} in {zone} has {free_addresses} free addresses, but {} of 16 in a row.",
        match free {
            0 => "no block".to_owned(),
            1 => "1 block".to_owned(),
            _ => format!("{free} blocks"),
        }
    );
    let mut elsewhere = false;
    for other in all.iter().filter(|other| other.id != *id && other.zone == *zone) {
        elsewhere |= free_blocks(cx, other)?.is_some_and(|free| free >= FEW);
    }
    let finding = if free == 0 && !elsewhere {
        Finding::fail(
            seen,
            format!("New nodes in {zone} start, and their pods get no addresses beyond a few."),
        )
    } else {
        Finding::warn(
            seen,
            "Nodes there soon get no further prefixes, and their pods no addresses.",
        )
    };
    let words = format!(
        "Put nodes into a subnet of their own in {zone}, here a new one. See what holds the \
         addresses: the first command lists it. In an empty subnet, a CIDR reservation of the type \
         prefix keeps a part free for prefixes."
    );
    let list = format!(
        "aws ec2 describe-network-interfaces --region {} --filters Name=subnet-id,Values={id} \
         --include-managed-resources --query \
         'NetworkInterfaces[].[NetworkInterfaceId,InterfaceType,Description]' --output text",
        quote(cx.region())
    );
    Ok(finding.errors(CHECK.errors).evidence(INTERFACES, "free /28 blocks", free.to_string()).mend(
        match tag(cx) {
            Some(tag) => new_subnet(cx, Remedy::new(words).run(list), subnet, &tag),
            None => Remedy::new(words).run(list),
        },
    ))
}

/// The tag that subnets are selected by, if it is one.
fn tag(cx: &Context<'_>) -> Option<Tag> {
    match selectors(cx).ok()?.first()? {
        Selector::Tag(tag) => Some((*tag).clone()),
        Selector::Class(class) => class.spec.subnet_terms.iter().find_map(single_tag),
    }
}

/// How many whole blocks are free: not in use, and without an address that EC2 keeps.
fn free_blocks(cx: &Context<'_>, subnet: &Subnet) -> Result<Option<usize>, Stop> {
    let used = cx.facts.network.used_blocks.known()?;
    let none = BTreeSet::new();
    let used = used.get(&subnet.id).unwrap_or(&none);
    let Some(block) = subnet.cidr.as_deref().and_then(Block::parse) else { return Ok(None) };
    let all: Vec<Block> = block.split(PREFIX_BITS).collect();
    let kept = [all.first(), all.last()];
    let free = all.iter().filter(|one| {
        let first = one.to_string();
        let first = first.split('/').next().unwrap_or_default();
        !kept.contains(&Some(one)) && !used.contains(first)
    });
    Ok(Some(free.count()))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status,
    };

    /// Subnets of 16 blocks in these zones, with so many of the blocks in use.
    fn used(each: &[(&str, usize)], free_addresses: u32) -> Value {
        let subnet = |n: usize, zone: &str| {
            json!({"id": format!("subnet-0{}", n + 1), "arn": null, "vpc_id": "vpc-01",
                   "zone": zone, "zone_id": null, "cidr": format!("10.0.{}.0/24", 16 * (n + 1)),
                   "free_addresses": free_addresses, "owner": null,
                   "tags": {"karpenter.sh/discovery": "demo"}})
        };
        let subnets: Vec<_> =
            each.iter().enumerate().map(|(n, (zone, _))| subnet(n, zone)).collect();
        let blocks = |n: usize, count: usize| -> Vec<String> {
            (0..count).map(|block| format!("10.0.{}.{}", 16 * (n + 1), 16 * (block + 1))).collect()
        };
        let used: serde_json::Map<_, _> = each
            .iter()
            .enumerate()
            .map(|(n, (_, count))| (format!("subnet-0{}", n + 1), json!(blocks(n, *count))))
            .collect();
        json!({"facts": {
            "discovered_subnets": {"known": subnets}, "vpc_subnets": {"known": subnets},
            "network": {"used_blocks": {"known": used}},
            "addons": {"vpc-cni": {"known": {"env": {"ENABLE_PREFIX_DELEGATION": "true"}}}},
        }})
    }

    #[test]
    fn rows() {
        use Status::{Fail, Pass, Skipped, Unknown, Warn};
        let (one, two) = ("subnet-01", "subnet-02");
        let mut single = used(&[("a", 14)], 200);
        single["facts"]["addons"]["vpc-cni"]["known"]["env"] =
            json!({"ENABLE_PREFIX_DELEGATION": "false"});
        let mut ipv6 = used(&[("a", 14)], 200);
        ipv6["facts"]["cluster"] = json!({"known": {"network": {"ip_family": "ipv6"}}});
        let mut unread = used(&[("a", 14)], 200);
        unread["facts"]["network"]["used_blocks"] =
            json!({"denied": {"action": INTERFACES, "message": "no"}});
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("single addresses", json!({}), &[(Skipped, "demo")]),
                ("switched off", single, &[(Skipped, "demo")]),
                ("IPv6", ipv6, &[(Skipped, "demo")]),
                ("all but the kept ones", used(&[("a", 0)], 251), &[(Pass, one)]),
                ("enough", used(&[("a", 6)], 200), &[(Pass, one)]),
                ("few", used(&[("a", 7)], 200), &[(Warn, one)]),
                ("strewn", used(&[("a", 14)], 200), &[(Fail, one)]),
                ("room beside it", used(&[("a", 14), ("a", 0)], 200), &[(Warn, one), (Pass, two)]),
                (
                    "room in another zone",
                    used(&[("a", 14), ("b", 0)], 200),
                    &[(Fail, one), (Pass, two)],
                ),
                ("full anyway", used(&[("a", 14)], 9), &[(Skipped, one)]),
                ("unread", unread, &[(Unknown, one)]),
            ],
        );
        let mut auto_mode = used(&[("a", 14)], 200);
        auto_mode["facts"]["addons"] = json!({});
        auto_mode["facts"]["cluster"] =
            json!({"known": {"network": {"subnet_ids": ["subnet-01"]}}});
        assert_rows(Account::AutoMode, &CHECK, &[("Auto Mode", auto_mode, &[(Fail, one)])]);
    }

    #[test]
    fn the_remedy_makes_a_subnet_that_overlaps_with_none() {
        let commands = |patch: &Value| {
            let found = Account::Karpenter.judge(&CHECK, patch).remove(0);
            serde_json::to_string(&found.remedy.expect("it is mended").steps).unwrap()
        };
        let roomy = used(&[("a", 14)], 200);
        let made = commands(&roomy);
        assert!(made.contains("--cidr-block 10.0.32.0/19"), "{made}");
        assert!(!made.contains("associate-vpc-cidr-block"), "{made}");
        assert!(made.contains("delete-tags --region us-west-2 --resources subnet-01"), "{made}");
        let mut full = roomy;
        full["facts"]["network"]["vpc"] =
            json!({"known": {"cidrs": ["10.0.16.0/24", "100.64.0.0/16"]}});
        let taken = json!({"id": "subnet-21", "arn": null, "vpc_id": "vpc-01", "zone": "a",
            "zone_id": null, "cidr": "100.64.0.0/16", "free_addresses": 9, "owner": null, "tags": {}});
        full["facts"]["vpc_subnets"]["known"].as_array_mut().unwrap().push(taken);
        let made = commands(&full);
        assert!(made.contains("associate-vpc-cidr-block --region us-west-2 --vpc-id vpc-01 --cidr-block 100.65.0.0/16"), "{made}");
        assert!(made.contains("--cidr-block 100.65.0.0/19"), "{made}");
        let mut shared = full;
        shared["facts"]["network"]["vpc"]["known"]["owner"] = json!("999999999999");
        assert!(!commands(&shared).contains("create-subnet"));
    }
}
