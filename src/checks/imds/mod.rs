//! The account's defaults for instance metadata (IMDS), and whom they touch.
//!
//! EC2 takes each option from the launch first, then from these defaults, then from the image
//! (<https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configuring-instance-metadata-options.html>).
//! Karpenter's launch templates set endpoint, hop limit and tokens themselves, so these
//! defaults reach only the nodes that something else launched.

pub mod endpoint;
pub mod hop_limit;
pub mod metadata_tags;
pub mod tokens;

use super::{Context, Judged, Stop, Verdicts, remedies::quote};
use crate::{
    facts::ec2::ImdsDefaults,
    outcome::{Finding, Remedy},
    requirements::version::KarpenterVersion,
};

const API: &str = "ec2:GetInstanceMetadataDefaults";

/// From here on Karpenter is built on version 2 of the SDK, which words a missing region
/// otherwise (`go.mod` at v1.1.0).
const SDK_V2: KarpenterVersion = KarpenterVersion::new(1, 1, 0);

/// Judges the defaults of the region, which is the subject.
fn judged(
    cx: &Context<'_>,
    judge: impl FnOnce(&ImdsDefaults) -> Result<Finding, Stop>,
) -> Verdicts {
    let defaults = cx.facts.imds_defaults.known();
    Ok(vec![Judged::new(cx.region(), || judge(defaults?))])
}

/// Whether an option that is a switch stands at this value.
fn is(option: Option<&String>, value: &str) -> bool {
    option.is_some_and(|option| option.eq_ignore_ascii_case(value))
}

/// The error of a controller that finds no region.
fn no_region_error(cx: &Context<'_>) -> &'static str {
    if cx.karpenter() < SDK_V2 { "ec2-metadata-request-error" } else { "ec2-metadata-no-region" }
}

/// A default that keeps the metadata from a controller without a region.
struct Hidden<'a> {
    seen: String,
    /// The option's place in the answer, and what it is set to.
    path: &'a str,
    value: String,
    /// What to do about the default, and the option of the command for it.
    otherwise: &'a str,
    option: &'a str,
}

/// That a controller without a region ends at its start, by one of the defaults.
fn hidden(cx: &Context<'_>, defaults: &ImdsDefaults, what: Hidden<'_>) -> Finding {
    Finding::warn(what.seen, controller_effect(cx))
        .errors(&[no_region_error(cx)])
        .evidence(API, what.path, what.value)
        .mend(region_or_default(cx, defaults, what.otherwise, what.option))
}

/// Who is hit by metadata that a controller cannot read, and how.
fn controller_effect(cx: &Context<'_>) -> String {
    format!(
        "This hits a controller whose pods have no AWS_REGION, on nodes whose launch template does \
         not set the option: Karpenter {} asks the metadata for its region and exits at the start. \
         Nodes that Karpenter launches set the option themselves. {} On Fargate pods have no \
         instance metadata at all: there only AWS_REGION counts.",
        cx.karpenter(),
        injected(cx)
    )
}

/// Whether the EKS webhook gives the controller its region.
fn injected(cx: &Context<'_>) -> String {
    let (namespace, account) = (&cx.target.namespace.value, &cx.target.service_account.value);
    let associations = cx.facts.pod_identity_associations.value().into_iter().flatten();
    let associated =
        associations.filter_map(|association| association.value()).any(|association| {
            &association.namespace == namespace && &association.service_account == account
        });
    if associated {
        format!(
            "{namespace}/{account} has a Pod Identity association, which sets AWS_REGION in every \
             pod made after it: this controller is safe unless its pods are older."
        )
    } else {
        "EKS sets AWS_REGION in the pods of a service account that is bound to a role, by \
         annotation or by Pod Identity association."
            .to_owned()
    }
}

/// How to give the controller its region, or else to change the account's default.
fn region_or_default(
    cx: &Context<'_>,
    defaults: &ImdsDefaults,
    otherwise: &str,
    option: &str,
) -> Remedy {
    if cx.target.before_install() {
        let words = format!(
            "Install with the region in controller.env of the chart's values. Or {otherwise}"
        );
        return change(Remedy::new(change_words(defaults, &words)), cx, defaults, option);
    }
    let words = format!(
        "Give the controller its region, and it never asks: controller.env in the chart's values, \
         or at once with kubectl. Or {otherwise}"
    );
    let remedy = Remedy::new(change_words(defaults, &words)).run(format!(
        "kubectl set env deployment/karpenter --namespace {} AWS_REGION={}",
        quote(&cx.target.namespace.value),
        quote(cx.region())
    ));
    change(remedy, cx, defaults, option)
}

/// The words for changing a default: where a declarative policy sets it, only those who manage
/// the organisation can.
fn change_words(defaults: &ImdsDefaults, words: &str) -> String {
    if !is_declarative(defaults) {
        return format!("{words}.");
    }
    let message = defaults.managed_exception_message.as_deref().unwrap_or_default();
    let said = if message.is_empty() {
        String::new()
    } else {
        format!(" They left this message: \u{201c}{message}\u{201d}")
    };
    format!(
        "{words}. A declarative policy of your organisation sets this default, so nobody can \
         change it in this account: ask those who manage the organisation.{said}"
    )
}

/// Adds the command that changes a default, where the account may.
fn change(remedy: Remedy, cx: &Context<'_>, defaults: &ImdsDefaults, option: &str) -> Remedy {
    if is_declarative(defaults) {
        return remedy;
    }
    remedy.run(format!(
        "aws ec2 modify-instance-metadata-defaults --region {} {option}",
        quote(cx.region())
    ))
}

fn is_declarative(defaults: &ImdsDefaults) -> bool {
    is(defaults.managed_by.as_ref(), "declarative-policy")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        checks::testing::Account,
        outcome::{Outcome, Step},
    };

    fn outcome(patch: &serde_json::Value) -> Outcome {
        Account::Karpenter.judge(&endpoint::CHECK, patch).remove(0)
    }

    #[test]
    fn a_declarative_policy_is_not_for_the_account_to_change() {
        let defaults = json!({
            "http_endpoint": "disabled",
            "managed_by": "declarative-policy",
            "managed_exception_message": "Ask #cloud-platform.",
        });
        let found = outcome(&json!({"facts": {"imds_defaults": {"known": defaults}}}));
        let remedy = found.remedy.expect("it is mended");
        assert!(remedy.words.contains("Ask #cloud-platform."), "{}", remedy.words);
        let modifies =
            |step: &Step| matches!(step, Step::Command { command } if command.contains("modify-"));
        assert!(!remedy.steps.iter().any(modifies), "{:?}", remedy.steps);
    }

    #[test]
    fn an_association_brings_the_region() {
        let off = json!({"http_endpoint": "disabled"});
        let with = json!({"facts": {"imds_defaults": {"known": off}}});
        assert!(outcome(&with).effect.contains("has a Pod Identity association"));
        let without = json!({"facts": {
            "imds_defaults": {"known": off}, "pod_identity_associations": {"known": []},
        }});
        assert!(!outcome(&without).effect.contains("has a Pod Identity association"));
    }
}
