//! Whether the selected subnets cover more than one zone.

use std::collections::{BTreeMap, BTreeSet};

use super::{API, each_selection};
use crate::{
    checks::{
        Area, Check, Context, Judged, Stop, Verdicts,
        discovery::{cluster_vpc, may_take, tag_command},
        remedies::listed,
        selection::{Selector, selectors, single_tag},
    },
    facts::ec2::{Place, Subnet},
    outcome::{Finding, Remedy},
    target::Product,
};

/// EKS has the control plane in two zones at least, so pods, volumes and their nodes are expected
/// in as many. <https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html>
const ZONES: usize = 2;

pub static CHECK: Check = Check {
    id: "subnets-zones",
    title: "The selected subnets cover at least two zones",
    area: Area::Launch,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["volume-zone-conflict"],
    needs: &["eks:DescribeCluster", API],
    doc: "\
## What
The subnets that NodeClasses select in the cluster's VPC are in at least two availability zones;
where no NodeClass is known, those with the discovery tag. NodeClasses for one zone each are well if
there is another for another zone.

## Why
Karpenter launches only in zones that it has a subnet for. With one zone, pods with a volume in
another zone or with a spread over zones stay Pending, Spot has fewer pools to choose from, and
an outage of the zone takes every node. Zones are counted by id, which is the same in every
account. The zones `use1-az3`, `usw1-az2` and `cac1-az3` cannot hold the control plane's subnets;
nodes may run there, so they count here. Local Zones and their like do not, beside others.

## Seen as
`no instance type met the scheduling requirements or had a required offering` for pods that must
run in another zone.

## Fix
Tag a subnet in another zone of the cluster's VPC.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    each_selection(cx, |selector, subnets| {
        vec![Judged::new(selector.subject(), || judge(cx, selector, subnets))]
    })
}

fn judge(cx: &Context<'_>, selector: &Selector<'_>, subnets: &[&Subnet]) -> Result<Finding, Stop> {
    let anywhere = zones(subnets.iter().copied());
    if let [zone] = anywhere[..] {
        let elsewhere = subnets.iter().all(|s| cluster_vpc(cx).is_ok_and(|vpc| vpc != s.vpc_id));
        return if elsewhere { Err(none_in_vpc()) } else { Ok(one(cx, selector, zone)) };
    }
    let vpcs: BTreeSet<_> = subnets.iter().map(|subnet| &subnet.vpc_id).collect();
    let in_vpc = match cluster_vpc(cx) {
        Ok(vpc) => zones(subnets.iter().copied().filter(|subnet| subnet.vpc_id == vpc)),
        // All in one VPC: nothing hangs on which one is the cluster's.
        Err(_) if vpcs.len() == 1 => anywhere,
        Err(stop) => return Err(stop),
    };
    match in_vpc[..] {
        [] => Err(none_in_vpc()),
        [zone] => Ok(one(cx, selector, zone)),
        _ => Ok(Finding::pass(format!("They are in {}.", listed(&in_vpc)))),
    }
}

/// The zones of these subnets by name, each once. A Local Zone takes no other zone's place, unless
/// there is nothing else.
fn zones<'a>(subnets: impl Iterator<Item = &'a Subnet>) -> Vec<&'a str> {
    let all: Vec<_> = subnets.collect();
    let in_zones = |s: &&Subnet| s.place() == Place::AvailabilityZone;
    let any = all.iter().any(&in_zones);
    let counted = all.into_iter().filter(|subnet| !any || in_zones(subnet));
    let by_id: BTreeMap<_, _> =
        counted.map(|s| (s.zone_id.as_deref().unwrap_or(&s.zone), s.zone.as_str())).collect();
    by_id.into_values().collect()
}

fn none_in_vpc() -> Stop {
    Stop::skipped("none of the selected subnets is in the cluster's VPC (see subnets-vpc)")
}

fn one(cx: &Context<'_>, selector: &Selector<'_>, zone: &str) -> Finding {
    if let Some(other) = other_zone(cx, selector, zone) {
        return Finding::pass(format!("They are all in {zone}, and {other} are in others."));
    }
    let (who, seen) = match selector {
        Selector::Tag(tag) => {
            ("Karpenter", format!("No subnet with the tag {tag} is in another zone than {zone}."))
        }
        Selector::Class(class) => (
            class.launcher(),
            format!("No subnet that {class} selects is in another zone than {zone}."),
        ),
    };
    Finding::warn(
        seen,
        format!(
            "{who} launches nodes in this zone only. Pods bound to another zone, by a volume or by \
             a spread over zones, stay Pending, and an outage of the zone takes every node."
        ),
    )
    .errors(&["volume-zone-conflict"])
    .evidence(API, "Subnets[].AvailabilityZone", zone)
    .mend(remedy(cx, selector, zone))
}

/// Another NodeClass with a subnet in another zone: each for a zone of its own is on purpose.
fn other_zone(cx: &Context<'_>, selector: &Selector<'_>, zone: &str) -> Option<String> {
    let Selector::Class(own) = selector else { return None };
    selectors(cx).ok()?.into_iter().find_map(|other| {
        let Selector::Class(class) = other else { return None };
        let subnets = other.subnets(cx).ok()?;
        (class.product == own.product && subnets.iter().any(|subnet| subnet.zone != zone))
            .then(|| format!("subnets of {class}"))
    })
}

fn remedy(cx: &Context<'_>, selector: &Selector<'_>, zone: &str) -> Remedy {
    let tag = match selector {
        Selector::Tag(tag) => Some((*tag).clone()),
        Selector::Class(class) => class.spec.subnet_terms.iter().find_map(single_tag),
    };
    let in_vpc = cx.facts.vpc_subnets.value().into_iter().flatten();
    let may_take = |subnet: &&Subnet| tag.as_ref().is_none_or(|tag| may_take(tag, &subnet.tags));
    let elsewhere: Vec<_> = in_vpc
        .filter(|subnet| subnet.zone != zone)
        .filter(may_take)
        .map(|subnet| subnet.id.as_str())
        .collect();
    let how = if tag.is_some() { "Tag" } else { "Select" };
    let words = format!(
        "{how} a subnet in another zone, at least {ZONES} zones in all. Take one that nodes may run in."
    );
    let Some(first) = elsewhere.first() else {
        return Remedy::new(format!(
            "{words} The VPC shows none that another cluster's tag is not on, so create it first."
        ));
    };
    let words = format!("{words} The VPC has {} in other zones.", listed(&elsewhere));
    match (tag, selector) {
        (Some(tag), _) => Remedy::new(words).run(tag_command(cx, &tag, &[first])),
        (None, Selector::Class(class)) => Remedy::new(words).run(class.edit()),
        (None, Selector::Tag(_)) => Remedy::new(words),
    }
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
        let a_of_another = subnet("subnet-08", "us-west-2a", "usw2-az1", "vpc-02");
        let unseen = |subnets: &[Value]| {
            let mut patch = selected(subnets);
            patch["facts"]["cluster"] =
                json!({"denied": {"action": "eks:DescribeCluster", "message": "no"}});
            patch
        };
        let lax = subnet("subnet-06", "us-west-2-lax-1a", "usw2-lax1-az1", "vpc-01");
        let no_control_plane = subnet("subnet-05", "us-east-1e", "use1-az3", "vpc-01");
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("three", json!({}), &[(Status::Pass, TAG)]),
                ("two", selected(&[a.clone(), b.clone()]), &[(Status::Pass, TAG)]),
                ("two in one", selected(&[a.clone(), also_a]), &[(Status::Warn, TAG)]),
                (
                    "the second is another VPC's",
                    selected(&[a.clone(), b_of_another.clone()]),
                    &[(Status::Warn, TAG)],
                ),
                (
                    "the second may be another VPC's",
                    unseen(&[a.clone(), b_of_another.clone()]),
                    &[(Status::Unknown, TAG)],
                ),
                (
                    "one zone, whichever VPC it is",
                    unseen(&[a.clone(), a_of_another]),
                    &[(Status::Warn, TAG)],
                ),
                (
                    "one VPC, whichever it is",
                    unseen(&[a.clone(), b.clone()]),
                    &[(Status::Pass, TAG)],
                ),
                (
                    "one where no control plane may be",
                    selected(&[a, no_control_plane]),
                    &[(Status::Pass, TAG)],
                ),
                ("the second is a Local Zone", selected(&[b.clone(), lax]), &[(Status::Warn, TAG)]),
                ("none in the VPC", selected(&[b_of_another]), &[(Status::Skipped, TAG)]),
                ("none", selected(&[]), &[(Status::Skipped, TAG)]),
                (
                    "not readable",
                    json!({"facts": {"discovered_subnets": {"denied": {"action": API, "message": "no"}}}}),
                    &[(Status::Unknown, TAG)],
                ),
            ],
        );
    }
    #[test]
    fn another_clusters_subnet_is_not_tagged() {
        let a = subnet("subnet-01", "us-west-2a", "usw2-az1", "vpc-01");
        let mut others = subnet("subnet-02", "us-west-2b", "usw2-az2", "vpc-01");
        others["tags"] = json!({"karpenter.sh/discovery": "other"});
        let free = subnet("subnet-03", "us-west-2c", "usw2-az3", "vpc-01");
        for (in_vpc, tagged) in [
            (vec![a.clone(), others.clone(), free], Some("--resources subnet-03 ")),
            (vec![a.clone(), others], None),
        ] {
            let patch = json!({"facts": {
                "discovered_subnets": {"known": [a]}, "vpc_subnets": {"known": in_vpc},
            }});
            let found = Account::Karpenter.judge(&CHECK, &patch).remove(0);
            let steps = serde_json::to_string(&found.remedy.expect("it is mended").steps).unwrap();
            assert_eq!(steps.contains("create-tags"), tagged.is_some(), "{steps}");
            assert!(tagged.is_none_or(|tagged| steps.contains(tagged)), "{steps}");
        }
    }

    #[test]
    fn a_node_class_for_each_zone_is_on_purpose() {
        let a = subnet("subnet-01", "us-west-2a", "usw2-az1", "vpc-01");
        let b = subnet("subnet-02", "us-west-2b", "usw2-az2", "vpc-01");
        let two = |second: &Value| {
            let class =
                |name: &str| json!({"meta": {"name": name}, "subnet_terms": [{"id": name}]});
            let answer =
                |id: &str, of: &Value| json!({"query": [{"id": id}], "found": {"known": [of]}});
            json!({"facts": {
                "kubernetes": {"ec2_node_classes": {"known": [class("x"), class("y")]}},
                "selected_subnets": [answer("x", &a), answer("y", second)],
            }})
        };
        let both = |status| [(status, "EC2NodeClass/x"), (status, "EC2NodeClass/y")];
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[
                ("one zone each", two(&b), &both(Status::Pass)),
                ("one zone for both", two(&a), &both(Status::Warn)),
            ],
        );
    }
}
