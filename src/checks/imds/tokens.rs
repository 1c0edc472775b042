//! The account's setting that refuses instances with IMDSv1.

use super::{API, change_words, is, judged};
use crate::{
    checks::{
        Area, Check, Context, Judged, Stop, Verdicts,
        node_classes::{self, Class},
    },
    facts::ec2::ImdsDefaults,
    outcome::{Finding, Remedy},
    target::Product,
};

pub static CHECK: Check = Check {
    id: "imds-tokens",
    title: "Instances with IMDSv1 are not refused",
    area: Area::Launch,
    products: &[Product::Karpenter],
    errors: &["imdsv1-refused"],
    needs: &[API],
    doc: "\
## What
The account does not enforce IMDSv2 (`HttpTokensEnforced`) in this region.

## Why
Where it does, EC2 refuses every launch that asks for `httpTokens: optional`, whatever the
launch template says. An EC2NodeClass asks for `required` unless you changed it, so only those
with `metadataOptions.httpTokens: optional` are refused. The plain default `HttpTokens: required`
refuses nothing: a launch that says `optional` gets it. Where the EC2NodeClasses are known, each is
judged by what it asks for.

## Seen as
`You can't launch instances with IMDSv1 because httpTokensEnforced is enabled for this account`
in the NodeClaim.

## Fix
Set `httpTokens: required` in the EC2NodeClass, once nothing on its nodes needs IMDSv1.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let classes: Vec<_> = node_classes::known(cx)
        .into_iter()
        .filter(|class| class.product == Product::Karpenter)
        .collect();
    let defaults = cx.facts.imds_defaults.known();
    if let (Ok(defaults), false) = (&defaults, classes.is_empty())
        && is(defaults.http_tokens_enforced.as_ref(), "enabled")
    {
        let judge =
            |class: &Class<'_>| Judged::new(class.subject(), || Ok(of_class(cx, defaults, class)));
        return Ok(classes.iter().map(judge).collect());
    }
    of_region(cx)
}

fn of_class(cx: &Context<'_>, defaults: &ImdsDefaults, class: &Class<'_>) -> Finding {
    let options = class.spec.metadata_options.as_ref();
    // What is not written is `required`, by the default of the custom resource.
    if !is(options.and_then(|options| options.http_tokens.as_ref()), "optional") {
        return Finding::pass("It asks for IMDSv2, which the account enforces.");
    }
    Finding::fail(
        format!(
            "{class} asks for httpTokens: optional, and the account enforces IMDSv2 in {}.",
            cx.region()
        ),
        format!("EC2 refuses every launch for {class}."),
    )
    .errors(&["imdsv1-refused"])
    .evidence(API, "AccountLevel.HttpTokensEnforced", "enabled")
    .evidence(class.api(), "spec.metadataOptions.httpTokens", "optional")
    .mend(
        Remedy::new(change_words(
            defaults,
            "Set metadataOptions.httpTokens to required, once nothing on its nodes needs IMDSv1. If \
             something does, the account must stop enforcing IMDSv2",
        ))
        .run(class.edit()),
    )
}

fn of_region(cx: &Context<'_>) -> Result<Vec<Judged>, Stop> {
    judged(cx, |defaults| {
        if !is(defaults.http_tokens_enforced.as_ref(), "enabled") {
            let required = is(defaults.http_tokens.as_ref(), "required");
            return Ok(Finding::pass(if required {
                "IMDSv2 is the account's default; a NodeClass that asks for IMDSv1 still gets it."
            } else {
                "The account does not enforce IMDSv2."
            }));
        }
        let remedy = Remedy::new(change_words(
            defaults,
            "Set metadataOptions.httpTokens to required in each EC2NodeClass that the \
             command shows as optional. If something on those nodes needs IMDSv1, the account \
             must stop enforcing IMDSv2",
        ))
        .run(
            "kubectl get ec2nodeclasses --output custom-columns=\
             NAME:.metadata.name,TOKENS:.spec.metadataOptions.httpTokens",
        );
        Ok(Finding::warn(
            format!("The account enforces IMDSv2 in {}.", cx.region()),
            "EC2 refuses every launch of an EC2NodeClass with metadataOptions.httpTokens: \
             optional. One that leaves it out or says required is not touched.",
        )
        .errors(&["imdsv1-refused"])
        .evidence(API, "AccountLevel.HttpTokensEnforced", "enabled")
        .mend(remedy))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status,
    };

    const REGION: &str = "us-west-2";

    #[test]
    fn rows() {
        let set =
            |key: &str, value: &str| json!({"facts": {"imds_defaults": {"known": {key: value}}}});
        let denied = json!({"denied": {"action": API, "message": "not authorized"}});
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("no preference", json!({}), &[(Status::Pass, REGION)]),
                ("a default only", set("http_tokens", "required"), &[(Status::Pass, REGION)]),
                ("enforced", set("http_tokens_enforced", "enabled"), &[(Status::Warn, REGION)]),
                (
                    "not readable",
                    json!({"facts": {"imds_defaults": denied}}),
                    &[(Status::Unknown, REGION)],
                ),
            ],
        );
        let asks = |tokens: &str| {
            let mut patch = set("http_tokens_enforced", "enabled");
            patch["facts"]["kubernetes"] = json!({"ec2_node_classes": {"known": [
                {"meta": {"name": "default"}, "metadata_options": {"http_tokens": tokens}}]}});
            patch
        };
        let subject = "EC2NodeClass/default";
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[
                ("not enforced", json!({}), &[(Status::Pass, REGION)]),
                ("enforced, and asked for", asks("required"), &[(Status::Pass, subject)]),
                ("enforced, and not asked for", asks("optional"), &[(Status::Fail, subject)]),
            ],
        );
        assert_rows(
            Account::AutoMode,
            &CHECK,
            &[(
                "not Karpenter",
                set("http_tokens_enforced", "enabled"),
                &[(Status::Skipped, "demo")],
            )],
        );
    }
}
