//! Whether the instance types that a NodePool names are offered where its nodes may be.

use std::collections::BTreeSet;

use super::Values;
use crate::{
    checks::{
        Area, Check, Context, Judged, Stop, Verdicts,
        node_classes::{self, Class},
        remedies::{listed, quote},
        selection::Selector,
    },
    facts::kubernetes::node_pool::NodePool,
    outcome::{Finding, Remedy},
    target::{Product, names},
};

const API: &str = "ec2:DescribeInstanceTypeOfferings";
const ZONE: &str = "topology.kubernetes.io/zone";

pub static CHECK: Check = Check {
    id: "nodepool-instance-types",
    title: "The instance types that NodePools name are offered",
    area: Area::Launch,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["no-instance-type-met", "instance-type-unsupported-in-zone"],
    needs: &[API, "ec2:DescribeSubnets"],
    doc: "\
## What
Of the instance types and families that a NodePool names, at least one is offered in a zone that its
NodeClass has a subnet in and the NodePool allows; and none of the names is one that this region
does not know.

## Why
Not every region has every family, and not every zone of a region has what others have. A NodePool
that names one family, for GPUs or for a licence, may find that no zone with a subnet has it. Karpenter
leaves out what is not offered without a word.

## Seen as
`no instance type met the scheduling requirements or had a required offering` for the pod.

## Fix
Allow further types in the NodePool, or select subnets in zones that have them.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let judged = node_classes::each_many(cx, CHECK.products, |class| {
        let judge = |pool: &NodePool| {
            Judged::new(format!("NodePool/{}", pool.meta.name), || judge(cx, &class, pool))
        };
        match cx.facts.kubernetes.node_pools.found() {
            Ok(_) => super::of(cx, &class).filter(|pool| is_named(pool)).map(judge).collect(),
            Err(unseen) => vec![Judged::new(class.subject(), || Err(unseen.into()))],
        }
    })?;
    if judged.is_empty() {
        return Err(Stop::skipped("no NodePool names instance types or families"));
    }
    Ok(judged)
}

fn is_named(pool: &NodePool) -> bool {
    !names::instance_type_patterns(pool).is_empty()
}

fn judge<'a>(cx: &Context<'a>, class: &Class<'a>, pool: &NodePool) -> Result<Finding, Stop> {
    let offered = cx.facts.offerings.known()?;
    let zones = Values::of(pool, ZONE);
    let subnets = Selector::Class(*class).subnets(cx)?;
    let there: BTreeSet<&str> = subnets
        .iter()
        .map(|subnet| subnet.zone.as_str())
        .filter(|zone| zones.allows(zone))
        .collect();
    if there.is_empty() {
        return Err(Stop::skipped("it has no zone to launch in (see nodepool-zones)"));
    }
    let (types, families) = (
        names::wanted_of(pool, names::INSTANCE_TYPE),
        names::wanted_of(pool, names::INSTANCE_FAMILY),
    );
    let wanted = names::instance_type_patterns(pool);
    let name = &pool.meta.name;
    let fits = |kind: &str| {
        let family = kind.split('.').next().unwrap_or(kind);
        let within = |named: &[&str], value: &str| named.is_empty() || named.contains(&value);
        within(&types, kind) && within(&families, family)
    };
    let left: Vec<(&String, &BTreeSet<String>)> =
        offered.iter().filter(|(kind, _)| fits(kind)).collect();
    let in_zones = left.iter().any(|(_, zones)| zones.iter().any(|z| there.contains(z.as_str())));
    if !in_zones {
        let elsewhere: BTreeSet<&str> =
            left.iter().flat_map(|(_, zones)| zones.iter().map(String::as_str)).collect();
        return Ok(none(cx, pool, &wanted, &Vec::from_iter(there), &Vec::from_iter(elsewhere)));
    }
    let unknown: Vec<&str> = wanted
        .iter()
        .filter(|pattern| !offered.keys().any(|kind| is_of(kind, pattern)))
        .map(|pattern| pattern.trim_end_matches(".*"))
        .collect();
    if unknown.is_empty() {
        return Ok(Finding::pass(format!(
            "They are offered in {}.",
            listed(&Vec::from_iter(there))
        )));
    }
    Ok(Finding::warn(
        format!(
            "NodePool {name} names {}, which {} does not offer.",
            listed(&unknown),
            cx.region()
        ),
        "Karpenter leaves them out without a word, and launches what is left.",
    )
    .errors(&["no-instance-type-met"])
    .evidence(API, "InstanceTypeOfferings[].InstanceType", "without these")
    .mend(edit(pool, "Correct the names, or take them out of the requirements.")))
}

fn is_of(kind: &str, pattern: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => kind.starts_with(start),
        None => kind == pattern,
    }
}

fn none(
    cx: &Context<'_>,
    pool: &NodePool,
    wanted: &[String],
    there: &[&str],
    elsewhere: &[&str],
) -> Finding {
    let name = &pool.meta.name;
    let wanted: Vec<&str> = wanted.iter().map(|one| one.trim_end_matches(".*")).collect();
    let offered = match elsewhere {
        [] => format!("{} does not offer them at all", cx.region()),
        zones => format!("{} offers them in {} only", cx.region(), listed(zones)),
    };
    Finding::fail(
        format!(
            "NodePool {name} asks for {}, and has subnets in {}: {offered}.",
            listed(&wanted),
            listed(there)
        ),
        format!("Nothing is launched for NodePool {name}: its pods stay Pending."),
    )
    .errors(CHECK.errors)
    .evidence(API, "InstanceTypeOfferings[].Location", elsewhere.join(", "))
    .mend(edit(
        pool,
        "Allow further types or families in the NodePool, or let its NodeClass select a subnet in a \
         zone that has them.",
    ))
}

fn edit(pool: &NodePool, words: &str) -> Remedy {
    Remedy::new(words).run(format!("kubectl edit nodepool {}", quote(&pool.meta.name)))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status,
    };

    fn asks(key: &str, values: &[&str], zones: &[&str]) -> Value {
        let mut requirements = vec![json!({"key": key, "operator": "In", "values": values})];
        if !zones.is_empty() {
            requirements.push(json!({"key": ZONE, "operator": "In", "values": zones}));
        }
        json!({"facts": {
            "offerings": {"known": {
                "m5.large": ["us-west-2a", "us-west-2b", "us-west-2c", "us-west-2d"],
                "p5.48xlarge": ["us-west-2c", "us-west-2d"],
                "u-6tb1.metal": ["us-west-2d"]}},
            "kubernetes": {"node_pools": {"known": [{"meta": {"name": "default"},
                "node_class": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
                "requirements": requirements}]}}}})
    }

    #[test]
    fn rows() {
        use Status::{Fail, Pass, Skipped, Unknown, Warn};
        let (kind, family) = (names::INSTANCE_TYPE, names::INSTANCE_FAMILY);
        let one = |status| [(status, "NodePool/default")];
        let mut unread = asks(kind, &["m5.large"], &[]);
        unread["facts"]["offerings"] = json!({"denied": {"action": API, "message": "no"}});
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[
                ("nothing named", json!({}), &[(Skipped, "demo")]),
                ("offered", asks(kind, &["m5.large"], &[]), &one(Pass)),
                ("a family", asks(family, &["p5"], &[]), &one(Pass)),
                ("not in its zones", asks(family, &["p5"], &["us-west-2a"]), &one(Fail)),
                ("not where subnets are", asks(kind, &["u-6tb1.metal"], &[]), &one(Fail)),
                ("nowhere", asks(family, &["m99"], &[]), &one(Fail)),
                ("one of two is", asks(family, &["m5", "m99"], &[]), &one(Warn)),
                ("unread", unread, &one(Unknown)),
                ("left alone", json!({"scope": {"no_kube": true}}), &[(Skipped, "demo")]),
            ],
        );
    }
}
