//! Whether each NodeClass, or the discovery tag, selects any subnet.

use super::API;
use crate::{
    checks::{
        Area, Check, Context, Judged, Verdicts,
        discovery::{Missed, NearMisses, may_take, tag_command},
        remedies::listed,
        selection::{Selector, selectors},
    },
    facts::ec2::Subnet,
    outcome::{Finding, Remedy},
    target::{Product, Tag},
};

pub static CHECK: Check = Check {
    id: "subnets-discovered",
    title: "Every NodeClass selects subnets",
    area: Area::Launch,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["subnets-not-found"],
    needs: &[API],
    doc: "\
## What
The `subnetSelectorTerms` of each NodeClass select at least one subnet of the region: each term is
resolved as Karpenter does it. Where no NodeClass is known, at least one subnet has the discovery
tag, `karpenter.sh/discovery=<cluster>` unless `--discovery-tag` says otherwise. Where none is
selected, tags that come close are named.

## Why
A NodeClass names its subnets by `subnetSelectorTerms`, and the guides use this tag. Tags are
compared letter by letter, case and spaces included. In a VPC that another account shares,
that account's tags are not seen in yours.

## Seen as
`SubnetsReady` is False on the NodeClass, with `SubnetSelector did not match any Subnets`.

## Fix
`aws ec2 create-tags` on the subnets that nodes shall run in, or select them by id.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let judge = |selector: Selector<'_>| {
        Judged::new(selector.subject(), || {
            let ids: Vec<_> = selector.subnets(cx)?.iter().map(|subnet| &subnet.id).collect();
            if ids.is_empty() {
                return Ok(none(cx, &selector));
            }
            Ok(Finding::pass(format!("It selects {}.", listed(&ids))))
        })
    };
    Ok(selectors(cx)?.into_iter().map(judge).collect())
}

fn none(cx: &Context<'_>, selector: &Selector<'_>) -> Finding {
    let in_vpc = cx.facts.vpc_subnets.value().map(Vec::as_slice).unwrap_or_default();
    let missed = Missed {
        what: "subnet",
        terms: |class| &class.spec.subnet_terms,
        field: "subnetSelectorTerms",
        api: API,
    };
    let tags = in_vpc.iter().map(|subnet| (subnet.id.as_str(), &subnet.tags));
    let near = missed.near_misses(selector, tags);
    let mut finding = missed.finding(cx, selector, &near, &shared(cx, in_vpc));
    finding.remedy = Some(match missed.tag(selector) {
        Some(tag) => remedy(cx, &tag, &near),
        None => missed.other_terms(cx, selector),
    });
    finding.errors(&["subnets-not-found"])
}

/// Whether the VPC's subnets belong to another account, whose tags are not seen here.
fn shared(cx: &Context<'_>, in_vpc: &[Subnet]) -> String {
    let Some(own) = cx.account() else { return String::new() };
    let other = in_vpc.iter().find_map(|subnet| subnet.owner.as_deref().filter(|o| *o != own));
    other.map_or_else(String::new, |owner| {
        format!(
            " The VPC's subnets belong to account {owner}; tags that it set are not seen in \
             account {own}."
        )
    })
}

fn remedy(cx: &Context<'_>, tag: &Tag, near: &NearMisses) -> Remedy {
    let meant: Vec<_> = near.meant.iter().map(String::as_str).collect();
    if !meant.is_empty() {
        return Remedy::new("Tag the subnets that seem to be meant.")
            .run(tag_command(cx, tag, &meant));
    }
    let own = cx.facts.cluster.value().map(|cluster| cluster.network.subnet_ids.as_slice());
    let own = own.unwrap_or_default();
    let in_vpc = cx.facts.vpc_subnets.value().into_iter().flatten();
    let free: Vec<_> = in_vpc
        .filter(|subnet| own.contains(&subnet.id))
        .filter(|subnet| may_take(tag, &subnet.tags))
        .map(|subnet| subnet.id.as_str())
        .collect();
    if free.is_empty() {
        return Remedy::new(
            "Tag the subnets that nodes shall run in, or select them by id in the NodeClass. \
             A subnet that has the key with another value is another cluster's: select it by id.",
        )
        .run(tag_command(cx, tag, &["FILL_IN_SUBNET_ID"]));
    }
    Remedy::new(
        "Tag the subnets that nodes shall run in. The cluster's own are filled in, but for those \
         that have the key with another value, which another cluster may select by: leave out \
         those without a way to the cluster and the registries. Or select by id in the NodeClass.",
    )
    .run(tag_command(cx, tag, &free))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::{Outcome, Status, Step},
    };

    const TAG: &str = "karpenter.sh/discovery=demo";

    #[test]
    fn rows() {
        let none = json!({"facts": {"discovered_subnets": {"known": []}}});
        let denied = json!({"denied": {"action": API, "message": "not authorized"}});
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("three", json!({}), &[(Status::Pass, TAG)]),
                ("none", none.clone(), &[(Status::Fail, TAG)]),
                (
                    "not readable",
                    json!({"facts": {"discovered_subnets": denied}}),
                    &[(Status::Unknown, TAG)],
                ),
            ],
        );
        assert_rows(
            Account::AutoMode,
            &CHECK,
            &[
                ("needs no tag", none.clone(), &[(Status::Skipped, "demo")]),
                (
                    "a NodeClass of one's own",
                    json!({"scope": {"discovery_tag": "team=a"}}),
                    &[(Status::Fail, "team=a")],
                ),
            ],
        );
    }

    fn outcome(subnets: &[serde_json::Value]) -> (Outcome, String) {
        let in_vpc: Vec<_> = subnets
            .iter()
            .map(|subnet| {
                let mut full = json!({
                    "id": "subnet-07", "arn": null, "vpc_id": "vpc-01", "zone": "us-west-2a",
                    "zone_id": null, "cidr": null, "free_addresses": 100, "owner": "111122223333",
                    "tags": {},
                });
                json_patch::merge(&mut full, subnet);
                full
            })
            .collect();
        let patch = json!({"facts": {
            "discovered_subnets": {"known": []}, "vpc_subnets": {"known": in_vpc},
        }});
        let found = Account::Karpenter.judge(&CHECK, &patch).remove(0);
        let steps = found.remedy.clone().expect("it is mended").steps;
        let Step::Command { command } = steps[0].clone() else { panic!("{steps:?}") };
        (found, command)
    }

    #[test]
    fn a_near_miss_is_named_and_mended() {
        let (found, command) = outcome(&[json!({"tags": {"karpenter.sh/discovery ": "demo"}})]);
        assert!(found.seen.contains("subnet-07 has"), "{}", found.seen);
        assert_eq!(
            command,
            "aws ec2 create-tags --region us-west-2 --resources subnet-07 --tags \
             Key=karpenter.sh/discovery,Value=demo"
        );
    }

    #[test]
    fn without_one_the_clusters_subnets_are_proposed() {
        let other = json!({"karpenter.sh/discovery": "demo2"});
        for (subnets, ids) in [
            (vec![json!({"id": "subnet-01"}), json!({"id": "subnet-02"})], "subnet-01 subnet-02"),
            // The one that another cluster selects by its tag is left alone.
            (
                vec![json!({"id": "subnet-01", "tags": other}), json!({"id": "subnet-02"})],
                "subnet-02",
            ),
            (vec![json!({"id": "subnet-01", "tags": other})], "FILL_IN_SUBNET_ID"),
            (vec![json!({})], "FILL_IN_SUBNET_ID"),
        ] {
            let (_, command) = outcome(&subnets);
            assert!(command.contains(&format!("--resources {ids} --tags")), "{command}");
        }
    }

    #[test]
    fn a_shared_vpc_is_pointed_out() {
        let (found, _) = outcome(&[json!({"owner": "999999999999"})]);
        assert!(found.seen.contains("belong to account 999999999999"), "{}", found.seen);
    }

    /// NodeClasses `a` and `b` with these terms, and what their queries found.
    fn classes(a: &Value, b: &Value, selected: &Value) -> Value {
        let class =
            |name: &str, terms: &Value| json!({"meta": {"name": name}, "subnet_terms": terms});
        json!({"facts": {
            "kubernetes": {"ec2_node_classes": {"known": [class("a", a), class("b", b)]}},
            "selected_subnets": selected,
        }})
    }

    #[test]
    fn each_node_class_selects_on_its_own() {
        let subnet = json!({"id": "subnet-09", "arn": null, "vpc_id": "vpc-01",
            "zone": "us-west-2a", "zone_id": null, "cidr": null, "free_addresses": 100,
            "owner": null, "tags": {}});
        let by_tag = json!([{"tags": {"karpenter.sh/discovery": "demo"}}]);
        let by_id = json!([{"id": "subnet-09"}]);
        let answers = |found: Value| json!([{"query": by_id, "found": found}]);
        let denied = json!({"denied": {"action": API, "message": "no"}});
        let (a, b) = ("EC2NodeClass/a", "EC2NodeClass/b");
        let mut named = classes(&by_tag, &by_id, &answers(json!({"known": [subnet]})));
        named["scope"] = json!({"discovery_tag": "team=x"});
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[
                ("as the guide does", json!({}), &[(Status::Pass, "EC2NodeClass/default")]),
                (
                    "by tag and by id",
                    classes(&by_tag, &by_id, &answers(json!({"known": [subnet]}))),
                    &[(Status::Pass, a), (Status::Pass, b)],
                ),
                (
                    "an id that is gone",
                    classes(&by_tag, &by_id, &answers(json!({"known": []}))),
                    &[(Status::Pass, a), (Status::Fail, b)],
                ),
                (
                    "one could not be asked",
                    classes(&by_tag, &by_id, &answers(denied)),
                    &[(Status::Pass, a), (Status::Unknown, b)],
                ),
                (
                    "one was not asked",
                    classes(&by_tag, &by_id, &json!([])),
                    &[(Status::Pass, a), (Status::Unknown, b)],
                ),
                (
                    "a tag that the user named is judged as well",
                    named,
                    // It is another query than the NodeClasses', and the facts were read with it.
                    &[(Status::Unknown, a), (Status::Pass, b), (Status::Pass, "team=x")],
                ),
                (
                    "no NodeClass yet",
                    json!({"facts": {"kubernetes": {"ec2_node_classes": {"known": []}}}}),
                    &[(Status::Pass, TAG)],
                ),
            ],
        );
        let default = "NodeClass/default";
        assert_rows(
            Account::AutoModeCluster,
            &CHECK,
            &[(
                "built in",
                json!({}),
                &[(Status::Pass, default), (Status::Pass, "NodeClass/batch")],
            )],
        );
    }

    #[test]
    fn what_a_node_class_asks_for_is_named() {
        let terms = json!([{"tags": {"Name": "*private*", "team": "a"}}]);
        let patch = classes(&terms, &terms, &json!([{"query": terms, "found": {"known": []}}]));
        let found = Account::KarpenterCluster.judge(&CHECK, &patch).remove(0);
        assert!(found.seen.contains("tag Name=*private* and tag team=a"), "{}", found.seen);
        let steps = found.remedy.expect("it is mended").steps;
        let edit = "kubectl edit ec2nodeclass a".to_owned();
        assert_eq!(steps.last(), Some(&Step::Command { command: edit }));
    }
}
