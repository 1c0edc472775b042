//! Whether the nodes' subnets have IPv6 addresses, where the cluster uses IPv6.

use super::API;
use crate::{
    checks::{
        Area, Check, Context, Judged, Stop, Verdicts, network::node_subnets, remedies::quote,
    },
    facts::ec2::Subnet,
    outcome::{Finding, Remedy},
    target::Product,
};

pub static CHECK: Check = Check {
    id: "subnets-address-family",
    title: "Subnets of an IPv6 cluster have IPv6 addresses",
    area: Area::Launch,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["create-fleet-failed", "failed-assign-ip"],
    needs: &["eks:DescribeCluster", API],
    doc: "\
## What
In a cluster whose pods get IPv6 addresses, every subnet that nodes are launched into has an IPv6
block.

## Why
Karpenter asks for an IPv6 address with each node of such a cluster, and the CNI for a whole block
for its pods. A subnet that was added later, from an IPv4 block alone, has none to give. EKS asks for
IPv6 blocks only when the cluster is made, and of its own subnets only.

## Seen as
`creating fleet` errors that name IPv6, or `failed to assign an IP address to container`.

## Fix
Associate an IPv6 block of the VPC with the subnet, or select other subnets.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    match cx.cluster()?.network.ip_family.as_deref() {
        Some("ipv6") => {}
        Some(_) => return Err(Stop::skipped("pods of this cluster get IPv4 addresses")),
        None => return Err(Stop::unknown("eks:DescribeCluster does not say the IP family")),
    }
    let subnets = node_subnets(cx)?;
    Ok(subnets.into_iter().map(|one| Judged::new(&one.id, || Ok(judge(cx, one)))).collect())
}

fn judge(cx: &Context<'_>, subnet: &Subnet) -> Finding {
    let id = &subnet.id;
    if let Some(block) = subnet.ipv6_cidrs.first() {
        return Finding::pass(format!("It has the IPv6 block {block}."));
    }
    Finding::fail(
        format!("{id} has no IPv6 block, and pods of this cluster get IPv6 addresses."),
        format!("Launches into {id} are refused, or pods of its nodes get no addresses."),
    )
    .errors(CHECK.errors)
    .evidence(API, "Subnets[].Ipv6CidrBlockAssociationSet", "[]")
    .mend(mend(cx, subnet))
}

fn mend(cx: &Context<'_>, subnet: &Subnet) -> Remedy {
    let region = quote(cx.region());
    let vpc = cx.facts.network.vpc.value();
    let of_vpc = vpc.and_then(|vpc| vpc.ipv6_cidrs.first());
    // Each subnet needs a block of its own: the fix script asks for one once a name.
    let blank = format!(
        "FILL_IN_IPV6_BLOCK_OF_{}",
        subnet.id.trim_start_matches("subnet-").to_ascii_uppercase()
    );
    let mut remedy = Remedy::new(format!(
        "Give the subnet a /64 of the VPC's IPv6 block that no other subnet has, in the place of \
         {blank}, and have it give out such addresses. Or select subnets that have one.",
    ));
    if of_vpc.is_none() {
        remedy = remedy.run(format!(
            "aws ec2 associate-vpc-cidr-block --region {region} --vpc-id {} \
             --amazon-provided-ipv6-cidr-block",
            quote(&subnet.vpc_id)
        ));
    }
    remedy
        .run(format!(
            "aws ec2 associate-subnet-cidr-block --region {region} --subnet-id {} \
             --ipv6-cidr-block {blank}",
            quote(&subnet.id)
        ))
        .run(format!(
            "aws ec2 modify-subnet-attribute --region {region} --subnet-id {} \
             --assign-ipv6-address-on-creation",
            quote(&subnet.id)
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

    fn ipv6(blocks: &[&str]) -> Value {
        let subnet = |n: usize| {
            json!({"id": format!("subnet-0{n}"), "arn": null, "vpc_id": "vpc-01", "zone": "a",
                   "zone_id": null, "cidr": null, "free_addresses": 9, "owner": null,
                   "tags": {"karpenter.sh/discovery": "demo"},
                   "ipv6_cidrs": if n == 1 { json!(blocks) } else { json!(["2600:1f14:0:1::/64"]) }})
        };
        let subnets = json!([subnet(1), subnet(2)]);
        json!({"facts": {
            "cluster": {"known": {"network": {"ip_family": "ipv6"}}},
            "discovered_subnets": {"known": subnets}, "vpc_subnets": {"known": subnets}}})
    }

    #[test]
    fn rows() {
        use Status::{Fail, Pass, Skipped, Unknown};
        let both = |status| [(status, "subnet-01"), (Pass, "subnet-02")];
        let denied = json!({"facts": {"cluster":
            {"denied": {"action": "eks:DescribeCluster", "message": "no"}}}});
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("IPv4", json!({}), &[(Skipped, "demo")]),
                ("blocks", ipv6(&["2600:1f14:0:2::/64"]), &both(Pass)),
                ("none", ipv6(&[]), &both(Fail)),
                ("not readable", denied, &[(Unknown, "demo")]),
            ],
        );
    }

    #[test]
    fn the_vpc_gets_a_block_first() {
        let steps = |patch: &Value| {
            let found = Account::Karpenter.judge(&CHECK, patch).remove(0);
            serde_json::to_string(&found.remedy.unwrap().steps).unwrap()
        };
        let mut patch = ipv6(&[]);
        assert!(steps(&patch).contains("associate-vpc-cidr-block"));
        patch["facts"]["network"] = json!({"vpc": {"known": {"ipv6_cidrs": ["2600:1f14::/56"]}}});
        assert!(!steps(&patch).contains("associate-vpc-cidr-block"));
    }
}
