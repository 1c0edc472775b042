//! Whether the selected security groups are in the cluster's VPC.

use super::API;
use crate::{
    checks::{
        Area, Check, Context, Judged, Stop, Verdicts,
        discovery::{Found, in_vpc},
        selection::{self, Selector},
    },
    facts::ec2::SecurityGroup,
    outcome::Finding,
    target::Product,
};

pub static CHECK: Check = Check {
    id: "security-groups-vpc",
    title: "The selected security groups are in the cluster's VPC",
    area: Area::Launch,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["security-group-subnet-vpc-mismatch"],
    needs: &["eks:DescribeCluster", API],
    doc: "\
## What
Each security group that a NodeClass selects is in the cluster's VPC; where no NodeClass is known,
each that has the discovery tag.

## Why
Every group that is selected is attached to the nodes, and nothing filters by VPC. With one group
of another VPC among them, EC2 refuses every launch.

## Seen as
`Security group sg-… and subnet subnet-… belong to different networks`, and from Karpenter 1.12
the reason `SecurityGroupSubnetVPCMismatch` on the NodeClaim.

## Fix
Take the tag off the groups of the other VPC where its value is this cluster's, give each cluster
a value of its own, or select by id.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let nothing = "no security group (see security-groups-discovered)";
    selection::each(
        cx,
        |selector| selector.security_groups(cx),
        nothing,
        |selector, groups| {
            let judge = |group: &&SecurityGroup| {
                Judged::new(selector.subject_of(&group.id), || judge(cx, selector, group))
            };
            groups.iter().map(judge).collect()
        },
    )
}

fn judge(
    cx: &Context<'_>,
    selector: &Selector<'_>,
    group: &SecurityGroup,
) -> Result<Finding, Stop> {
    let terms = match selector {
        Selector::Tag(_) => &[],
        Selector::Class(class) => class.spec.security_group_terms.as_slice(),
    };
    let found = Found {
        by: selector,
        terms,
        id: &group.id,
        label: format!("{} ({})", group.id, group.name),
        vpc_id: group.vpc_id.as_deref(),
        tags: &group.tags,
        api: API,
        path: "SecurityGroups[].VpcId",
    };
    let effect = "Every group that is selected is attached to the nodes, so EC2 refuses every \
                  launch in the cluster's VPC.";
    in_vpc(cx, &found, effect.to_owned())
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

    fn groups(vpcs: &[Option<&str>]) -> Value {
        let group = |(index, vpc): (usize, &Option<&str>)| json!({"id": format!("sg-0{}", index + 1), "name": "n", "vpc_id": vpc, "tags": {}});
        let groups: Vec<_> = vpcs.iter().enumerate().map(group).collect();
        json!({"facts": {"discovered_security_groups": {"known": groups}}})
    }

    #[test]
    fn rows() {
        let denied = |action: &str| json!({"denied": {"action": action, "message": "no"}});
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("one", json!({}), &[(Status::Pass, "sg-01")]),
                (
                    "one of another VPC",
                    groups(&[Some("vpc-01"), Some("vpc-02"), None]),
                    &[(Status::Pass, "sg-01"), (Status::Fail, "sg-02"), (Status::Unknown, "sg-03")],
                ),
                (
                    "the cluster's is not known",
                    json!({"facts": {"cluster": denied("eks:DescribeCluster")}}),
                    &[(Status::Unknown, "sg-01")],
                ),
                ("none selected", groups(&[]), &[(Status::Skipped, TAG)]),
                (
                    "not readable",
                    json!({"facts": {"discovered_security_groups": denied(API)}}),
                    &[(Status::Unknown, TAG)],
                ),
            ],
        );
    }

    #[test]
    fn each_node_class_s_groups() {
        let name = json!([{"name": "web"}]);
        let group = |vpc: &str| json!({"id": "sg-09", "name": "web", "vpc_id": vpc, "tags": {}});
        let patch = |vpc: &str| {
            json!({"facts": {
                "kubernetes": {"ec2_node_classes": {"known": [
                    {"meta": {"name": "default"}, "security_group_terms": name}]}},
                "selected_security_groups": [{"query": name, "found": {"known": [group(vpc)]}}],
            }})
        };
        let subject = "EC2NodeClass/default/sg-09";
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[
                ("by name", patch("vpc-01"), &[(Status::Pass, subject)]),
                ("by a name that another VPC has", patch("vpc-02"), &[(Status::Fail, subject)]),
            ],
        );
    }
}
