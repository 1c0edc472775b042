//! Whether the selected security groups are in the cluster's VPC.

use super::API;
use crate::{
    checks::{
        Area, Check, Context, Judged, Stop, Verdicts,
        discovery::{Found, in_vpc, selects_by_tag},
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
Each security group that the discovery tag selects is in the cluster's VPC.

## Why
Karpenter attaches every group that the tag selects and does not filter by VPC. With one group
of another VPC among them, EC2 refuses every launch.

## Seen as
`Security group sg-… and subnet subnet-… belong to different networks`, and from Karpenter 1.12
the reason `SecurityGroupSubnetVPCMismatch` on the NodeClaim.

## Fix
Take the tag off the groups of the other VPC where its value is this cluster's, or give each
cluster a value of its own.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    selects_by_tag(cx)?;
    let groups = cx.facts.discovered_security_groups.found()?.map(Vec::as_slice);
    let groups = groups.filter(|groups| !groups.is_empty()).ok_or_else(|| {
        Stop::skipped(format!(
            "no security group has the tag {} (see security-groups-discovered)",
            cx.target.discovery_tag.value
        ))
    })?;
    Ok(groups.iter().map(|group| Judged::new(&group.id, || judge(cx, group))).collect())
}

fn judge(cx: &Context<'_>, group: &SecurityGroup) -> Result<Finding, Stop> {
    let found = Found {
        id: &group.id,
        label: format!("{} ({})", group.id, group.name),
        vpc_id: group.vpc_id.as_deref(),
        tags: &group.tags,
        api: API,
        path: "SecurityGroups[].VpcId",
    };
    let effect = "Karpenter attaches every group that the tag selects, so EC2 refuses every launch \
                  in the cluster's VPC.";
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
                ("none selected", groups(&[]), &[(Status::Skipped, "demo")]),
                (
                    "not readable",
                    json!({"facts": {"discovered_security_groups": denied(API)}}),
                    &[(Status::Unknown, "demo")],
                ),
            ],
        );
    }
}
