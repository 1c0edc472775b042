//! Whether exactly one of a node's security groups has the cluster's tag.

use super::{API, in_vpc};
use crate::{
    checks::{
        Area, Check, Context, Judged, Verdicts,
        remedies::{listed, quote, tags_argument},
        selection::selectors,
    },
    facts::ec2::SecurityGroup,
    outcome::{Finding, Remedy},
    target::Product,
};

pub static CHECK: Check = Check {
    id: "security-groups-cluster-tag",
    title: "One of a node's security groups has the cluster's tag",
    area: Area::Join,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["multiple-tagged-security-groups", "multiple-untagged-security-groups"],
    needs: &["eks:DescribeCluster", API],
    doc: "\
## What
Of the security groups that a NodeClass, or the discovery tag, selects in the cluster's VPC, not
more than one has the tag `kubernetes.io/cluster/<cluster>`; and if several are selected, one has it.

## Why
Karpenter attaches every group that is selected. What makes load balancers for Services looks for
the one group of a node that it may add rules to, and finds it by this tag: with two of them, or
with several groups and none, it adds no rules. EKS tags its own group for the cluster, and
Terraform modules tag theirs for nodes, so that selecting both is the usual way there.

## Seen as
`Multiple tagged security groups found for instance ...; ensure only the k8s security group is
tagged` as an event of the Service, whose load balancer never gets targets.

## Fix
Select one of them only, or take the tag off all but one.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let judged = selectors(cx)?
        .into_iter()
        .map(|selector| Judged::new(selector.subject(), || Ok(judge(cx, &in_vpc(cx, &selector)?))));
    Ok(judged.collect())
}

fn judge(cx: &Context<'_>, groups: &[&SecurityGroup]) -> Finding {
    let key = format!("kubernetes.io/cluster/{}", cx.target.cluster);
    let tagged: Vec<_> = groups.iter().filter(|group| group.tags.contains_key(&key)).collect();
    let all: Vec<_> = groups.iter().map(|group| group.id.as_str()).collect();
    match (tagged.len(), groups.len()) {
        (0, 0 | 1) => Finding::pass(format!("{} is the only one.", listed(&all))),
        (1, _) => Finding::pass(format!("{} has the tag {key}.", tagged[0].id)),
        (0, _) => none(cx, &key, groups),
        _ => several(cx, &key, &tagged),
    }
}

fn several(cx: &Context<'_>, key: &str, tagged: &[&&SecurityGroup]) -> Finding {
    let own = own_group(cx);
    let kept = tagged.iter().find(|group| Some(group.id.as_str()) == own).unwrap_or(&tagged[0]);
    let ids: Vec<_> = tagged.iter().map(|group| group.id.as_str()).collect();
    let words = format!(
        "Take the cluster's tag off all but one; {} keeps it here. What made the others, such as a \
         Terraform module, may put it back: change it there. Or select one group only.",
        kept.id
    );
    let remedy = tagged.iter().filter(|group| group.id != kept.id).fold(
        Remedy::new(words),
        |remedy, group| {
            remedy.run(format!(
                "aws ec2 delete-tags --region {} --resources {} --tags {}",
                quote(cx.region()),
                quote(&group.id),
                quote(&format!("Key={key}"))
            ))
        },
    );
    Finding::warn(
        format!("{} all have the tag {key}, and nodes get all of them.", listed(&ids)),
        "Nodes work, but Services of type LoadBalancer get no rules to reach them, and so no \
         healthy targets.",
    )
    .errors(&["multiple-tagged-security-groups"])
    .evidence(API, format!("SecurityGroups[] with tag {key}"), listed(&ids))
    .mend(remedy)
}

fn none(cx: &Context<'_>, key: &str, groups: &[&SecurityGroup]) -> Finding {
    let ids: Vec<_> = groups.iter().map(|group| group.id.as_str()).collect();
    Finding::warn(
        format!("Nodes get {}, none of which has the tag {key}.", listed(&ids)),
        "Nodes work, but Services of type LoadBalancer get no rules to reach them, and so no \
         healthy targets.",
    )
    .errors(&["multiple-untagged-security-groups"])
    .evidence(API, format!("SecurityGroups[] with tag {key}"), "[]")
    .mend(Remedy::new("Tag exactly one of them.").run(format!(
        "aws ec2 create-tags --region {} --resources {} --tags {}",
        quote(cx.region()),
        quote(ids[0]),
        tags_argument(key, "owned")
    )))
}

fn own_group<'a>(cx: &'a Context<'_>) -> Option<&'a str> {
    cx.facts.cluster.value()?.network.cluster_security_group_id.as_deref()
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

    fn groups(each: &[(&str, &str, Option<&str>)]) -> Value {
        let group = |(id, vpc, tag): &(&str, &str, Option<&str>)| {
            let tags = tag.map_or(json!({}), |tag| json!({tag: "owned"}));
            json!({"id": id, "name": id, "vpc_id": vpc, "tags": tags})
        };
        let groups: Vec<_> = each.iter().map(group).collect();
        json!({"facts": {"discovered_security_groups": {"known": groups}}})
    }

    #[test]
    fn rows() {
        use Status::{Pass, Skipped, Unknown, Warn};
        let tag = Some("kubernetes.io/cluster/demo");
        let other = Some("kubernetes.io/cluster/other");
        let (vpc, elsewhere) = ("vpc-01", "vpc-02");
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("EKS's own", json!({}), &[(Pass, TAG)]),
                ("one without", groups(&[("sg-01", vpc, None)]), &[(Pass, TAG)]),
                (
                    "one of two",
                    groups(&[("sg-01", vpc, tag), ("sg-02", vpc, other)]),
                    &[(Pass, TAG)],
                ),
                ("both", groups(&[("sg-01", vpc, tag), ("sg-02", vpc, tag)]), &[(Warn, TAG)]),
                (
                    "none of two",
                    groups(&[("sg-01", vpc, None), ("sg-02", vpc, other)]),
                    &[(Warn, TAG)],
                ),
                (
                    "the second is another VPC's",
                    groups(&[("sg-01", vpc, tag), ("sg-02", elsewhere, tag)]),
                    &[(Pass, TAG)],
                ),
                ("all elsewhere", groups(&[("sg-02", elsewhere, tag)]), &[(Skipped, TAG)]),
                ("none selected", groups(&[]), &[(Skipped, TAG)]),
                (
                    "not readable",
                    json!({"facts": {"discovered_security_groups":
                        {"denied": {"action": API, "message": "no"}}}}),
                    &[(Unknown, TAG)],
                ),
            ],
        );
    }

    #[test]
    fn the_clusters_own_keeps_the_tag() {
        let tag = Some("kubernetes.io/cluster/demo");
        let patch = groups(&[("sg-09", "vpc-01", tag), ("sg-01", "vpc-01", tag)]);
        let found = Account::Karpenter.judge(&CHECK, &patch).remove(0);
        let steps = serde_json::to_string(&found.remedy.expect("it is mended").steps).unwrap();
        let command = "delete-tags --region us-west-2 --resources sg-09 --tags Key=kubernetes.io/cluster/demo";
        assert!(steps.contains(command) && !steps.contains("sg-01"), "{steps}");
    }
}
