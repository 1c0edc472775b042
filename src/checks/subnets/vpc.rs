//! Whether the selected subnets are in the cluster's VPC.

use super::{API, cluster_vpc, selected, untag};
use crate::{
    checks::{Area, Check, Context, Judged, Verdicts},
    facts::ec2::Subnet,
    outcome::{Finding, Remedy},
    target::Product,
};

pub static CHECK: Check = Check {
    id: "subnets-vpc",
    title: "The selected subnets are in the cluster's VPC",
    area: Area::Launch,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["security-group-subnet-vpc-mismatch"],
    needs: &["eks:DescribeCluster", API],
    doc: "\
## What
Each subnet that the discovery tag selects is in the cluster's VPC.

## Why
Karpenter does not filter by VPC: a tag that is used in two VPCs selects the subnets of both. It
takes, in each zone, the subnet with the most free addresses, and EC2 refuses an instance whose
subnet and security groups are in different VPCs.

## Seen as
`Security group sg-… and subnet subnet-… belong to different networks`, and from Karpenter 1.12
the reason `SecurityGroupSubnetVPCMismatch` on the NodeClaim.

## Fix
Take the tag off the subnets of the other VPC, or give each cluster a value of its own.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let subnets = selected(cx)?;
    Ok(subnets
        .iter()
        .map(|subnet| Judged::new(&subnet.id, || Ok(judge(cx, subnet, cluster_vpc(cx)?))))
        .collect())
}

fn judge(cx: &Context<'_>, subnet: &Subnet, vpc: &str) -> Finding {
    if subnet.vpc_id == vpc {
        return Finding::pass(format!("It is in {vpc}."));
    }
    let tag = &cx.target.discovery_tag.value;
    Finding::fail(
        format!(
            "{} has the tag {tag}, but is in {}; the cluster is in {vpc}.",
            subnet.id, subnet.vpc_id
        ),
        format!(
            "Where Karpenter picks it in {}, EC2 refuses the launch, because the security groups \
             are in the other VPC; and a node there could not reach the cluster.",
            subnet.zone
        ),
    )
    .errors(&["security-group-subnet-vpc-mismatch"])
    .evidence(API, "Subnets[].VpcId", &subnet.vpc_id)
    .mend(
        Remedy::new(format!(
            "Take the tag off {}. If a cluster in {} needs it, give each cluster a value of its \
             own instead.",
            subnet.id, subnet.vpc_id
        ))
        .run(untag(cx, &subnet.id)),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status,
    };

    #[test]
    fn rows() {
        let all = |status| [(status, "subnet-01"), (status, "subnet-02"), (status, "subnet-03")];
        let stray = |id: &str, vpc: &str| {
            json!({"id": id, "arn": null, "vpc_id": vpc, "zone": "us-west-2a", "zone_id": null,
                   "cidr": null, "free_addresses": 9, "owner": null, "tags": {}})
        };
        let two = json!([stray("subnet-01", "vpc-01"), stray("subnet-09", "vpc-02")]);
        let denied = json!({"denied": {"action": "eks:DescribeCluster", "message": "no"}});
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("all", json!({}), &all(Status::Pass)),
                (
                    "one of another VPC",
                    json!({"facts": {"discovered_subnets": {"known": two}}}),
                    &[(Status::Pass, "subnet-01"), (Status::Fail, "subnet-09")],
                ),
                (
                    "the cluster's is not known",
                    json!({"facts": {"cluster": denied}}),
                    &all(Status::Unknown),
                ),
                (
                    "none selected",
                    json!({"facts": {"discovered_subnets": {"known": []}}}),
                    &[(Status::Skipped, "demo")],
                ),
                (
                    "not readable",
                    json!({"facts": {"discovered_subnets": {"failed": {"action": API, "message": "500"}}}}),
                    &[(Status::Unknown, "demo")],
                ),
            ],
        );
    }
}
