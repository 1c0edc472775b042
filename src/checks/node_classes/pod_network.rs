//! Whether the subnets and security groups that an Auto Mode NodeClass gives to pods are there.

use std::collections::{BTreeMap, BTreeSet};

use super::{Class, known};
use crate::{
    checks::{
        Area, Check, Context, Judged, Stop, Verdicts,
        discovery::cluster_vpc,
        remedies::listed,
        selection::{Selector, terms_in_words},
    },
    facts::ec2::{SecurityGroup, Subnet},
    outcome::{Finding, Remedy},
    target::Product,
};

/// What a node takes at once: a block of 16 addresses.
const BLOCK: u32 = 16;

pub static CHECK: Check = Check {
    id: "nodeclass-pod-network",
    title: "The subnets and security groups of pods are there",
    area: Area::Launch,
    products: &[Product::AutoMode],
    errors: &["subnets-not-found", "security-groups-not-found", "failed-assign-ip"],
    needs: &["eks:DescribeCluster", "ec2:DescribeSubnets", "ec2:DescribeSecurityGroups"],
    doc: "\
## What
A NodeClass of EKS Auto Mode that gives pods a network of their own sets both
`podSubnetSelectorTerms` and `podSecurityGroupSelectorTerms`. They select subnets and security groups
of the cluster's VPC, a subnet in each zone that nodes may run in, and with addresses left.

## Why
The interfaces of pods are in the zone of their node. In a zone without a subnet for pods, or with
one that is full, nodes come up and their pods get no address.

## Seen as
The NodeClass is not ready: `SubnetsNotFound`, `SecurityGroupsNotFound`. On nodes that do come up,
pods stay in ContainerCreating with `failed to assign an IP address to container`.

## Fix
Correct the terms, or tag a subnet in each zone of the nodes.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    cx.kubernetes()?;
    super::readable(cx)?;
    let own: Vec<_> = known(cx)
        .into_iter()
        .filter(|class| class.product == Product::AutoMode)
        .filter(|class| {
            !class.spec.pod_subnet_terms.is_empty()
                || !class.spec.pod_security_group_terms.is_empty()
        })
        .collect();
    if own.is_empty() {
        return Err(Stop::skipped("no NodeClass gives pods a network of their own"));
    }
    Ok(own.into_iter().map(|class| Judged::new(class.subject(), || judge(cx, class))).collect())
}

fn judge(cx: &Context<'_>, class: Class<'_>) -> Result<Finding, Stop> {
    let spec = class.spec;
    for (terms, other, field, set, error) in [
        (&spec.pod_subnet_terms, &spec.pod_security_group_terms, SUBNETS, GROUPS, NO_SUBNETS),
        (&spec.pod_security_group_terms, &spec.pod_subnet_terms, GROUPS, SUBNETS, NO_GROUPS),
    ] {
        if terms.is_empty() && !other.is_empty() {
            let seen = format!("{class} sets {set} and no {field}.");
            let effect = "EKS takes the two only together: the NodeClass launches nothing.";
            return Ok(mend(Finding::fail(seen, effect).errors(&[error]), class, field));
        }
    }
    let selector = Selector::Class(class);
    let subnets = selector.pod_subnets(cx)?;
    if subnets.is_empty() {
        return Ok(nothing(class, SUBNETS, &terms_in_words(&spec.pod_subnet_terms), NO_SUBNETS));
    }
    let groups = selector.pod_security_groups(cx)?;
    if groups.is_empty() {
        let terms = terms_in_words(&spec.pod_security_group_terms);
        return Ok(nothing(class, GROUPS, &terms, NO_GROUPS));
    }
    let vpc = cluster_vpc(cx)?;
    if let Some(finding) = elsewhere(class, vpc, &subnets, &groups) {
        return Ok(finding);
    }
    in_zones(cx, class, &subnets)
}

const SUBNETS: &str = "podSubnetSelectorTerms";
const GROUPS: &str = "podSecurityGroupSelectorTerms";
const NO_SUBNETS: &str = "subnets-not-found";
const NO_GROUPS: &str = "security-groups-not-found";

fn nothing(class: Class<'_>, field: &str, terms: &str, error: &'static str) -> Finding {
    let finding = Finding::fail(
        format!("{class} selects by {terms} in {field}, and nothing in the account fits."),
        "The NodeClass does not become ready, and its NodePools launch nothing.",
    );
    mend(finding.errors(&[error]), class, field)
}

fn elsewhere(
    class: Class<'_>,
    vpc: &str,
    subnets: &[&Subnet],
    groups: &[&SecurityGroup],
) -> Option<Finding> {
    let subnet = subnets.iter().find(|subnet| subnet.vpc_id != vpc);
    let of = |group: &SecurityGroup| group.vpc_id.clone().unwrap_or_default();
    let group = groups.iter().find(|group| of(group) != vpc);
    let (id, their, field, error) = match (subnet, group) {
        (Some(subnet), _) => (&subnet.id, subnet.vpc_id.clone(), SUBNETS, NO_SUBNETS),
        (None, Some(group)) => (&group.id, of(group), GROUPS, NO_GROUPS),
        (None, None) => return None,
    };
    let finding = Finding::fail(
        format!("{field} of {class} selects {id} of {their}, and the cluster is in {vpc}."),
        "No interface of a pod can be made with it: pods of such nodes get no address.",
    );
    Some(mend(finding.errors(&[error, "failed-assign-ip"]), class, field))
}

/// Whether pods find addresses in each zone that nodes may run in.
fn in_zones(cx: &Context<'_>, class: Class<'_>, subnets: &[&Subnet]) -> Result<Finding, Stop> {
    let mut free: BTreeMap<&str, u32> = BTreeMap::new();
    for subnet in subnets {
        let most = free.entry(&subnet.zone).or_default();
        *most = subnet.free_addresses.max(*most);
    }
    let nodes = Selector::Class(class).subnets(cx)?;
    let zones: BTreeSet<&str> = nodes.iter().map(|subnet| subnet.zone.as_str()).collect();
    let without: Vec<_> = zones.iter().filter(|zone| !free.contains_key(*zone)).collect();
    if !without.is_empty() {
        let finding = Finding::warn(
            format!(
                "{class} lets nodes run in {}, and has no subnet for pods there.",
                listed(&without)
            ),
            "Nodes in these zones come up, and their pods get no address.",
        );
        return Ok(mend(finding.errors(&["failed-assign-ip"]), class, SUBNETS));
    }
    let full = free.iter().filter(|(zone, free)| zones.contains(*zone) && **free < BLOCK);
    let full: Vec<_> = full.map(|(zone, free)| format!("{zone} ({free} left)")).collect();
    if !full.is_empty() {
        let finding = Finding::warn(
            format!("The subnets for pods of {class} are full in {}.", listed(&full)),
            "A node takes a block of 16 addresses for its pods: the pods of the next one in these \
             zones may get none.",
        );
        return Ok(mend(finding.errors(&["failed-assign-ip"]), class, SUBNETS));
    }
    Ok(Finding::pass(format!("Pods have {} subnets, in {}.", subnets.len(), {
        let zones: Vec<_> = free.keys().collect();
        listed(&zones)
    })))
}

fn mend(finding: Finding, class: Class<'_>, field: &str) -> Finding {
    let terms = match field {
        SUBNETS => &class.spec.pod_subnet_terms,
        _ => &class.spec.pod_security_group_terms,
    };
    finding.evidence(class.api(), format!("spec.{field}"), terms_in_words(terms)).mend(
        Remedy::new(format!(
            "Correct {field}: subnets of the cluster's VPC with room, one in each zone of the \
             nodes, and security groups of that VPC. Or take both fields out: pods then share the \
             nodes' network."
        ))
        .run(class.edit()),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status::{Fail, Pass, Skipped, Unknown, Warn},
    };

    const NAME: &str = "NodeClass/own";

    fn subnet(id: &str, zone: &str, vpc: &str, free: u32) -> Value {
        json!({"id": id, "arn": null, "vpc_id": vpc, "zone": zone, "zone_id": null, "cidr": null,
            "free_addresses": free, "owner": null, "tags": {}})
    }

    /// A NodeClass with these terms, whose selectors have these answers.
    fn class(part: &Value, pods: &[Value], groups: &[Value]) -> Value {
        let mut class = json!({"meta": {"name": "own"}, "role": "r",
            "subnet_terms": [{"id": "subnet-n"}], "security_group_terms": [{"id": "sg-n"}],
            "pod_subnet_terms": [{"id": "subnet-p"}],
            "pod_security_group_terms": [{"id": "sg-p"}]});
        json_patch::merge(&mut class, part);
        let nodes = [subnet("subnet-n", "us-west-2a", "vpc-01", 100)];
        json!({"facts": {
            "kubernetes": {"auto_node_classes": {"known": [class]}},
            "selected_subnets": [
                {"query": [{"id": "subnet-n"}], "found": {"known": nodes}},
                {"query": [{"id": "subnet-p"}], "found": {"known": pods}}],
            "selected_security_groups": [
                {"query": [{"id": "sg-p"}], "found": {"known": groups}}],
        }})
    }

    #[test]
    fn rows() {
        let group = |vpc: &str| json!({"id": "sg-p", "name": "pods", "vpc_id": vpc, "tags": {}});
        let (groups, none) = ([group("vpc-01")], json!({}));
        let here = |free| [subnet("subnet-p", "us-west-2a", "vpc-01", free)];
        let mut unread = class(&none, &here(100), &groups);
        unread["facts"]["selected_subnets"][1]["found"] =
            json!({"denied": {"action": "ec2:DescribeSubnets", "message": "no"}});
        let row = |status| [(status, NAME)];
        assert_rows(
            Account::AutoModeCluster,
            &CHECK,
            &[
                ("the nodes' own", json!({}), &[(Skipped, "demo")]),
                ("both", class(&none, &here(100), &groups), &row(Pass)),
                (
                    "no groups",
                    class(&json!({"pod_security_group_terms": null}), &here(100), &[]),
                    &row(Fail),
                ),
                ("no subnets", class(&json!({"pod_subnet_terms": null}), &[], &groups), &row(Fail)),
                ("subnets that are not there", class(&none, &[], &groups), &row(Fail)),
                ("groups that are not there", class(&none, &here(100), &[]), &row(Fail)),
                (
                    "another VPC's",
                    class(&none, &[subnet("subnet-p", "us-west-2a", "vpc-02", 9)], &groups),
                    &row(Fail),
                ),
                ("another VPC's", class(&none, &here(9), &[group("vpc-02")]), &row(Fail)),
                (
                    "another zone",
                    class(&none, &[subnet("subnet-p", "us-west-2b", "vpc-01", 99)], &groups),
                    &row(Warn),
                ),
                ("full", class(&none, &here(15), &groups), &row(Warn)),
                ("not readable", unread, &row(Unknown)),
                ("left alone", json!({"scope": {"no_kube": true}}), &[(Skipped, "demo")]),
            ],
        );
    }
}
