//! Whether the discovery tag selects any subnet.

use super::API;
use crate::{
    checks::{
        Area, Check, Context, Judged, Verdicts,
        discovery::{NearMisses, may_take, near_misses, selects_by_tag, tag_command},
        remedies::listed,
    },
    facts::ec2::Subnet,
    outcome::{Finding, Remedy},
    target::Product,
};

pub static CHECK: Check = Check {
    id: "subnets-discovered",
    title: "The discovery tag selects subnets",
    area: Area::Launch,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["subnets-not-found"],
    needs: &[API],
    doc: "\
## What
At least one subnet in the region has the discovery tag, `karpenter.sh/discovery=<cluster>`
unless `--discovery-tag` says otherwise. Where none has, tags that come close are named.

## Why
An EC2NodeClass names its subnets by `subnetSelectorTerms`, and the guides use this tag. Tags
are compared letter by letter, case and spaces included. In a VPC that another account shares,
that account's tags are not seen in yours.

## Seen as
`SubnetsReady` is False on the EC2NodeClass, with `SubnetSelector did not match any Subnets`.

## Fix
`aws ec2 create-tags` on the subnets that nodes shall run in, or select them by id.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    selects_by_tag(cx)?;
    let discovered = cx.facts.discovered_subnets.found();
    Ok(vec![Judged::new(cx.target.discovery_tag.value.to_string(), || {
        Ok(match discovered?.map(Vec::as_slice) {
            None | Some([]) => none(cx),
            Some(subnets) => {
                let ids: Vec<_> = subnets.iter().map(|subnet| &subnet.id).collect();
                Finding::pass(format!("It selects {}.", listed(&ids)))
            }
        })
    })])
}

fn none(cx: &Context<'_>) -> Finding {
    let tag = &cx.target.discovery_tag.value;
    let in_vpc = cx.facts.vpc_subnets.value().map(Vec::as_slice).unwrap_or_default();
    let near = near_misses(tag, in_vpc.iter().map(|subnet| (subnet.id.as_str(), &subnet.tags)));
    let mut seen = format!("No subnet in {} has the tag {tag}.", cx.region());
    for words in &near.words {
        seen += &format!(" In the cluster's VPC, {words}.");
    }
    seen += &shared(cx, in_vpc);
    Finding::fail(
        seen,
        "An EC2NodeClass that selects its subnets by this tag never becomes ready, and Karpenter \
         launches nothing for it.",
    )
    .errors(&["subnets-not-found"])
    .evidence(API, format!("Subnets[] with tag {tag}"), "[]")
    .mend(remedy(cx, &near))
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

fn remedy(cx: &Context<'_>, near: &NearMisses) -> Remedy {
    let meant: Vec<_> = near.meant.iter().map(String::as_str).collect();
    if !meant.is_empty() {
        return Remedy::new("Tag the subnets that seem to be meant.").run(tag_command(cx, &meant));
    }
    let own = cx.facts.cluster.value().map(|cluster| cluster.network.subnet_ids.as_slice());
    let own = own.unwrap_or_default();
    let in_vpc = cx.facts.vpc_subnets.value().into_iter().flatten();
    let free: Vec<_> = in_vpc
        .filter(|subnet| own.contains(&subnet.id))
        .filter(|subnet| may_take(&cx.target.discovery_tag.value, &subnet.tags))
        .map(|subnet| subnet.id.as_str())
        .collect();
    if free.is_empty() {
        return Remedy::new(
            "Tag the subnets that nodes shall run in, or select them by id in the EC2NodeClass. \
             A subnet that has the key with another value is another cluster's: select it by id.",
        )
        .run(tag_command(cx, &["SUBNET_ID"]));
    }
    Remedy::new(
        "Tag the subnets that nodes shall run in. The cluster's own are filled in, but for those \
         that have the key with another value, which another cluster may select by: leave out \
         those without a way to the cluster and the registries. Or select by id in the \
         EC2NodeClass.",
    )
    .run(tag_command(cx, &free))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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
            (vec![json!({"id": "subnet-01", "tags": other})], "SUBNET_ID"),
            (vec![json!({})], "SUBNET_ID"),
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
}
