//! Whether each NodeClass, or the discovery tag, selects any security group.

use super::API;
use crate::{
    checks::{
        Area, Check, Context, Judged, Verdicts,
        discovery::{Missed, NearMisses, may_take, tag_command},
        remedies::listed,
        selection::{Selector, selectors},
    },
    outcome::{Finding, Remedy},
    target::{Product, Tag},
};

pub static CHECK: Check = Check {
    id: "security-groups-discovered",
    title: "Every NodeClass selects security groups",
    area: Area::Launch,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["security-groups-not-found"],
    needs: &[API],
    doc: "\
## What
The `securityGroupSelectorTerms` of each NodeClass select at least one security group of the
region: by id, by tags, or by the group's name, which is not its `Name` tag. Where no NodeClass is
known, at least one group has the discovery tag, `karpenter.sh/discovery=<cluster>` unless
`--discovery-tag` says otherwise. Where none is selected, tags that come close are named.

## Why
A NodeClass names its security groups by `securityGroupSelectorTerms`, and the guides use this
tag. Every group that matches is attached to the nodes.

## Seen as
`SecurityGroupsReady` is False on the NodeClass, with `SecurityGroupSelector did not match any
SecurityGroups`.

## Fix
`aws ec2 create-tags` on the cluster's security group, or select groups by id or name.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let judge = |selector: Selector<'_>| {
        Judged::new(selector.subject(), || {
            let groups = selector.security_groups(cx)?;
            let ids: Vec<_> = groups.iter().map(|group| &group.id).collect();
            if ids.is_empty() {
                return Ok(none(cx, &selector));
            }
            Ok(Finding::pass(format!("It selects {}.", listed(&ids))))
        })
    };
    Ok(selectors(cx)?.into_iter().map(judge).collect())
}

fn none(cx: &Context<'_>, selector: &Selector<'_>) -> Finding {
    let missed = Missed {
        what: "security group",
        terms: |class| &class.spec.security_group_terms,
        field: "securityGroupSelectorTerms",
        api: API,
    };
    let in_vpc = cx.facts.vpc_security_groups.value().into_iter().flatten();
    let near = missed.near_misses(selector, in_vpc.map(|group| (group.id.as_str(), &group.tags)));
    let mut finding = missed.finding(cx, selector, &near, "");
    finding.remedy = Some(match missed.tag(selector) {
        Some(tag) => remedy(cx, &tag, &near),
        None => missed.other_terms(cx, selector),
    });
    finding.errors(&["security-groups-not-found"])
}

fn remedy(cx: &Context<'_>, tag: &Tag, near: &NearMisses) -> Remedy {
    let meant: Vec<_> = near.meant.iter().map(String::as_str).collect();
    if !meant.is_empty() {
        return Remedy::new("Tag the security groups that seem to be meant.")
            .run(tag_command(cx, tag, &meant));
    }
    let own = cx.facts.cluster.value();
    let own = own.and_then(|cluster| cluster.network.cluster_security_group_id.as_deref());
    let mut in_vpc = cx.facts.vpc_security_groups.value().into_iter().flatten();
    let own = in_vpc.find(|group| Some(group.id.as_str()) == own && may_take(tag, &group.tags));
    Remedy::new(
        "Tag the security group that EKS made for the cluster, which lets nodes and control plane \
         talk. Or select groups by id in the NodeClass. A group that has the key with another \
         value is another cluster's: leave it out.",
    )
    .run(tag_command(cx, tag, &[own.map_or("FILL_IN_SECURITY_GROUP_ID", |group| &group.id)]))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::{Status, Step},
    };

    const TAG: &str = "karpenter.sh/discovery=demo";

    #[test]
    fn rows() {
        let denied = json!({"denied": {"action": API, "message": "not authorized"}});
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("one", json!({}), &[(Status::Pass, TAG)]),
                (
                    "none",
                    json!({"facts": {"discovered_security_groups": {"known": []}}}),
                    &[(Status::Fail, TAG)],
                ),
                (
                    "not readable",
                    json!({"facts": {"discovered_security_groups": denied}}),
                    &[(Status::Unknown, TAG)],
                ),
            ],
        );
        assert_rows(
            Account::AutoMode,
            &CHECK,
            &[
                ("needs no tag", json!({}), &[(Status::Skipped, "demo")]),
                (
                    "a NodeClass of one's own",
                    json!({"scope": {"discovery_tag": "team"}}),
                    &[(Status::Fail, "team")],
                ),
            ],
        );
    }

    #[test]
    fn the_meant_group_or_the_clusters_is_tagged() {
        let of_vpc = |tags: &Value, own: &Value| {
            let group = |id: &str, tags: &Value| json!({"id": id, "name": "n", "vpc_id": "vpc-01", "tags": tags});
            json!({"facts": {
                "discovered_security_groups": {"known": []},
                "vpc_security_groups": {"known": [group("sg-09", tags), group("sg-01", own)]},
            }})
        };
        let another = json!({"karpenter.sh/discovery": "other"});
        let none = json!({});
        let denied = json!({"denied": {"action": API, "message": "no"}});
        for (patch, id) in [
            (of_vpc(&json!({"Karpenter.sh/discovery": "demo"}), &none), "--resources sg-09 "),
            (of_vpc(&json!({"Name": "demo"}), &none), "--resources sg-01 "),
            (of_vpc(&none, &another), "--resources FILL_IN_SECURITY_GROUP_ID "),
            (
                json!({"facts": {
                    "discovered_security_groups": {"known": []}, "vpc_security_groups": denied,
                }}),
                "--resources FILL_IN_SECURITY_GROUP_ID ",
            ),
        ] {
            let found = Account::Karpenter.judge(&CHECK, &patch).remove(0);
            let steps = found.remedy.expect("it is mended").steps;
            let Step::Command { command } = &steps[0] else { panic!("{steps:?}") };
            assert!(command.contains(id), "{command}");
        }
    }
}
