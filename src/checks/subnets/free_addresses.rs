//! Whether the selected subnets have addresses left for nodes and their pods.

use super::{
    API,
    room::{Consumer, Room},
    selected,
};
use crate::{
    checks::{Area, Check, Context, Judged, Verdicts},
    facts::ec2::Subnet,
    target::Product,
};

pub static CHECK: Check = Check {
    id: "subnets-free-addresses",
    title: "The selected subnets have free addresses",
    area: Area::Launch,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["insufficient-free-addresses"],
    needs: &["eks:DescribeCluster", API],
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
    let judge = |subnet: &Subnet| {
        Judged::new(&subnet.id, || {
            let room = Room::of(subnet, subnets.iter());
            room.judge(cx, Consumer::Karpenter)
        })
    };
    Ok(subnets.iter().map(judge).collect())
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
    fn the_effect_looks_at_the_zone() {
        for (best, effect) in [
            (20, "Nothing stops yet: in a Karpenter takes subnet-02, which has 20 free."),
            (19, "The most that a selected subnet in a has left is 19."),
            (0, "every launch in a fails"),
        ] {
            let patch =
                selected(&[("subnet-01", "a", "vpc-01", 0), ("subnet-02", "a", "vpc-01", best)]);
            let found = Account::Karpenter.judge(&CHECK, &patch).remove(0);
            assert!(found.effect.contains(effect), "{best}: {}", found.effect);
        }
    }

    #[test]
    fn rows() {
        let ipv6 = |free| {
            let mut patch = selected(&[("subnet-01", "a", "vpc-01", free)]);
            patch["facts"]["cluster"] = json!({"known": {"network": {"ip_family": "ipv6"}}});
            patch
        };
        let unseen = |free| {
            let mut patch = selected(&[("subnet-01", "a", "vpc-01", free)]);
            patch["facts"]["cluster"] =
                json!({"denied": {"action": "eks:DescribeCluster", "message": "no"}});
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
                ("IPv4 or IPv6, enough for both", unseen(20), &[(Status::Pass, "subnet-01")]),
                ("IPv4 or IPv6, enough for one", unseen(19), &[(Status::Unknown, "subnet-01")]),
                ("IPv4 or IPv6, none", unseen(0), &[(Status::Fail, "subnet-01")]),
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
