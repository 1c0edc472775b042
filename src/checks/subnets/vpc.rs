//! Whether the selected subnets are in the cluster's VPC.

use super::{API, each_selection};
use crate::{
    checks::{
        Area, Check, Context, Judged, Stop, Verdicts,
        discovery::{Found, in_vpc},
        selection::Selector,
    },
    facts::ec2::Subnet,
    outcome::Finding,
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
Each subnet that a NodeClass selects is in the cluster's VPC; where no NodeClass is known, each
that has the discovery tag.

## Why
Karpenter does not filter by VPC: a tag that is used in two VPCs selects the subnets of both. It
takes, in each zone, the subnet with the most free addresses, and EC2 refuses an instance whose
subnet and security groups are in different VPCs.

## Seen as
`Security group sg-… and subnet subnet-… belong to different networks`, and from Karpenter 1.12
the reason `SecurityGroupSubnetVPCMismatch` on the NodeClaim.

## Fix
Take the tag off the subnets of the other VPC where its value is this cluster's, give each cluster
a value of its own, or select by id.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    each_selection(cx, |selector, subnets| {
        let judge = |subnet: &&Subnet| {
            Judged::new(selector.subject_of(&subnet.id), || judge(cx, selector, subnet))
        };
        subnets.iter().map(judge).collect()
    })
}

fn judge(cx: &Context<'_>, selector: &Selector<'_>, subnet: &Subnet) -> Result<Finding, Stop> {
    let terms = match selector {
        Selector::Tag(_) => &[],
        Selector::Class(class) => class.spec.subnet_terms.as_slice(),
    };
    let found = Found {
        by: selector,
        terms,
        id: &subnet.id,
        label: subnet.id.clone(),
        vpc_id: Some(&subnet.vpc_id),
        tags: &subnet.tags,
        api: API,
        path: "Subnets[].VpcId",
    };
    let effect = format!(
        "Where it is picked in {}, EC2 refuses the launch, because the security groups are \
         in the other VPC; and a node there could not reach the cluster.",
        subnet.zone
    );
    in_vpc(cx, &found, effect)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status,
    };

    const TAG: &str = "karpenter.sh/discovery=demo";

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
                    &[(Status::Skipped, TAG)],
                ),
                (
                    "not readable",
                    json!({"facts": {"discovered_subnets": {"failed": {"action": API, "message": "500"}}}}),
                    &[(Status::Unknown, TAG)],
                ),
            ],
        );
    }
    #[test]
    fn a_tag_that_may_be_another_clusters_stays() {
        for (tag, command) in [
            (None, Some("--resources subnet-09 --tags Key=karpenter.sh/discovery,Value=demo")),
            (Some("karpenter.sh/discovery"), None),
            (Some("team=a"), None),
        ] {
            let tags = match tag {
                None => json!({"karpenter.sh/discovery": "demo"}),
                Some(_) => json!({"karpenter.sh/discovery": "other", "team": "a"}),
            };
            let stray = json!({
                "id": "subnet-09", "arn": null, "vpc_id": "vpc-02", "zone": "us-west-2a",
                "zone_id": null, "cidr": null, "free_addresses": 9, "owner": null, "tags": tags,
            });
            let patch = json!({
                "scope": {"discovery_tag": tag}, "facts": {"discovered_subnets": {"known": [stray]}},
            });
            let found = Account::Karpenter.judge(&CHECK, &patch).remove(0);
            let steps = serde_json::to_string(&found.remedy.expect("it is mended").steps).unwrap();
            assert_eq!(steps.contains("delete-tags"), command.is_some(), "{tag:?} {steps}");
            assert!(command.is_none_or(|command| steps.contains(command)), "{steps}");
        }
    }

    #[test]
    fn the_remedy_is_by_how_it_was_selected() {
        let stray = |tags: serde_json::Value| {
            json!({"id": "subnet-09", "arn": null, "vpc_id": "vpc-02",
            "zone": "us-west-2a", "zone_id": null, "cidr": null, "free_addresses": 9,
            "owner": null, "tags": tags})
        };
        for (term, tags, command) in [
            (json!({"id": "subnet-09"}), json!({}), "kubectl edit ec2nodeclass default"),
            (json!({"tags": {"team": "demo"}}), json!({"team": "demo"}), "delete-tags"),
            (
                json!({"tags": {"team": "*"}}),
                json!({"team": "x"}),
                "kubectl edit ec2nodeclass default",
            ),
        ] {
            let patch = json!({"facts": {
                "kubernetes": {"ec2_node_classes": {"known": [
                    {"meta": {"name": "default"}, "subnet_terms": [term]}]}},
                "selected_subnets": [{"query": [term], "found": {"known": [stray(tags)]}}],
            }});
            let found = Account::KarpenterCluster.judge(&CHECK, &patch).remove(0);
            assert_eq!(
                (found.status, found.subject.as_str()),
                (Status::Fail, "EC2NodeClass/default/subnet-09")
            );
            let steps = serde_json::to_string(&found.remedy.expect("it is mended").steps).unwrap();
            assert!(steps.contains(command), "{steps}");
        }
    }
}
