//! The zones that a NodePool asks for, and those of its NodeClass's subnets.

use std::collections::BTreeSet;

use super::Values;
use crate::{
    checks::{
        Area, Check, Context, Judged, Stop, Verdicts,
        node_classes::{self, Class},
        remedies::{listed, quote},
        selection::Selector,
    },
    facts::{ec2::Subnet, kubernetes::node_pool::NodePool},
    outcome::{Finding, Remedy},
    target::Product,
};

const ZONE: &str = "topology.kubernetes.io/zone";
/// The same by zone id (`LabelTopologyZoneID` in `pkg/apis/v1/labels.go`).
const ZONE_ID: &str = "topology.k8s.aws/zone-id";

pub static CHECK: Check = Check {
    id: "nodepool-zones",
    title: "NodePools ask for zones that their NodeClass has subnets in",
    area: Area::Launch,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["incompatible-zone", "no-instance-type-met"],
    needs: &["ec2:DescribeSubnets"],
    doc: "\
## What
What the requirements of each NodePool say of `topology.kubernetes.io/zone` and
`topology.k8s.aws/zone-id`, held against the zones of the subnets that its NodeClass selects: at
least one zone must be left, and each zone that is named must have a subnet.

## Why
An instance can only be launched in a zone with a selected subnet. With no such zone left, the
NodePool launches nothing. A zone that is named without a subnet in it misleads: pods that must run
there, for a volume or by a selector, stay Pending.

## Seen as
`incompatible requirements, key topology.kubernetes.io/zone`, or `no instance type met the
scheduling requirements or had a required offering`.

## Fix
Select a subnet in the zone, or take the zone out of the NodePool.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    node_classes::each_many(cx, &[Product::Karpenter, Product::AutoMode], |class| {
        let judge = |pool| Judged::new(subject(pool), || judge(cx, &class, pool));
        match cx.facts.kubernetes.node_pools.found() {
            Ok(_) => super::of(cx, &class).map(judge).collect(),
            Err(unseen) => vec![Judged::new(class.subject(), || Err(unseen.into()))],
        }
    })
}

fn subject(pool: &NodePool) -> String {
    format!("NodePool/{}", pool.meta.name)
}

fn judge<'a>(cx: &Context<'a>, class: &Class<'a>, pool: &'a NodePool) -> Result<Finding, Stop> {
    let subnets = Selector::Class(*class).subnets(cx)?;
    if subnets.is_empty() {
        return Err(Stop::skipped(format!("{class} selects no subnet (see subnets-discovered)")));
    }
    let (zones, ids) = (Values::of(pool, ZONE), Values::of(pool, ZONE_ID));
    let fits = |subnet: &&&Subnet| {
        zones.allows(&subnet.zone) && subnet.zone_id.as_deref().is_none_or(|id| ids.allows(id))
    };
    let left: BTreeSet<&str> = subnets.iter().filter(fits).map(|s| s.zone.as_str()).collect();
    let there: BTreeSet<&str> = subnets.iter().map(|subnet| subnet.zone.as_str()).collect();
    let there_ids: BTreeSet<&str> =
        subnets.iter().filter_map(|subnet| subnet.zone_id.as_deref()).collect();
    let mut without: Vec<&str> = zones.named();
    without.retain(|zone| !there.contains(zone));
    without.extend(ids.named().into_iter().filter(|id| !there_ids.contains(id)));
    let there = Vec::from_iter(there);
    if left.is_empty() {
        return Ok(none(class, pool, &there));
    }
    if !without.is_empty() {
        return Ok(some(cx, class, pool, &without, &there));
    }
    Ok(Finding::pass(format!("It can launch in {}.", listed(&Vec::from_iter(left)))))
}

fn none(class: &Class<'_>, pool: &NodePool, there: &[&str]) -> Finding {
    let name = &pool.meta.name;
    Finding::fail(
        format!(
            "NodePool {name} allows none of the zones that {class} has subnets in, {}.",
            listed(there)
        ),
        format!("Nothing is launched for NodePool {name}: its pods stay Pending."),
    )
    .errors(&["incompatible-zone", "no-instance-type-met"])
    .evidence("ec2:DescribeSubnets", "Subnets[].AvailabilityZone", there.join(", "))
    .mend(
        Remedy::new(format!(
            "Let {class} select subnets in the zones that the NodePool asks for, or change the zones \
             in its requirements."
        ))
        .run(format!("kubectl edit nodepool {}", quote(name)))
        .run(class.edit()),
    )
}

fn some(
    cx: &Context<'_>,
    class: &Class<'_>,
    pool: &NodePool,
    without: &[&str],
    there: &[&str],
) -> Finding {
    let name = &pool.meta.name;
    let in_vpc = cx.facts.vpc_subnets.value().into_iter().flatten();
    let candidates: Vec<_> = in_vpc
        .filter(|s| {
            without.contains(&s.zone.as_str())
                || s.zone_id.as_deref().is_some_and(|id| without.contains(&id))
        })
        .map(|subnet| subnet.id.as_str())
        .collect();
    let words = match candidates[..] {
        [] => format!(
            "The cluster's VPC shows no subnet in {}: create one and let {class} select it, or take \
             the zone out of the requirements.",
            listed(without)
        ),
        _ => format!(
            "Let {class} select a subnet there (the VPC has {}), or take the zone out of the \
             requirements.",
            listed(&candidates)
        ),
    };
    Finding::warn(
        format!(
            "NodePool {name} asks for {}, and {class} selects no subnet there; it has subnets in {}.",
            listed(without),
            listed(there)
        ),
        format!("Pods that must run in {} stay Pending; the other zones are used.", listed(without)),
    )
    .errors(&["incompatible-zone", "no-instance-type-met"])
    .evidence("ec2:DescribeSubnets", "Subnets[].AvailabilityZone", there.join(", "))
    .mend(Remedy::new(words).run(format!("kubectl edit nodepool {}", quote(name))))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status,
    };

    fn asks(requirements: &Value) -> Value {
        json!({"facts": {"kubernetes": {"node_pools": {"known": [{
            "meta": {"name": "default"}, "requirements": requirements,
            "node_class": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
        }]}}}})
    }

    fn zone(operator: &str, values: &[&str]) -> Value {
        asks(&json!([{"key": ZONE, "operator": operator, "values": values}]))
    }

    #[test]
    fn rows() {
        let pass: &[(Status, &str)] = &[(Status::Pass, "NodePool/default")];
        let warn: &[(Status, &str)] = &[(Status::Warn, "NodePool/default")];
        let fail: &[(Status, &str)] = &[(Status::Fail, "NodePool/default")];
        let all = ["us-west-2a", "us-west-2b", "us-west-2c"];
        let unread = json!({"facts": {"discovered_subnets":
            {"denied": {"action": "ec2:DescribeSubnets", "message": "no"}}}});
        let none = json!({"facts": {"discovered_subnets": {"known": []}}});
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[
                ("no requirement", json!({}), pass),
                ("all", zone("In", &all), pass),
                ("one", zone("In", &["us-west-2a"]), pass),
                ("one without a subnet", zone("In", &["us-west-2a", "us-west-2d"]), warn),
                ("only one without a subnet", zone("In", &["us-west-2d"]), fail),
                ("none of these", zone("NotIn", &all), fail),
                ("not one of these", zone("NotIn", &["us-west-2a"]), pass),
                ("any", zone("Exists", &[]), pass),
                (
                    "by id",
                    asks(&json!([{"key": ZONE_ID, "operator": "In", "values": ["usw2-az1"]}])),
                    pass,
                ),
                (
                    "by an id without a subnet",
                    asks(&json!([{"key": ZONE_ID, "operator": "In", "values": ["usw2-az4"]}])),
                    fail,
                ),
                ("subnets are not readable", unread, &[(Status::Unknown, "NodePool/default")]),
                ("no subnet", none, &[(Status::Skipped, "NodePool/default")]),
                (
                    "no NodeClass",
                    json!({"facts": {"kubernetes": {"ec2_node_classes": {"known": []}}}}),
                    &[(Status::Skipped, "demo")],
                ),
            ],
        );
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[("without the cluster", json!({}), &[(Status::Skipped, "demo")])],
        );
    }
}
