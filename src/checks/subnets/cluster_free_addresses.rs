//! Whether EKS has addresses left in the control plane's own subnets.

use super::API;
use crate::{
    checks::{Area, Check, Context, Judged, Stop, Verdicts, remedies::quote},
    outcome::{Finding, Remedy},
    target::Product,
};

/// Free addresses that EKS asks for in each subnet of the control plane, and those that it
/// recommends. <https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html>
const NEEDED: u32 = 6;
const RECOMMENDED: u32 = 16;

pub static CHECK: Check = Check {
    id: "cluster-subnets-free-addresses",
    title: "EKS has free addresses in the cluster's own subnets",
    area: Area::Launch,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["cluster-subnets-full"],
    needs: &["eks:DescribeCluster", API],
    doc: "\
## What
Each subnet that was given to EKS for the control plane has at least 6 free addresses.

## Why
EKS puts 2 to 4 interfaces into these subnets, and new ones beside them when it upgrades the
cluster or replaces a part of the control plane. It asks for 6 free addresses and recommends 16.
Running nodes are not hit, so this is a warning: it comes due with the next upgrade. Nodes often
share these subnets, and then pods use the addresses up.

## Seen as
The cluster's health shows `InsufficientFreeAddresses`, or an upgrade ends with `IpNotAvailable`.

## Fix
Free addresses, or give the cluster other subnets of the same VPC and zones.
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
    let free = subnet.free_addresses;
    if free >= NEEDED {
        let mut seen = format!("{free} free addresses in {}", subnet.zone);
        if free < RECOMMENDED {
            seen += &format!("; EKS recommends {RECOMMENDED}");
        }
        return Ok(Finding::pass(seen));
    }
    Ok(Finding::warn(
        format!(
            "{id} in {} has {free} free addresses, and EKS asks for {NEEDED} in each of the \
             cluster's subnets.",
            subnet.zone
        ),
        "Running nodes go on, but EKS may be unable to upgrade the cluster or to replace a part \
         of its control plane.",
    )
    .errors(&["cluster-subnets-full"])
    .evidence(API, "Subnets[].AvailableIpAddressCount", free.to_string())
    .mend(other_subnets(cx)))
}

fn other_subnets(cx: &Context<'_>) -> Remedy {
    Remedy::new(
        "Free addresses there, or give the cluster other subnets in the same VPC and the same \
         zones; put the ids of all of them in place of SUBNET_IDS, with commas between.",
    )
    .run(format!(
        "aws eks update-cluster-config --region {} --name {} --resources-vpc-config \
         subnetIds=SUBNET_IDS",
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
        assert_rows(
            Account::AutoMode,
            &CHECK,
            &[("holds for Auto Mode too", free(&[0, 16, 16]), &statuses([Warn, Pass, Pass]))],
        );
    }
}
