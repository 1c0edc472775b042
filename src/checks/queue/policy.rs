//! Whether the queue's policy lets EventBridge send.

use serde_json::{Value, json};

use super::{
    EVENTS, each,
    mend::{send_statement, tls_statement},
    senders::{Sender, senders},
};
use crate::{
    checks::{
        Area, Check, Context, Stop, Verdicts,
        remedies::{listed, quote},
    },
    facts::{
        Fact, Unseen,
        sqs::{Queue, QueueAttributes},
    },
    iam::{Decision, Layer, NamedPolicy, Policy, PolicyKind, decide_alone},
    outcome::{Finding, Remedy, Unknown},
    target::Product,
};

const API: &str = "sqs:GetQueueAttributes";
const EFFECT: &str = "EventBridge drops the events: interruptions never arrive, nodes are lost \
                      with their pods still on them, and nothing is logged.";

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
each rule that forwards interruptions to it. The policy is evaluated as IAM would, with its conditions, for
requests over TLS that carry the rule's ARN as `aws:SourceArn` and this account as
`aws:SourceAccount`.

## Why
EventBridge writes to a queue only by the queue's own policy. A condition on `aws:SourceArn` that
leaves a rule out shuts just that rule out: a warning where no node is drained for its events.
Karpenter's template also names `sqs.amazonaws.com`. Every interruption is sent by EventBridge,
and SQS itself sends nothing to this queue, so a policy without that principal loses nothing and
is not warned about; the policies that this tool writes name it, as the template does.

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
    let arn = &attributes.arn;
    let Some(text) = attributes.policy.as_deref().filter(|text| !text.is_empty()) else {
        let start = json!({ "Version": "2012-10-17", "Statement": [tls_statement(arn)] });
        let seen = format!("{} has no policy.", queue.name);
        return Ok(Finding::fail(seen, EFFECT)
            .evidence(API, "Policy", "absent")
            .mend(extend(cx, queue, arn, &start)));
    };
    let policy = Policy::parse_as(PolicyKind::Resource, text)
        .map_err(|error| Stop::unknown(format!("the queue's policy could not be read: {error}")))?;
    let policy = [NamedPolicy::new(&queue.name, policy)];
    let decide = |sender: Sender| {
        let decision = decide_alone(Layer::Resource, &policy, &sender.request);
        (sender, decision)
    };
    let decisions: Vec<_> = senders(cx, queue, arn).into_iter().map(decide).collect();
    let out: Vec<_> = decisions.iter().filter(|(_, decision)| decision.is_refused()).collect();
    if !out.is_empty() {
        return Ok(shut_out(cx, queue, arn, text, &out));
    }
    if let Some((_, decision)) = decisions.iter().find(|(_, decision)| !decision.is_allowed()) {
        return Err(Stop::Unknown(Unknown {
            missing_action: denied_action(cx, queue),
            ..Unknown::new(format!("whether {EVENTS} may send {decision}"))
        }));
    }
    let by = decisions.first().map(|(_, decision)| decision.to_string()).unwrap_or_default();
    Ok(Finding::pass(format!("{EVENTS} may send: {by}.")))
}

/// The action that the caller lacks to know on whose behalf EventBridge sends.
fn denied_action(cx: &Context<'_>, queue: &Queue) -> Option<String> {
    match cx.facts.queue_rules.get(&queue.name).map(Fact::known) {
        Some(Err(Unseen::Denied { action, .. })) => Some(action),
        _ => None,
    }
}

fn shut_out(
    cx: &Context<'_>,
    queue: &Queue,
    arn: &str,
    text: &str,
    out: &[&(Sender, Decision)],
) -> Finding {
    let names: Vec<_> = out.iter().filter_map(|(sender, _)| sender.rule.as_deref()).collect();
    let decision = &out[0].1;
    let of = if names.is_empty() { String::new() } else { format!(" for {}", listed(&names)) };
    let seen = format!("The policy of {} does not let {EVENTS} send{of}: {decision}.", queue.name);
    let finding = if out.iter().any(|(sender, _)| sender.vital) {
        Finding::fail(seen, EFFECT)
    } else {
        Finding::warn(
            seen,
            "EventBridge drops these events, and nothing is logged. Karpenter drains nodes for \
             them only where interruptible capacity reservations are in use, if at all.",
        )
    };
    let remedy = match decision {
        Decision::Denied { statement, .. } => Remedy::new(format!(
            "Take {statement} out, or leave {EVENTS} out of whom it denies: a deny outranks every \
             allow. The command shows the policy."
        ))
        .run(format!(
            "aws sqs get-queue-attributes --region {} --queue-url {} --attribute-names Policy",
            quote(cx.region()),
            quote(&queue.url)
        )),
        _ => extend(cx, queue, arn, &serde_json::from_str(text).unwrap_or_default()),
    };
    finding.evidence(API, "Policy", decision.to_string()).mend(remedy)
}

/// Adds the statement that is missing to the policy that is there.
fn extend(cx: &Context<'_>, queue: &Queue, arn: &str, existing: &Value) -> Remedy {
    let mut policy = existing.clone();
    let statements = match policy.get("Statement").cloned() {
        Some(Value::Array(statements)) => statements,
        Some(one) => vec![one],
        None => Vec::new(),
    };
    let mut missing = send_statement(arn);
    // SQS refuses two statements of one Sid, and needs none.
    if statements.iter().any(|statement| statement.get("Sid") == missing.get("Sid"))
        && let Some(fields) = missing.as_object_mut()
    {
        fields.remove("Sid");
    }
    let all: Vec<_> = statements.into_iter().chain([missing]).collect();
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
        let drains_only = from("arn:aws:events:us-west-2:111122223333:rule/S*");
        let mut private = allow(EVENTS, &json!({}));
        private["Statement"] = json!([private["Statement"], {
            "Effect": "Deny", "Principal": "*", "Action": "sqs:*", "Resource": QUEUE,
            "Condition": {"StringNotEquals": {"aws:SourceVpce": "vpce-1"}},
        }]);
        let no_rebalance = json!({"ArnNotLike": {
            "aws:SourceArn": "arn:aws:events:*:*:rule/RebalanceRule",
        }});
        let account = |id: &str| json!({"StringEquals": {"aws:SourceAccount": id}});
        let no_policy = json!({"facts": {"queues": {"demo": {"known": {"attributes": {"known": {"policy": null}}}}}}});
        let mut no_rules = policy(&allow(EVENTS, &from(all_rules)));
        no_rules["facts"]["queue_rules"] = json!({"demo": {"known": []}});
        let denied = json!({"denied": {"action": API, "message": "no"}});
        let denied = json!({"facts": {"queues": {"demo": {"known": {"attributes": denied}}}}});
        let (pass, fail) = (&[(Status::Pass, "demo")][..], &[(Status::Fail, "demo")][..]);
        let unknown = &[(Status::Unknown, "demo")][..];
        let warn = &[(Status::Warn, "demo")][..];
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
                ("for some of the rules that drain", policy(&allow(EVENTS, &drains_only)), fail),
                ("for all that drain", policy(&allow(EVENTS, &no_rebalance)), warn),
                ("through an endpoint only", policy(&private), fail),
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
    fn an_unknown_names_the_action() {
        let list = "events:ListRuleNamesByTarget";
        let arn = "arn:aws:events:us-west-2:111122223333:rule/x";
        let mut patch = policy(&allow(EVENTS, &json!({"ArnLike": {"aws:SourceArn": arn}})));
        patch["facts"]["queue_rules"] =
            json!({"demo": {"denied": {"action": list, "message": "no"}}});
        let found = Account::Karpenter.judge(&CHECK, &patch).remove(0);
        assert_eq!((found.status, found.missing_action.as_deref()), (Status::Unknown, Some(list)));
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
