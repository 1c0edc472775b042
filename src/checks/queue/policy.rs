//! Whether the queue's policy lets EventBridge send.

use serde_json::{Value, json};

use super::{each, send_statement, tls_statement};
use crate::{
    checks::{
        Area, Check, Context, Stop, Verdicts,
        remedies::{listed, quote},
    },
    facts::sqs::{Queue, QueueAttributes},
    iam::{Decision, Layer, NamedPolicy, Policy, PolicyKind, Principal, Request, decide_alone},
    outcome::{Finding, Remedy},
    target::Product,
};

const API: &str = "sqs:GetQueueAttributes";
const EVENTS: &str = "events.amazonaws.com";
const SEND: &str = "sqs:SendMessage";

/// What the policy is called in evidence.
const POLICY: &str = "the queue";

pub static CHECK: Check = Check {
    id: "queue-policy",
    title: "The queue's policy lets EventBridge send",
    area: Area::Interruption,
    products: &[Product::Karpenter],
    errors: &[],
    needs: &["sqs:GetQueueUrl", API, "events:ListRuleNamesByTarget"],
    doc: "\
## What
The queue's policy allows `events.amazonaws.com` to call `sqs:SendMessage` on it, on behalf of
each rule that targets it. The policy is evaluated as IAM would, with its conditions, for
requests over TLS that carry the rule's ARN as `aws:SourceArn` and this account as
`aws:SourceAccount`.

## Why
EventBridge writes to a queue only by the queue's own policy. A condition on `aws:SourceArn` that
leaves a rule out shuts just that rule out. Karpenter's template also names `sqs.amazonaws.com`;
no interruption comes that way, so its absence is not judged.

## Seen as
Nothing in the controller's log: the events are dropped. EventBridge's metric
`FailedInvocations` counts them.

## Fix
Add a statement that allows `sqs:SendMessage` to `events.amazonaws.com`, or widen the one that is
there.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    each(cx, |queue, attributes| judge(cx, queue, attributes))
}

fn judge(cx: &Context<'_>, queue: &Queue, attributes: &QueueAttributes) -> Result<Finding, Stop> {
    let text = attributes.policy.as_deref().filter(|text| !text.is_empty());
    let Some(text) = text else {
        let seen = format!("{} has no policy.", queue.name);
        return Ok(refused(seen).evidence(API, "Policy", "absent").mend(extend(
            cx,
            queue,
            &attributes.arn,
            &json!({
                "Version": "2012-10-17",
                "Statement": [tls_statement(&attributes.arn)],
            }),
        )));
    };
    let policy = Policy::parse_as(PolicyKind::Resource, text)
        .map_err(|error| Stop::unknown(format!("the queue's policy could not be read: {error}")))?;
    let policy = [NamedPolicy::new(POLICY, policy)];
    let decisions: Vec<_> = requests(cx, queue, &attributes.arn)
        .into_iter()
        .map(|(rule, request)| (rule, decide_alone(Layer::Resource, &policy, &request)))
        .collect();
    let out: Vec<_> = decisions.iter().filter(|(_, decision)| decision.is_refused()).collect();
    if let Some((_, decision)) = out.first() {
        let rules: Vec<_> = out.iter().filter_map(|(rule, _)| rule.as_deref()).collect();
        return Ok(shut_out(cx, queue, &attributes.arn, text, &rules, decision));
    }
    if let Some((_, decision)) = decisions.iter().find(|(_, decision)| !decision.is_allowed()) {
        return Err(Stop::unknown(format!("whether {EVENTS} may send {decision}")));
    }
    let by = decisions.first().map(|(_, decision)| decision.to_string()).unwrap_or_default();
    Ok(Finding::pass(format!("{EVENTS} may send: {by}.")))
}

/// What EventBridge sends: one request for each rule, or one of an unknown rule where the rules
/// are not known or none is there yet.
fn requests(cx: &Context<'_>, queue: &Queue, arn: &str) -> Vec<(Option<String>, Request)> {
    let base = Request::new(Principal::Service(EVENTS.to_owned()), SEND, arn)
        .with("aws:SecureTransport", "true")
        .with("aws:RequestedRegion", cx.region())
        .unknown("aws:SourceOrgID")
        .unknown("aws:SourceOrgPaths")
        .unknown_globals();
    let base = match cx.account() {
        Some(account) => base.with("aws:SourceAccount", account),
        None => base.unknown("aws:SourceAccount"),
    };
    let rules = cx.facts.queue_rules.get(&queue.name).and_then(|rules| rules.value());
    let mut requests: Vec<_> = rules
        .into_iter()
        .flatten()
        .filter_map(|rule| rule.value())
        .map(|rule| {
            let arn = format!(
                "arn:{}:events:{}:{}:rule/{}",
                cx.target.partition,
                cx.region(),
                cx.account().unwrap_or("*"),
                rule.name
            );
            let request = match cx.account() {
                Some(_) => base.clone().with("aws:SourceArn", arn),
                None => base.clone().unknown("aws:SourceArn"),
            };
            (Some(rule.name.clone()), request)
        })
        .collect();
    if requests.is_empty() {
        requests.push((None, base.unknown("aws:SourceArn")));
    }
    requests
}

fn refused(seen: String) -> Finding {
    Finding::fail(
        seen,
        "EventBridge drops the events: interruptions never arrive, nodes are lost with their pods \
         still on them, and nothing is logged.",
    )
}

fn shut_out(
    cx: &Context<'_>,
    queue: &Queue,
    arn: &str,
    text: &str,
    rules: &[&str],
    decision: &Decision,
) -> Finding {
    let of = if rules.is_empty() { String::new() } else { format!(" for {}", listed(rules)) };
    let finding = refused(format!(
        "The policy of {} does not let {EVENTS} send{of}: {decision}.",
        queue.name
    ))
    .evidence(API, "Policy", decision.to_string());
    let existing: Value = serde_json::from_str(text).unwrap_or_default();
    finding.mend(match decision {
        Decision::Denied { statement, .. } => Remedy::new(format!(
            "Take {statement} out of the policy, or leave {EVENTS} out of whom it denies: a deny \
             outranks every allow."
        ))
        .document("queue-policy.json", &existing)
        .run(format!(
            "aws sqs get-queue-attributes --region {} --queue-url {} --attribute-names Policy",
            quote(cx.region()),
            quote(&queue.url)
        )),
        _ => extend(cx, queue, arn, &existing),
    })
}

/// Adds the statement that is missing to the policy that is there.
fn extend(cx: &Context<'_>, queue: &Queue, arn: &str, existing: &Value) -> Remedy {
    let mut policy = existing.clone();
    let statements = match policy.get("Statement").cloned() {
        Some(Value::Array(statements)) => statements,
        Some(one) => vec![one],
        None => Vec::new(),
    };
    // A second statement of the same Sid is refused.
    let kept = statements
        .into_iter()
        .filter(|statement| statement.get("Sid") != Some(&json!("AllowEvents")));
    let all: Vec<_> = kept.chain([send_statement(arn)]).collect();
    if !policy.is_object() {
        policy = json!({ "Version": "2012-10-17" });
    }
    policy["Statement"] = Value::Array(all);
    Remedy::new(
        "Let EventBridge send to the queue. The command replaces the queue's policy; the document \
         holds the present statements and the missing one.",
    )
    .document("queue-attributes.json", &json!({ "Policy": policy.to_string() }))
    .run(format!(
        "aws sqs set-queue-attributes --region {} --queue-url {} --attributes \
         file://queue-attributes.json",
        quote(cx.region()),
        quote(&queue.url)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::{Status, Step},
    };

    const QUEUE: &str = "arn:aws:sqs:us-west-2:111122223333:demo";

    fn policy(policy: &Value) -> Value {
        let attributes = json!({"known": {"policy": policy.as_str().map_or_else(|| policy.to_string(), str::to_owned)}});
        json!({"facts": {"queues": {"demo": {"known": {"attributes": attributes}}}}})
    }

    fn allow(principal: &str, condition: &Value) -> Value {
        json!({"Version": "2012-10-17", "Statement": {
            "Effect": "Allow", "Principal": {"Service": principal}, "Action": "sqs:Send*",
            "Resource": QUEUE, "Condition": condition,
        }})
    }

    #[test]
    fn rows() {
        let from = |arn: &str| json!({"ArnLike": {"aws:SourceArn": arn}});
        let all_rules = "arn:aws:events:us-west-2:111122223333:rule/*";
        let one_rule = "arn:aws:events:us-west-2:111122223333:rule/SpotInterruptionRule";
        let mut deny = allow(EVENTS, &json!({}));
        deny["Statement"] = json!([deny["Statement"], {
            "Sid": "NoOne", "Effect": "Deny", "Principal": "*", "Action": "sqs:*", "Resource": QUEUE,
        }]);
        let account = |id: &str| json!({"StringEquals": {"aws:SourceAccount": id}});
        let no_policy = json!({"facts": {"queues": {"demo": {"known": {"attributes": {"known": {"policy": null}}}}}}});
        let mut no_rules = policy(&allow(EVENTS, &from(all_rules)));
        no_rules["facts"]["queue_rules"] = json!({"demo": {"known": []}});
        let denied = json!({"denied": {"action": API, "message": "no"}});
        let denied = json!({"facts": {"queues": {"demo": {"known": {"attributes": denied}}}}});
        let (pass, fail) = (&[(Status::Pass, "demo")][..], &[(Status::Fail, "demo")][..]);
        let unknown = &[(Status::Unknown, "demo")][..];
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("the template's", json!({}), pass),
                ("events alone", policy(&allow(EVENTS, &json!({}))), pass),
                ("of this account", policy(&allow(EVENTS, &account("111122223333"))), pass),
                ("of another account", policy(&allow(EVENTS, &account("999999999999"))), fail),
                ("for all rules", policy(&allow(EVENTS, &from(all_rules))), pass),
                ("for one rule", policy(&allow(EVENTS, &from(one_rule))), fail),
                ("for rules not there yet", no_rules, unknown),
                ("another service", policy(&allow("sns.amazonaws.com", &json!({}))), fail),
                ("denied", policy(&deny), fail),
                ("none", no_policy, fail),
                (
                    "of an organisation",
                    policy(&allow(EVENTS, &json!({"StringEquals": {"aws:SourceOrgID": "o-1"}}))),
                    unknown,
                ),
                ("not a policy", policy(&json!("{")), unknown),
                ("not readable", denied, unknown),
                (
                    "no queue",
                    json!({"facts": {"queues": {"demo": "absent"}}}),
                    &[(Status::Skipped, "demo")],
                ),
            ],
        );
        let skipped = &[(Status::Skipped, "demo")];
        assert_rows(Account::AutoMode, &CHECK, &[("EKS does it", json!({}), skipped)]);
    }

    #[test]
    fn the_remedy_keeps_what_is_there() {
        let patch = policy(&allow("sns.amazonaws.com", &json!({})));
        let found = Account::Karpenter.judge(&CHECK, &patch).remove(0);
        let steps = found.remedy.expect("it is mended").steps;
        let Step::Document { document, .. } = &steps[0] else { panic!("{steps:?}") };
        let attributes: Value = serde_json::from_str(document).unwrap();
        let mended = policy(&attributes["Policy"]);
        assert!(document.contains("sns.amazonaws.com"), "{document}");
        assert_rows(Account::Karpenter, &CHECK, &[("mended", mended, &[(Status::Pass, "demo")])]);
    }
}
