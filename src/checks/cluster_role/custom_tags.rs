//! EKS Auto Mode may set tags of the user's own.

use super::existing;
use crate::{
    checks::{
        Area, Check, Context, Judged, Stop, Verdicts,
        node_classes::{self, Tagging},
        permissions::{Answers, Grants, ROLE_POLICIES, Who, add_policies, without_policy},
        remedies::listed,
        setup::{distinct_requests, setup},
    },
    facts::{arn, iam::Role},
    outcome::{Finding, FindingStatus, Remedy},
    requirements::{
        self, CUSTOM_TAGS, Feature, Setup,
        policy::Layout,
        role::{self, Kind},
    },
    target::Product,
};

pub static CHECK: Check = Check {
    id: "cluster-role-custom-tags",
    title: "EKS Auto Mode may set tags of your own",
    area: Area::Controller,
    products: &[Product::AutoMode],
    errors: &[
        "launch-template-configs",
        "create-fleet-denied",
        "launch-unauthorized",
        "unauthorized-operation",
    ],
    needs: &[
        "eks:DescribeCluster",
        ROLE_POLICIES,
    ],
    doc: "\
## What
The cluster's role may create what Auto Mode creates with tags that your NodeClasses set. Where these
are not known, the same is asked for a NodeClass, a StorageClass and a load balancer with a made-up
tag; `--nodeclass-tag` says which tags a NodeClass will set.

## Why
AWS's policies for Auto Mode list the tag keys that EKS sets, and refuse a request with any other.
A NodeClass with such a tag launches nothing, which is a fail. Where it is not known whether one sets
tags, it is a warning: without tags all is well. Copies of AWS's example are about that have `*` under
`StringEquals`, where it is a plain character and no request ever matches.

## Seen as
NodeClaims that are not launched, with `Error getting launch template configs`.

## Fix
Add the policy of the finding to the cluster's role, or set no tags.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let name = arn::role_name(&cx.cluster()?.role_arn);
    Ok(vec![Judged::new(name, || judge(cx)).of_role(name)])
}

fn judge(cx: &Context<'_>) -> Result<Finding, Stop> {
    let role = existing(cx)?;
    let tagging = tagging(cx);
    if tagging.is_empty()
        && node_classes::list(cx, Product::AutoMode).found().is_ok()
        && cx.kubernetes().is_ok()
    {
        return Err(Stop::skipped("no NodeClass sets tags of its own"));
    }
    let features: &[Feature] =
        if tagging.is_empty() { &CUSTOM_TAGS } else { &[Feature::NodeClassTags] };
    let base = with_features(setup(cx, Product::AutoMode)?, features);
    let mut setups: Vec<Setup> = tagging
        .iter()
        .map(|tagging| {
            let mut setup = base.clone();
            setup.tags.clone_from(tagging.tags);
            if let Some(class) = tagging.class {
                setup.node_class = class.name().to_owned();
            }
            setup
        })
        .collect();
    if setups.is_empty() {
        setups.push(base.clone());
    }
    let who = Who {
        role: &role.name,
        asker: "EKS Auto Mode with tags of your own".to_owned(),
        cluster: &cx.target.cluster,
        errors: CHECK.errors,
    };
    let mut requests = distinct_requests(&setups, requirements::auto_mode);
    requests.retain(|request| request.id.starts_with("custom-tags-"));
    let answers = Answers::to(requests, &Grants::of(cx, role)?);
    if answers.refused.is_empty() {
        return match answers.unknown.into_iter().next() {
            Some(unknown) => Err(Stop::Unknown(unknown)),
            None => Ok(Finding::pass(format!("{} may set tags of your own", role.name))),
        };
    }
    let refused = answers.refused;
    let remedy = without_policy(role, &refused).unwrap_or_else(|| mend(cx, role, &base));
    if !tagging.is_empty() {
        let mut finding = who.finding(requirements::Consequence::StopsLaunches, &refused);
        finding.effect = format!(
            "{} launches no node, or nodes without what they need: EKS sends its tags, and the role \
             may not set them.",
            listed(&tagging.iter().map(Tagging::words).collect::<Vec<_>>())
        );
        return Ok(finding.mend(remedy));
    }
    let refuses = |feature| refused.iter().any(|refused| refused.request.when.contains(&feature));
    let mut effect = String::from("Only with tags of your own:");
    for (feature, what) in [
        (Feature::NodeClassTags, " a NodeClass with `tags` launches no node."),
        (Feature::StorageClassTags, " A StorageClass with tags makes no volume."),
        (Feature::LoadBalancerTags, " A Service or Ingress with tags gets no load balancer."),
    ] {
        if refuses(feature) {
            effect.push_str(what);
        }
    }
    let consequence = requirements::Consequence::Degrades;
    let mut finding = who.finding(consequence, &refused);
    finding.status = FindingStatus::Warn;
    finding.effect = effect;
    Ok(finding.mend(remedy))
}

/// What sets tags in Auto Mode.
fn tagging<'a>(cx: &Context<'a>) -> Vec<Tagging<'a>> {
    let mut tagging = node_classes::tagging(cx);
    tagging.retain(|tagging| tagging.products.contains(&Product::AutoMode));
    tagging
}

fn with_features(mut setup: Setup, features: &[Feature]) -> Setup {
    setup.features.extend(features);
    setup
}

fn mend(cx: &Context<'_>, role: &Role, setup: &Setup) -> Remedy {
    let printed = role::print(Kind::AutoModeCluster, cx.karpenter(), setup, Layout::Fit);
    let words = format!(
        "Add this policy to {}, so that NodeClasses, StorageClasses and load balancers of yours may \
         set tags; or let them set none.",
        role.name
    );
    add_policies(cx, Remedy::new(words), role, &printed.policies)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status,
    };

    const POLICY: &str = include_str!("../../../policies/auto-mode/custom-tags-policy.json");

    fn with(document: &str) -> Value {
        json!({"facts": {"role_policies": {"demo-cluster": {"inline": {"known": {
            "tags": {"known": document}}}}}}})
    }

    /// The same policy as careless copies have it: every pattern under `StringEquals`.
    fn in_string_equals(document: &str) -> String {
        let mut policy: Value = serde_json::from_str(document).unwrap();
        for statement in policy["Statement"].as_array_mut().unwrap() {
            let Some(conditions) = statement["Condition"].as_object_mut() else { continue };
            if let Some(patterns) = conditions.remove("StringLike") {
                json_patch::merge(&mut conditions["StringEquals"], &patterns);
            }
        }
        policy.to_string()
    }

    #[test]
    fn rows() {
        let filled = POLICY.replace("${partition}", "aws");
        let literal = in_string_equals(&filled);
        let denied = json!({"denied": {"action": "iam:ListRolePolicies", "message": "no"}});
        let warn: &[(Status, &str)] = &[(Status::Warn, "demo-cluster")];
        assert_rows(
            Account::AutoMode,
            &CHECK,
            &[
                ("AWS's policies alone", json!({}), warn),
                ("with the policy for tags", with(&filled), &[(Status::Pass, "demo-cluster")]),
                ("a star under StringEquals", with(&literal), warn),
                (
                    "not readable",
                    json!({"facts": {"role_policies": {"demo-cluster": {"inline": denied}}}}),
                    &[(Status::Unknown, "demo-cluster")],
                ),
                (
                    "no role",
                    json!({"facts": {"roles": {"demo-cluster": "absent"}}}),
                    &[(Status::Skipped, "demo-cluster")],
                ),
            ],
        );
        let flag = json!({"scope": {"nodeclass_tags": {"team": "a"}}});
        let fail: &[(Status, &str)] = &[(Status::Fail, "demo-cluster")];
        assert_rows(Account::AutoMode, &CHECK, &[("tags by a flag", flag, fail)]);
        let tags = |document: Option<&str>| {
            let mut patch = document.map_or_else(|| json!({"facts": {}}), with);
            patch["facts"]["kubernetes"] = json!({"auto_node_classes": {"known": [
                {"meta": {"name": "batch"}, "tags": {"team": "a"}}]}});
            patch
        };
        let unread = json!({"facts": {"kubernetes": {"auto_node_classes":
            {"denied": {"action": "list nodeclasses", "message": "no"}}}}});
        assert_rows(
            Account::AutoModeCluster,
            &CHECK,
            &[
                ("no NodeClass sets tags", json!({}), &[(Status::Skipped, "demo-cluster")]),
                ("one does", tags(None), fail),
                ("one does, and may", tags(Some(&filled)), &[(Status::Pass, "demo-cluster")]),
                ("whether one does is not known", unread, warn),
            ],
        );
        let outcomes = Account::AutoMode.judge(&CHECK, &with(&literal));
        assert!(outcomes[0].seen.contains("plain character"), "{outcomes:#?}");
    }
}
