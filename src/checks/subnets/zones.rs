//! Whether the selected subnets cover more than one zone.

use std::collections::BTreeSet;

use super::{API, selected};
use crate::{
    checks::{
        Area, Check, Context, Judged, Stop, Verdicts,
        remedies::{listed, quote, tags_argument},
    },
    outcome::{Finding, Remedy},
    target::Product,
};

/// Zones that a cluster needs for Karpenter's two replicas, which spread over zones
/// (`charts/karpenter/values.yaml` at v1.0.0 and later).
const ZONES: usize = 2;

pub static CHECK: Check = Check {
    id: "subnets-zones",
    title: "The selected subnets cover at least two zones",
    area: Area::Launch,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["volume-zone-conflict"],
    needs: &[API],
    doc: "\
## What
The subnets that the discovery tag selects are in at least two availability zones.

## Why
Karpenter launches only in zones that it has a subnet for. With one zone, pods with a volume in
another zone or with a spread over zones stay Pending, Spot has fewer pools to choose from, and
an outage of the zone takes every node. Zones are counted by id, which is the same in every
account. The zones `use1-az3`, `usw1-az2` and `cac1-az3` cannot hold the control plane's subnets;
nodes may run there, so they count here.

## Seen as
`no instance type met the scheduling requirements or had a required offering` for pods that must
run in another zone.

## Fix
Tag a subnet in another zone of the cluster's VPC.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let subnets = selected(cx)?;
    let in_vpc = cx.facts.cluster.value().and_then(|cluster| cluster.network.vpc_id.as_deref());
    let usable = subnets.iter().filter(|subnet| in_vpc.is_none_or(|vpc| vpc == subnet.vpc_id));
    let zones: BTreeSet<_> =
        usable.map(|s| (s.zone_id.as_deref().unwrap_or(&s.zone), s.zone.as_str())).collect();
    let names: Vec<_> = zones.iter().map(|(_, name)| *name).collect();
    Ok(vec![Judged::new(cx.target.discovery_tag.value.to_string(), || match names[..] {
        [] => Err(Stop::skipped(
            "none of the selected subnets is in the cluster's VPC (see subnets-vpc)",
        )),
        [zone] => Ok(one(cx, zone)),
        _ => Ok(Finding::pass(format!("They are in {}.", listed(&names)))),
    })])
}

fn one(cx: &Context<'_>, zone: &str) -> Finding {
    let tag = &cx.target.discovery_tag.value;
    let elsewhere: Vec<_> = cx
        .facts
        .vpc_subnets
        .value()
        .into_iter()
        .flatten()
        .filter(|subnet| subnet.zone != zone)
        .map(|subnet| subnet.id.as_str())
        .collect();
    let value = tag.value.as_deref().unwrap_or(&cx.target.cluster);
    let words = format!(
        "Tag a subnet in another zone, at least {ZONES} zones in all. Take one that nodes may run in."
    );
    let remedy = if elsewhere.is_empty() {
        Remedy::new(format!("{words} The VPC shows none, so create it first."))
    } else {
        Remedy::new(format!("{words} The VPC has {} in other zones.", listed(&elsewhere))).run(
            format!(
                "aws ec2 create-tags --region {} --resources {} --tags {}",
                quote(cx.region()),
                elsewhere[0],
                tags_argument(&tag.key, value)
            ),
        )
    };
    Finding::warn(
        format!("Every subnet with the tag {tag} is in {zone}."),
        "Karpenter launches nodes in this zone only. Pods bound to another zone, by a volume or \
         by a spread over zones, stay Pending, and an outage of the zone takes every node.",
    )
    .errors(&["volume-zone-conflict"])
    .evidence(API, "Subnets[].AvailabilityZone", zone)
    .mend(remedy)
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

    fn subnet(id: &str, zone: &str, zone_id: &str, vpc: &str) -> Value {
        json!({"id": id, "arn": null, "vpc_id": vpc, "zone": zone, "zone_id": zone_id, "cidr": null,
               "free_addresses": 4000, "owner": null, "tags": {}})
    }

    fn selected(subnets: &[Value]) -> Value {
        json!({"facts": {"discovered_subnets": {"known": subnets}}})
    }

    #[test]
    fn rows() {
        let a = subnet("subnet-01", "us-west-2a", "usw2-az1", "vpc-01");
        let also_a = subnet("subnet-04", "us-west-2a", "usw2-az1", "vpc-01");
        let b = subnet("subnet-02", "us-west-2b", "usw2-az2", "vpc-01");
        let b_of_another = subnet("subnet-09", "us-west-2b", "usw2-az2", "vpc-02");
        let no_control_plane = subnet("subnet-05", "us-east-1e", "use1-az3", "vpc-01");
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("three", json!({}), &[(Status::Pass, TAG)]),
                ("two", selected(&[a.clone(), b]), &[(Status::Pass, TAG)]),
                ("two in one", selected(&[a.clone(), also_a]), &[(Status::Warn, TAG)]),
                (
                    "the second is another VPC's",
                    selected(&[a.clone(), b_of_another.clone()]),
                    &[(Status::Warn, TAG)],
                ),
                (
                    "one where no control plane may be",
                    selected(&[a, no_control_plane]),
                    &[(Status::Pass, TAG)],
                ),
                ("none in the VPC", selected(&[b_of_another]), &[(Status::Skipped, TAG)]),
                ("none", selected(&[]), &[(Status::Skipped, "demo")]),
                (
                    "not readable",
                    json!({"facts": {"discovered_subnets": {"denied": {"action": API, "message": "no"}}}}),
                    &[(Status::Unknown, "demo")],
                ),
            ],
        );
    }
}
