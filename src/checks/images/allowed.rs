//! Whether the account allows the AMIs of EKS.

use serde_json::{Value, json};

use crate::{
    checks::{Area, Check, Context, Judged, Stop, Verdicts, remedies::quote},
    facts::ec2::{AllowedImages, ImageCriterion},
    iam::Pattern,
    outcome::{Finding, FindingStatus, Remedy},
    target::Product,
};

const API: &str = "ec2:GetAllowedImagesSettings";
/// The account that publishes the AMIs of EKS in most regions
/// (<https://docs.aws.amazon.com/eks/latest/userguide/add-ons-images.html>).
const EKS: &str = "602401143452";

pub static CHECK: Check = Check {
    id: "allowed-images",
    title: "The account allows the AMIs of EKS",
    area: Area::Launch,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["ami-not-found"],
    needs: &[API],
    doc: "\
## What
The account's Allowed AMIs setting is off or only audits, or one of its criteria admits the AMIs
that Amazon publishes for EKS. Only the criteria are judged, not each AMI.

## Why
Where the setting is enabled, an AMI that meets no criterion is neither found nor launched,
whatever an EC2NodeClass says: its selector then matches nothing. AMIs of your own account are never
held back. An organisation can set it for all its accounts.

## Seen as
`AMISelector did not match any AMIs` and `AMIsReady` False on the EC2NodeClass.

## Fix
Add a criterion with the provider `amazon`.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    Ok(vec![Judged::new(cx.region(), || judge(cx, cx.facts.allowed_images.known()?))])
}

fn judge(cx: &Context<'_>, settings: &AllowedImages) -> Result<Finding, Stop> {
    match settings.state.as_str() {
        "disabled" => return Ok(Finding::pass("Every AMI is allowed.")),
        "audit-mode" => {
            let seen = "The setting only audits: every AMI can be used.";
            return Ok(Finding::pass(seen));
        }
        "enabled" => {}
        other => return Err(Stop::unknown(format!("{API} shows the state {other}"))),
    }
    if settings.criteria.iter().any(|criterion| admits(criterion, cx) && !criterion.asks_more) {
        return Ok(Finding::pass("A criterion admits the AMIs of EKS."));
    }
    if settings.criteria.iter().any(|criterion| admits(criterion, cx)) {
        return Err(Stop::unknown(
            "a criterion admits the AMIs of EKS only with a watermark or a scan, which are not read",
        ));
    }
    let by_id = cx.target.runs(Product::Karpenter) && selects_own_only(cx);
    let certain = cx.target.runs(Product::Karpenter) && !by_id;
    let effect = if certain {
        "Karpenter finds no AMI for an alias or a parameter of EKS: the EC2NodeClass never becomes \
         ready, and nothing is launched for it."
    } else {
        "AMIs that are not your own are not found. EKS does not document whether the nodes of Auto \
         Mode are held back too."
    };
    let status = if certain { FindingStatus::Fail } else { FindingStatus::Warn };
    let seen = format!(
        "Allowed AMIs is enabled in {}, and none of its criteria admits the AMIs of EKS.",
        cx.region()
    );
    let finding = Finding { status, ..Finding::fail(seen, effect) };
    Ok(finding
        .errors(CHECK.errors)
        .evidence(API, "State, ImageCriteria[].ImageProviders", providers(settings))
        .mend(mend(cx, settings)))
}

/// Whether a criterion admits a current AMI of EKS for this Kubernetes version.
fn admits(criterion: &ImageCriterion, cx: &Context<'_>) -> bool {
    let providers = &criterion.providers;
    let provider =
        providers.is_empty() || providers.iter().any(|one| one == "amazon" || one == EKS);
    let names = &criterion.names;
    let version = cx.facts.cluster.value().map_or("1.35", |cluster| cluster.version.as_str());
    let usual = [
        format!("amazon-eks-node-al2023-x86_64-standard-{version}-v20261015"),
        format!("bottlerocket-aws-k8s-{version}-x86_64-v1.50.0-abcdef01"),
    ];
    let named = names.is_empty()
        || names.iter().any(|name| usual.iter().any(|one| Pattern::glob(name).matches(one)));
    provider && named && criterion.marketplace_codes.is_empty()
}

/// Whether every EC2NodeClass names its AMIs by id or tag, which may be the account's own.
fn selects_own_only(cx: &Context<'_>) -> bool {
    let classes = cx.facts.kubernetes.ec2_node_classes.value().filter(|all| !all.is_empty());
    classes.is_some_and(|classes| {
        classes.iter().all(|class| {
            !class.ami_terms.is_empty()
                && class
                    .ami_terms
                    .iter()
                    .all(|term| term.alias.is_none() && term.ssm_parameter.is_none())
        })
    })
}

fn providers(settings: &AllowedImages) -> String {
    let all = settings.criteria.iter().flat_map(|criterion| &criterion.providers);
    let all: Vec<_> = all.map(String::as_str).collect();
    if all.is_empty() { "none".to_owned() } else { all.join(", ") }
}

fn mend(cx: &Context<'_>, settings: &AllowedImages) -> Remedy {
    if settings.managed_by.as_deref() == Some("declarative-policy") {
        return Remedy::new(
            "The organisation sets it by a declarative policy: ask its administrators to add the \
             provider amazon.",
        );
    }
    let words = "Add the provider amazon to the criteria, which the command replaces as a whole.";
    if settings.criteria.iter().any(|criterion| criterion.asks_more) {
        return Remedy::new(words);
    }
    let mut criteria: Vec<Value> = settings.criteria.iter().map(written).collect();
    criteria.push(json!({"ImageProviders": ["amazon"]}));
    let file = "image-criteria.json";
    Remedy::new(words).document(file, &Value::Array(criteria)).run(format!(
        "aws ec2 replace-image-criteria-in-allowed-images-settings --region {} --image-criteria \
         file://{file}",
        quote(cx.region())
    ))
}

/// A criterion as the API takes it.
fn written(criterion: &ImageCriterion) -> Value {
    let mut value = json!({});
    let mut set = |key: &str, given: bool, to: Value| {
        if given {
            value[key] = to;
        }
    };
    let ImageCriterion { providers, names, marketplace_codes, .. } = criterion;
    set("ImageProviders", !providers.is_empty(), json!(providers));
    set("ImageNames", !names.is_empty(), json!(names));
    set("MarketplaceProductCodes", !marketplace_codes.is_empty(), json!(marketplace_codes));
    if let Some(days) = criterion.max_days_since_deprecated {
        set("DeprecationTimeCondition", true, json!({"MaximumDaysSinceDeprecated": days}));
    }
    if let Some(days) = criterion.max_days_since_created {
        set("CreationDateCondition", true, json!({"MaximumDaysSinceCreated": days}));
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::{Status, Step},
    };

    fn set(state: &str, criteria: &Value) -> Value {
        let settings = json!({"state": state, "criteria": criteria});
        json!({"facts": {"allowed_images": {"known": settings}}})
    }

    fn enabled(criterion: &Value) -> Value {
        set("enabled", &json!([criterion]))
    }

    #[test]
    fn rows() {
        use Status::{Fail, Pass, Unknown, Warn};
        let one = |status| [(status, "us-west-2")];
        let of = |providers: &[&str]| json!({"providers": providers});
        let named = |name: &str| json!({"providers": ["amazon"], "names": [name]});
        let market = json!({"marketplace_codes": ["abc"]});
        let own = of(&["111122223333"]);
        let denied = json!({"denied": {"action": API, "message": "no"}});
        let mut by_id = enabled(&own);
        by_id["facts"]["kubernetes"] = json!({"ec2_node_classes": {"known": [
            {"meta": {"name": "default"}, "ami_terms": [{"id": "ami-1"}]}]}});
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("off", json!({}), &one(Pass)),
                ("audits", set("audit-mode", &json!([own])), &one(Pass)),
                ("Amazon's", enabled(&of(&["amazon"])), &one(Pass)),
                ("EKS's account", enabled(&of(&["111122223333", EKS])), &one(Pass)),
                ("one of two", set("enabled", &json!([own, of(&["amazon"])])), &one(Pass)),
                ("one's own", enabled(&own), &one(Fail)),
                ("no criteria", set("enabled", &json!([])), &one(Fail)),
                ("EKS by name", enabled(&named("amazon-eks-node-*")), &one(Pass)),
                ("others by name", enabled(&named("al2023-ami-*")), &one(Fail)),
                ("the marketplace", enabled(&market), &one(Fail)),
                (
                    "scanned",
                    enabled(&json!({"providers": ["amazon"], "asks_more": true})),
                    &one(Unknown),
                ),
                ("unread", json!({"facts": {"allowed_images": denied}}), &one(Unknown)),
            ],
        );
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[("by id", by_id, &one(Warn)), ("by alias", enabled(&own), &one(Fail))],
        );
        assert_rows(Account::AutoMode, &CHECK, &[("EKS's affair", enabled(&own), &one(Warn))]);
    }

    #[test]
    fn the_remedy_keeps_the_criteria() {
        let own = json!({"providers": ["111122223333"], "max_days_since_created": 90});
        let found = Account::Karpenter.judge(&CHECK, &enabled(&own)).remove(0);
        let steps = found.remedy.expect("it is mended").steps;
        let Step::Document { document, .. } = &steps[0] else { panic!("{steps:?}") };
        let criteria: Value = serde_json::from_str(document).unwrap();
        assert_eq!(
            criteria,
            json!([
                {"ImageProviders": ["111122223333"],
                 "CreationDateCondition": {"MaximumDaysSinceCreated": 90}},
                {"ImageProviders": ["amazon"]},
            ])
        );
    }
}
