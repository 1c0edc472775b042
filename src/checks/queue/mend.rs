//! The commands that make the queue and what feeds it.

use serde_json::{Value, json};

use super::EVENTS;
use crate::{
    checks::{Context, remedies::quote},
    outcome::Remedy,
    requirements::rules::{self, EventRule},
};

/// The ARN that a queue of this name has, or will have; with a stand-in for an unknown account.
pub(super) fn arn(cx: &Context<'_>, name: &str) -> String {
    let queue = cx.facts.queues.get(name).and_then(|queue| queue.value());
    if let Some(attributes) = queue.and_then(|queue| queue.attributes.value()) {
        return attributes.arn.clone();
    }
    let account = cx.account().unwrap_or("FILL_IN_ACCOUNT_ID");
    format!("arn:{}:sqs:{}:{account}:{name}", cx.target.partition, cx.region())
}

/// The statement that lets events reach the queue.
pub(super) fn send_statement(queue_arn: &str) -> Value {
    json!({
        "Sid": "AllowEvents",
        "Effect": "Allow",
        "Principal": { "Service": [EVENTS, "sqs.amazonaws.com"] },
        "Action": "sqs:SendMessage",
        "Resource": queue_arn,
    })
}

/// The statement that refuses requests without TLS, as the template has it from Karpenter 1.0.
pub(super) fn tls_statement(queue_arn: &str) -> Value {
    json!({
        "Sid": "DenyHTTP",
        "Effect": "Deny",
        "Principal": "*",
        "Action": "sqs:*",
        "Resource": queue_arn,
        "Condition": { "Bool": { "aws:SecureTransport": "false" } },
    })
}

/// Adds the commands that create one rule with the queue as its target.
pub(super) fn create_rule(
    remedy: Remedy,
    cx: &Context<'_>,
    queue: &str,
    rule: &EventRule,
) -> Remedy {
    let region = quote(cx.region());
    let name = rule_name(queue, rule);
    let file = format!("{}.json", rule.id);
    remedy
        .document(&file, &rule.pattern())
        .run(format!(
            "aws events put-rule --region {region} --name {name} --event-pattern file://{file}"
        ))
        .run(format!(
            "aws events put-targets --region {region} --rule {name} --targets {}",
            quote(&format!("Id={name},Arn={}{}", arn(cx, queue), ordered(cx, queue)))
        ))
}

/// What a target must say of a FIFO queue.
fn ordered(cx: &Context<'_>, queue: &str) -> &'static str {
    let found = cx.facts.queues.get(queue).and_then(|queue| queue.value());
    match found.and_then(|queue| queue.attributes.value()) {
        Some(attributes) if attributes.fifo => ",SqsParameters={MessageGroupId=karpenter}",
        _ => "",
    }
}

/// The name of a rule that is to be created, and of its target, within EventBridge's 64
/// characters. It is another one for each queue: `put-rule` and `put-targets` replace what is
/// there under the same name.
fn rule_name(queue: &str, rule: &EventRule) -> String {
    const LIMIT: usize = 64;
    let whole = format!("{queue}-{}", rule.id);
    if whole.len() <= LIMIT {
        return whole;
    }
    let sum = format!("-{:08x}-{}", checksum(queue), rule.id);
    let start: String = queue.chars().take(LIMIT.saturating_sub(sum.len())).collect();
    start + &sum
}

/// FNV-1a: tells long names with the same start apart, the same way in every build.
fn checksum(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// The commands that create the queue and all that feeds it, as the getting-started template
/// does (five minutes of retention, SQS's own encryption).
pub(super) fn create(cx: &Context<'_>, name: &str, words: &str) -> Remedy {
    let arn = arn(cx, name);
    let policy = json!({
        "Version": "2012-10-17",
        "Statement": [send_statement(&arn), tls_statement(&arn)],
    });
    let attributes = json!({
        "MessageRetentionPeriod": "300",
        "SqsManagedSseEnabled": "true",
        "Policy": policy.to_string(),
    });
    let remedy = Remedy::new(words).document("queue-attributes.json", &attributes).run(format!(
        "aws sqs create-queue --region {} --queue-name {} --attributes file://queue-attributes.json",
        quote(cx.region()),
        quote(name)
    ));
    let needed = rules::needed(cx.karpenter());
    needed.into_iter().fold(remedy, |remedy, rule| create_rule(remedy, cx, name, rule))
}

/// Adds the command that sets the queue's name, where there is a controller to set it for.
pub(super) fn set_name(remedy: Remedy, cx: &Context<'_>, name: &str) -> Remedy {
    if cx.target.before_install() {
        return remedy;
    }
    remedy.run(format!(
        "kubectl set env deployment/karpenter --namespace {} INTERRUPTION_QUEUE={}",
        quote(&cx.target.namespace.value),
        quote(name)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requirements::version::KarpenterVersion;

    #[test]
    fn each_queue_has_rules_of_its_own() {
        let long = "q".repeat(79);
        for rule in rules::needed(KarpenterVersion::NEWEST) {
            assert_eq!(rule_name("demo", rule), format!("demo-{}", rule.id));
            let names = [format!("{long}1"), format!("{long}2")].map(|q| rule_name(&q, rule));
            assert_ne!(names[0], names[1]);
            assert!(names.iter().all(|name| name.len() <= 64), "{names:?}");
        }
    }
}
