//! Whether the selected subnets have addresses left for nodes and their pods.

use super::{
    API, each_selection,
    room::{Consumer, Room},
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
Each zone has, in the subnets that a NodeClass selects, free IPv4 addresses for at least one more
node and its pods: 20 with Karpenter, 17 with EKS Auto Mode, and 1 on an IPv6 cluster. Where no
NodeClass is known, the subnets with the discovery tag are judged. `thresholds.free_addresses`
in the configuration asks for more, or for less.

## Why
A launch takes an address for the node, and the VPC CNI takes more for its pods: with its default
settings two whole interfaces, 20 addresses on a `large` instance and more on larger ones. A node
of EKS Auto Mode takes its own and a block of 16 for pods, and without prefixes
(`ipv4PrefixSize` 32) one for each pod. In each zone Karpenter takes the selected subnet with the most free addresses, even if that is none.
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
    each_selection(cx, |selector, subnets| {
        let judge = |subnet: &&Subnet| {
            Judged::new(selector.subject_of(&subnet.id), || {
                let room = Room::of(subnet, subnets.iter().copied());
                room.judge(cx, Consumer::Selector(selector))
            })
        };
        subnets.iter().map(judge).collect()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status,
    };

    const TAG: &str = "karpenter.sh/discovery=demo";

    fn selected(subnets: &[(&str, &str, &str, u32)]) -> Value {
        let subnet = |&(id, zone, vpc, free): &(&str, &str, &str, u32)| {
            json!({"id": id, "arn": null, "vpc_id": vpc, "zone": zone, "zone_id": null,
                   "cidr": null, "free_addresses": free, "owner": null, "tags": {}})
        };
        let subnets: Vec<_> = subnets.iter().map(subnet).collect();
        json!({"facts": {"discovered_subnets": {"known": subnets}}})
    }

    fn asked(subnets: &[(&str, &str, &str, u32)], free: u32) -> Value {
        let mut patch = selected(subnets);
        patch["scope"] = json!({"thresholds": {"free_addresses": free}});
        patch
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
                (
                    "the user asks for more",
                    asked(
                        &[("subnet-01", "a", "vpc-01", 63), ("subnet-02", "a", "vpc-01", 64)],
                        64,
                    ),
                    &[(Status::Warn, "subnet-01"), (Status::Pass, "subnet-02")],
                ),
                (
                    "more than the user asks for is not there: still a fail",
                    asked(&[("subnet-01", "a", "vpc-01", 0)], 64),
                    &[(Status::Fail, "subnet-01")],
                ),
                (
                    "the user is content with less",
                    asked(&[("subnet-01", "a", "vpc-01", 5), ("subnet-02", "b", "vpc-01", 4)], 5),
                    &[(Status::Pass, "subnet-01"), (Status::Warn, "subnet-02")],
                ),
                ("none selected", selected(&[]), &[(Status::Skipped, TAG)]),
                (
                    "not readable",
                    json!({"facts": {"discovered_subnets": {"denied": {"action": API, "message": "no"}}}}),
                    &[(Status::Unknown, TAG)],
                ),
            ],
        );
    }

    /// Two NodeClasses of EKS Auto Mode, with one subnet each.
    fn of_auto_mode(first: &Value, free: [u32; 2]) -> Value {
        let class =
            |name: &str, id: &str| json!({"meta": {"name": name}, "subnet_terms": [{"id": id}]});
        let mut one = class("one", "subnet-01");
        json_patch::merge(&mut one, first);
        let answer = |id: &str, free: u32| {
            let found = selected(&[(id, "a", "vpc-01", free)]);
            json!({"query": [{"id": id}], "found": found["facts"]["discovered_subnets"]})
        };
        json!({"facts": {
            "kubernetes": {"auto_node_classes": {"known": [one, class("two", "subnet-02")]}},
            "selected_subnets": [answer("subnet-01", free[0]), answer("subnet-02", free[1])],
        }})
    }

    #[test]
    fn each_node_class_has_addresses_of_its_own() {
        use Status::{Fail, Pass, Warn};
        let each = |one, two| [(one, "NodeClass/one/subnet-01"), (two, "NodeClass/two/subnet-02")];
        let blocks = json!({"ipv4_prefix_size": "Auto"});
        let single = json!({"ipv4_prefix_size": "32"});
        let elsewhere = json!({"pod_subnet_terms": [{"id": "subnet-02"}]});
        assert_rows(
            Account::AutoModeCluster,
            &CHECK,
            &[
                ("a block", of_auto_mode(&blocks, [17, 17]), &each(Pass, Pass)),
                ("less", of_auto_mode(&blocks, [16, 17]), &each(Warn, Pass)),
                ("the other's do not help", of_auto_mode(&blocks, [0, 17]), &each(Fail, Pass)),
                ("one at a time", of_auto_mode(&single, [2, 17]), &each(Pass, Pass)),
                ("pods are elsewhere", of_auto_mode(&elsewhere, [1, 17]), &each(Pass, Pass)),
            ],
        );
    }
}
