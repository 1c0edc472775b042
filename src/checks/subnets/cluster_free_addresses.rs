//! Whether EKS has addresses left in the cluster's own subnets.

use super::{
    API, nodes_in_cluster_subnets,
    room::{Consumer, Room},
};
use crate::{
    checks::{Area, Check, Context, Judged, Stop, Verdicts, remedies::quote},
    facts::ec2::Subnet,
    outcome::{Finding, FindingStatus, Remedy},
    target::Product,
};

/// Free addresses that EKS asks for in each subnet of the control plane, and those that it
/// recommends. <https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html>
const NEEDED: u32 = 6;
const RECOMMENDED: u32 = 16;

/// Zones by id where EKS places no control plane (the same page).
const NO_CONTROL_PLANE: [&str; 3] = ["use1-az3", "usw1-az2", "cac1-az3"];

pub static CHECK: Check = Check {
    id: "cluster-subnets-free-addresses",
    title: "The cluster's own subnets have free addresses",
    area: Area::Launch,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["cluster-subnets-full", "insufficient-free-addresses"],
    needs: &["eks:DescribeCluster", API],
    doc: "\
## What
Each subnet that was given to EKS for the control plane has at least 6 free addresses and is in a
zone where EKS places control planes. Where EKS Auto Mode has built-in node pools, it has at
least 17, or 1 on an IPv6 cluster: enough for one more node.

## Why
EKS puts 2 to 4 interfaces into these subnets, and new ones beside them when it upgrades the
cluster or replaces a part of the control plane. It asks for 6 free addresses and recommends 16.
Running nodes are not hit, so this is a warning: it comes due with the next upgrade.

The built-in node pools of EKS Auto Mode launch their nodes into the subnets that the cluster had
when it was created (<https://github.com/aws/containers-roadmap/issues/2793>). A node takes an
address of its own and, by default, a block of 16 for its pods. A zone whose subnets are all full
is a fail.

EKS takes no subnet in the zones `use1-az3`, `usw1-az2` and `cac1-az3` for the control plane.
Nodes may run there.

## Seen as
The cluster's health shows `InsufficientFreeAddresses`, or an upgrade ends with `IpNotAvailable`;
on EKS Auto Mode `InsufficientFreeAddressesInSubnet` on the NodeClaim.

## Fix
Free addresses, or give the cluster other subnets of the same VPC and zones. Nodes of EKS Auto
Mode need a NodeClass and a NodePool of your own to run in other subnets.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let ids = &cx.cluster()?.network.subnet_ids;
    if ids.is_empty() {
        return Err(Stop::unknown("eks:DescribeCluster shows no subnets for the cluster"));
    }
    Ok(ids.iter().map(|id| Judged::new(id, || judge(cx, id))).collect())
}

fn judge(cx: &Context<'_>, id: &str) -> Result<Finding, Stop> {
    let subnets = cx.facts.vpc_subnets.known()?;
    let Some(subnet) = subnets.iter().find(|subnet| subnet.id == id) else {
        return Ok(Finding::warn(
            format!("The cluster names {id}, and its VPC has no such subnet."),
            "EKS cannot put interfaces there: the next upgrade of the cluster fails.",
        )
        .evidence("eks:DescribeCluster", "cluster.resourcesVpcConfig.subnetIds", id)
        .mend(other_subnets(cx)));
    };
    if !nodes_in_cluster_subnets(cx) {
        return Ok(control_plane(cx, subnet));
    }
    let own = &cx.cluster()?.network.subnet_ids;
    let room = Room::of(subnet, subnets.iter().filter(|subnet| own.contains(&subnet.id)));
    let for_nodes = room.judge(cx, Consumer::BuiltInPools)?;
    let for_eks = control_plane(cx, subnet);
    Ok(match (for_nodes.status, for_eks.status) {
        (FindingStatus::Pass, _) => for_eks,
        (_, FindingStatus::Pass) => for_nodes,
        _ => Finding { effect: format!("{} {}", for_nodes.effect, for_eks.effect), ..for_nodes },
    })
}

fn control_plane(cx: &Context<'_>, subnet: &Subnet) -> Finding {
    let Subnet { id, zone, free_addresses: free, .. } = subnet;
    if let Some(banned) = subnet.zone_id.as_deref().filter(|id| NO_CONTROL_PLANE.contains(id)) {
        return Finding::warn(
            format!("{id} is in {zone} ({banned}), where EKS places no control plane."),
            "EKS refuses such a subnet, so a change of the cluster's subnets that still names it \
             fails.",
        )
        .evidence(API, "Subnets[].AvailabilityZoneId", banned)
        .mend(other_subnets(cx));
    }
    if *free >= NEEDED {
        let mut seen = format!("{free} free addresses in {zone}");
        if *free < RECOMMENDED {
            seen += &format!("; EKS recommends {RECOMMENDED}");
        }
        return Finding::pass(seen);
    }
    Finding::warn(
        format!(
            "{id} in {zone} has {free} free addresses, and EKS asks for {NEEDED} in each of the \
             cluster's subnets."
        ),
        "Running nodes go on, but EKS may be unable to upgrade the cluster or to replace a part \
         of its control plane.",
    )
    .errors(&["cluster-subnets-full"])
    .evidence(API, "Subnets[].AvailableIpAddressCount", free.to_string())
    .mend(other_subnets(cx))
}

fn other_subnets(cx: &Context<'_>) -> Remedy {
    Remedy::new(
        "Free addresses there, or give the cluster other subnets in the same VPC and the same \
         zones, outside of use1-az3, usw1-az2 and cac1-az3; put the ids of all of them in place of FILL_IN_SUBNET_IDS, with commas between.",
    )
    .run(format!(
        "aws eks update-cluster-config --region {} --name {} --resources-vpc-config \
         subnetIds=FILL_IN_SUBNET_IDS",
        quote(cx.region()),
        quote(&cx.target.cluster)
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

    fn free(free: &[u32]) -> Value {
        let subnet = |(index, free): (usize, &u32)| {
            json!({"id": format!("subnet-0{}", index + 1), "arn": null, "vpc_id": "vpc-01",
                   "zone": "us-west-2a", "zone_id": null, "cidr": null, "free_addresses": free,
                   "owner": null, "tags": {}})
        };
        let subnets: Vec<_> = free.iter().enumerate().map(subnet).collect();
        json!({"facts": {"vpc_subnets": {"known": subnets}}})
    }

    fn statuses(each: [Status; 3]) -> [(Status, &'static str); 3] {
        [(each[0], "subnet-01"), (each[1], "subnet-02"), (each[2], "subnet-03")]
    }

    #[test]
    fn rows() {
        use Status::{Pass, Unknown, Warn};
        let denied = |action: &str| json!({"denied": {"action": action, "message": "no"}});
        let absent = json!({"facts": {"cluster": {"known": {"network": {"subnet_ids": []}}}}});
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("plenty, few, fewer", free(&[400, 6, 5]), &statuses([Pass, Pass, Warn])),
                ("one is gone", free(&[400, 400]), &statuses([Pass, Pass, Warn])),
                (
                    "subnets are not readable",
                    json!({"facts": {"vpc_subnets": denied(API)}}),
                    &statuses([Unknown; 3]),
                ),
                (
                    "the cluster is not readable",
                    json!({"facts": {"cluster": denied("eks:DescribeCluster")}}),
                    &[(Unknown, "demo")],
                ),
                ("none are shown", absent, &[(Unknown, "demo")]),
            ],
        );
        let mut banned = free(&[400, 400, 400]);
        banned["facts"]["vpc_subnets"]["known"][1]["zone_id"] = json!("use1-az3");
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[("no control plane there", banned, &statuses([Pass, Warn, Pass]))],
        );
    }

    /// Subnets of the zones a, a and b.
    fn two_zones(addresses: &[u32]) -> Value {
        let mut patch = free(addresses);
        patch["facts"]["vpc_subnets"]["known"][2]["zone"] = json!("us-west-2b");
        patch
    }

    #[test]
    fn nodes_of_auto_mode_need_more() {
        use Status::{Fail, Pass, Warn};
        let mut no_pools = two_zones(&[6, 6, 6]);
        no_pools["facts"]["cluster"] = json!({"known": {"auto_mode": {"node_pools": []}}});
        let mut ipv6 = two_zones(&[6, 6, 6]);
        ipv6["facts"]["cluster"] = json!({"known": {"network": {"ip_family": "ipv6"}}});
        assert_rows(
            Account::AutoMode,
            &CHECK,
            &[
                ("a node's worth", two_zones(&[17, 17, 17]), &statuses([Pass; 3])),
                ("less", two_zones(&[6, 6, 6]), &statuses([Warn; 3])),
                ("one zone is full", two_zones(&[0, 0, 17]), &statuses([Fail, Fail, Pass])),
                ("full beside room", two_zones(&[0, 17, 17]), &statuses([Warn, Pass, Pass])),
                ("no built-in pools", no_pools, &statuses([Pass; 3])),
                ("IPv6", ipv6, &statuses([Pass; 3])),
            ],
        );
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[("Karpenter's are elsewhere", two_zones(&[6, 6, 6]), &statuses([Pass; 3]))],
        );
    }

    #[test]
    fn both_shortages_are_told() {
        let found = Account::AutoMode.judge(&CHECK, &two_zones(&[0, 0, 17])).remove(0);
        assert!(found.effect.contains("every launch in us-west-2a fails"), "{}", found.effect);
        assert!(found.effect.contains("upgrade the cluster"), "{}", found.effect);
    }
}
