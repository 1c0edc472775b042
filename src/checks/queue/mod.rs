//! The interruption queue and what feeds it.

pub mod encryption;
pub mod exists;
pub mod policy;
pub mod rules;

use serde_json::{Value, json};

use super::{Context, Judged, Stop, Verdicts, remedies::quote};
use crate::{
    facts::{
        Fact, Facts,
        sqs::{Queue, QueueAttributes},
    },
    outcome::{Finding, Remedy},
    requirements::rules::EventRule,
    target::{QueueTarget, names},
};

/// The target id of the getting-started template's rules.
const TARGET_ID: &str = "KarpenterInterruptionQueueTarget";

/// The name in a queue's ARN, URL or name.
fn name_of(queue: &str) -> &str {
    queue.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or(queue)
}

/// What is known of a queue that is given by ARN, URL or name.
fn fact<'a>(facts: &'a Facts, queue: &str) -> Result<&'a Fact<Queue>, Stop> {
    let found = facts.queues.get(queue).or_else(|| facts.queues.get(name_of(queue)));
    found.ok_or_else(|| Stop::unknown(format!("these facts do not hold the queue {queue}")))
}

/// The queues to judge: the one named, or all that were found.
fn targets<'a>(cx: &'a Context<'_>) -> Result<Vec<&'a str>, Stop> {
    match &cx.target.queue {
        QueueTarget::Named(name) => Ok(vec![name]),
        QueueTarget::Found(names) => Ok(names.iter().map(String::as_str).collect()),
        QueueTarget::None => Err(Stop::skipped("there is no interruption queue")),
        QueueTarget::NotSeen => Err(not_seen(cx)),
    }
}

/// Why it is not known whether there is a queue under a usual name.
fn not_seen(cx: &Context<'_>) -> Stop {
    let usual = names::queues(&cx.target.cluster);
    let unseen = usual.iter().find_map(|name| match fact(cx.facts, name) {
        Ok(queue) => queue.found().err().map(Stop::from),
        Err(stop) => Some(stop),
    });
    unseen.unwrap_or_else(|| Stop::unknown("the usual queue names were not looked up"))
}

/// Judges each queue that exists, by its attributes.
fn each(
    cx: &Context<'_>,
    judge: impl Fn(&Queue, &QueueAttributes) -> Result<Finding, Stop>,
) -> Verdicts {
    let one = |name: &str| {
        Judged::new(name_of(name), || {
            let queue = fact(cx.facts, name)?.found()?;
            let queue = queue.ok_or_else(|| Stop::skipped("the queue does not exist"))?;
            judge(queue, queue.attributes.known()?)
        })
    };
    Ok(targets(cx)?.into_iter().map(one).collect())
}

/// The ARN that a queue of this name has here; with a stand-in for an unknown account.
fn arn(cx: &Context<'_>, name: &str) -> String {
    let account = cx.account().unwrap_or("ACCOUNT_ID");
    format!("arn:{}:sqs:{}:{account}:{name}", cx.target.partition, cx.region())
}

/// The statement that lets events reach the queue.
fn send_statement(queue_arn: &str) -> Value {
    json!({
        "Sid": "AllowEvents",
        "Effect": "Allow",
        "Principal": { "Service": ["events.amazonaws.com", "sqs.amazonaws.com"] },
        "Action": "sqs:SendMessage",
        "Resource": queue_arn,
    })
}

/// The statement that refuses requests without TLS, as the template has it from Karpenter 1.0.
fn tls_statement(queue_arn: &str) -> Value {
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
fn create_rule(remedy: Remedy, cx: &Context<'_>, queue_arn: &str, rule: &EventRule) -> Remedy {
    let region = quote(cx.region());
    let name = rule_name(cx, rule);
    let file = format!("{}.json", rule.id);
    remedy
        .document(&file, &rule.pattern())
        .run(format!(
            "aws events put-rule --region {region} --name {name} --event-pattern file://{file}"
        ))
        .run(format!(
            "aws events put-targets --region {region} --rule {name} --targets \
             Id={TARGET_ID},Arn={queue_arn}"
        ))
}

/// A name for a rule that is to be created, within EventBridge's 64 characters.
fn rule_name(cx: &Context<'_>, rule: &EventRule) -> String {
    const LIMIT: usize = 64;
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let cluster: String = cx.target.cluster.chars().filter(|c| plain(*c)).collect();
    let room = LIMIT.saturating_sub(rule.id.len() + 1);
    let cluster: String = cluster.chars().take(room).collect();
    format!("{cluster}-{}", rule.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_the_last_part() {
        for given in [
            "demo",
            "arn:aws:sqs:us-west-2:111122223333:demo",
            "https://sqs.us-west-2.amazonaws.com/111122223333/demo",
        ] {
            assert_eq!(name_of(given), "demo");
        }
    }
}
