//! On whose behalf EventBridge writes to the queue, and what it sends along.

use serde_json::Value;

use super::EVENTS;
use crate::{
    checks::Context,
    facts::{events::Rule, sqs::Queue},
    iam::{Entry, Principal, Request},
    requirements::rules::{self, Delivery, Effect, EventRule},
};

/// A rule on whose behalf EventBridge sends.
pub(super) struct Sender {
    /// None stands for a rule that is not known or not there yet.
    pub rule: Option<String>,
    /// Whether nodes are lost without a drain if it is shut out.
    pub vital: bool,
    pub request: Request,
}

/// The rules that forward interruptions to the queue, each with its request.
pub(super) fn senders(cx: &Context<'_>, queue: &Queue, arn: &str) -> Vec<Sender> {
    let base = request(cx, arn);
    let rules = cx.facts.queue_rules.get(&queue.name).and_then(|rules| rules.value());
    let rules = rules.map(Vec::as_slice).unwrap_or_default();
    let (region, partition) = (cx.region(), cx.target.partition);
    let send = |rule: &Rule| {
        let source = cx.account().map_or(Entry::Unknown, |account| {
            format!("arn:{partition}:events:{region}:{account}:rule/{}", rule.name).into()
        });
        let request = base.clone().with("aws:SourceArn", source);
        Some(Sender { rule: Some(rule.name.clone()), vital: vital(cx, rule)?, request })
    };
    let mut senders: Vec<_> =
        rules.iter().filter_map(|rule| rule.value()).filter_map(send).collect();
    if senders.is_empty() || rules.iter().any(|rule| rule.found().is_err()) {
        let request = base.unknown("aws:SourceArn");
        senders.push(Sender { rule: None, vital: true, request });
    }
    senders
}

/// Whether a rule forwards events that drain a node; `None` if it forwards nothing for Karpenter.
fn vital(cx: &Context<'_>, rule: &Rule) -> Option<bool> {
    let pattern: Value = serde_json::from_str(rule.pattern.as_deref()?).ok()?;
    let passes = |delivery| !matches!(delivery, Delivery::NotDelivered { .. });
    let forwarded: Vec<_> = rules::needed(cx.karpenter())
        .into_iter()
        .filter(|needed| needed.acted_on().any(|event| passes(event.delivered_by(&pattern))))
        .collect();
    let drains = |needed: &&EventRule| needed.effect == Effect::Drain && needed.when.is_empty();
    (!forwarded.is_empty()).then(|| forwarded.iter().any(drains))
}

/// What EventBridge sends, but for the rule. A service comes through no VPC endpoint of yours and
/// belongs to no organisation
/// (<https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-keys.html>).
fn request(cx: &Context<'_>, arn: &str) -> Request {
    let mut request = Request::new(Principal::Service(EVENTS.to_owned()), "sqs:SendMessage", arn)
        .with("aws:SecureTransport", "true")
        .with("aws:ViaAWSService", "false")
        .with("aws:RequestedRegion", cx.region())
        .with("aws:SourceAccount", cx.account().map_or(Entry::Unknown, Entry::from))
        .unknown("aws:SourceOrgID")
        .unknown("aws:SourceOrgPaths");
    for key in ["aws:PrincipalOrgID", "aws:PrincipalOrgPaths", "aws:SourceVpc", "aws:SourceVpce"] {
        request = request.with(key, Entry::Absent);
    }
    request.unknown_globals()
}
