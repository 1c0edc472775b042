//! Whether each kind of interruption is forwarded to the queue.

use super::{arn, create_rule, fact, name_of, targets};
use crate::{
    checks::{Area, Check, Context, Judged, Stop, Verdicts, remedies::quote},
    facts::{Fact, events::Rule},
    outcome::{Finding, Remedy},
    requirements::rules::{self, Delivery, Effect, EventRule},
    target::Product,
};

const API: &str = "events:ListRuleNamesByTarget";

pub static CHECK: Check = Check {
    id: "queue-rules",
    title: "EventBridge forwards each kind of interruption to the queue",
    area: Area::Interruption,
    products: &[Product::Karpenter],
    errors: &["interruption-rule-missing"],
    needs: &["sqs:GetQueueUrl", API, "events:DescribeRule"],
    doc: "\
## What
For each kind of event that the Karpenter version reads, an enabled EventBridge rule forwards it
to the queue. Names are free, and one rule with a wider pattern serves as well.

## Why
Without its rule a kind of event never arrives, and nothing says so. For most of them Karpenter
then drains no node in time: a fail. For rebalance recommendations it only writes a Kubernetes
event, and interruptions of capacity reservations occur only to those who use interruptible ones
(from Karpenter 1.10): warnings. So is a pattern that asks more of the event than its kind.

## Seen as
Nothing: the controller's log has no line about it, and nodes end without a drain.

## Fix
`aws events put-rule` and `put-targets`, or `enable-rule`, in the cluster's region.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let mut judged = Vec::new();
    for given in targets(cx)? {
        let name = name_of(given);
        let queue = fact(cx.facts, given).and_then(|queue| Ok(queue.found()?));
        match queue {
            Ok(Some(_)) => judged.extend(each_rule(cx, name)),
            Ok(None) => {
                judged.push(Judged::new(name, || Err(Stop::skipped("the queue does not exist"))))
            }
            Err(stop) => judged.push(Judged::new(name, || Err(stop))),
        }
    }
    Ok(judged)
}

fn each_rule<'a>(cx: &'a Context<'_>, queue: &'a str) -> impl Iterator<Item = Judged> + 'a {
    rules::needed(cx.karpenter()).into_iter().map(move |needed| {
        Judged::new(format!("{queue}/{}", needed.id), || {
            let rules = cx.facts.queue_rules.get(queue).ok_or_else(|| {
                Stop::unknown(format!("these facts do not hold the rules that target {queue}"))
            })?;
            let rules = rules.found()?.map(Vec::as_slice).unwrap_or_default();
            judge(cx, queue, needed, rules)
        })
    })
}

/// What the rules that target the queue do for one kind of event.
#[derive(Default)]
struct Cover<'a> {
    by: Option<&'a Rule>,
    disabled: Option<&'a Rule>,
    /// The rule, and the field of its pattern that asks more.
    narrowed: Option<(&'a Rule, String)>,
    unseen: Option<Stop>,
}

impl<'a> Cover<'a> {
    fn of(needed: &EventRule, rules: &'a [Fact<Rule>]) -> Self {
        let mut cover = Self::default();
        for rule in rules {
            match rule.found() {
                Ok(Some(rule)) => cover.add(needed, rule),
                Ok(None) => {}
                Err(unseen) => cover.unseen = Some(unseen.into()),
            }
        }
        cover
    }

    fn add(&mut self, needed: &EventRule, rule: &'a Rule) {
        // A rule without a pattern runs on a schedule.
        let Some(text) = &rule.pattern else { return };
        let Ok(pattern) = serde_json::from_str(text) else {
            let why = format!("the pattern of rule {} is not JSON", rule.name);
            self.unseen = Some(Stop::unknown(why));
            return;
        };
        let enabled = rule.state.starts_with("ENABLED");
        match needed.delivered_by(&pattern) {
            Delivery::Delivered if enabled => self.by = Some(rule),
            Delivery::Delivered => self.disabled = Some(rule),
            Delivery::Narrowed { by } if enabled => self.narrowed = Some((rule, by)),
            Delivery::Narrowed { .. } | Delivery::NotDelivered => {}
        }
    }
}

fn judge(
    cx: &Context<'_>,
    queue: &str,
    needed: &EventRule,
    rules: &[Fact<Rule>],
) -> Result<Finding, Stop> {
    let cover = Cover::of(needed, rules);
    if let Some(rule) = cover.by {
        return Ok(Finding::pass(format!("Rule {} forwards “{}”.", rule.name, needed.detail_type)));
    }
    // A rule that could not be read may be the one.
    if let Some(stop) = cover.unseen {
        return Err(stop);
    }
    let finding = if let Some((rule, field)) = cover.narrowed {
        narrowed(cx, queue, needed, rule, &field)
    } else if let Some(rule) = cover.disabled {
        lost(
            needed,
            format!("Rule {} forwards “{}”, but is disabled.", rule.name, needed.detail_type),
        )
        .evidence("events:DescribeRule", format!("{}.State", rule.name), &rule.state)
        .mend(Remedy::new("Enable the rule.").run(format!(
            "aws events enable-rule --region {} --name {}",
            quote(cx.region()),
            quote(&rule.name)
        )))
    } else {
        lost(needed, format!("No rule forwards “{}” to {queue}.", needed.detail_type))
            .evidence(API, "RuleNames[]", format!("{} rules, none for it", rules.len()))
            .mend(create_rule(
                Remedy::new("Create the rule, with the queue as its target."),
                cx,
                &arn(cx, queue),
                needed,
            ))
    };
    Ok(finding)
}

/// Events of this kind are lost: how bad that is depends on what Karpenter does with them.
fn lost(needed: &EventRule, seen: String) -> Finding {
    let note = &needed.note;
    let finding = match (needed.effect, needed.when.is_empty()) {
        (Effect::Drain, true) => Finding::fail(
            seen,
            format!("Karpenter never learns of it and does not drain the node in time. {note}"),
        ),
        (Effect::Drain, false) => Finding::warn(
            seen,
            format!("If this feature is in use, Karpenter does not drain the node in time. {note}"),
        ),
        (Effect::Event, _) => {
            Finding::warn(seen, format!("The Kubernetes event about it is never written. {note}"))
        }
    };
    if needed.id == "capacity-reservation-interruption" {
        finding.errors(&["interruption-rule-missing"])
    } else {
        finding
    }
}

fn narrowed(
    cx: &Context<'_>,
    queue: &str,
    needed: &EventRule,
    rule: &Rule,
    field: &str,
) -> Finding {
    Finding::warn(
        format!(
            "Rule {} forwards “{}” only where its pattern for {field} matches.",
            rule.name, needed.detail_type
        ),
        "Events that do not match it never reach Karpenter, and it does not learn of those \
         interruptions.",
    )
    .evidence(
        "events:DescribeRule",
        format!("{}.EventPattern", rule.name),
        rule.pattern.clone().unwrap_or_default(),
    )
    .mend(create_rule(
        Remedy::new(format!(
            "Check that the pattern lets through what concerns this cluster. If it does not, add a \
             rule for all of “{}”.",
            needed.detail_type
        )),
        cx,
        &arn(cx, queue),
        needed,
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status::{self, Fail, Pass, Skipped, Unknown, Warn},
    };

    const ALL: [&str; 5] = [
        "demo/scheduled-change",
        "demo/spot-interruption",
        "demo/rebalance",
        "demo/instance-state-change",
        "demo/capacity-reservation-interruption",
    ];

    fn expected(statuses: [Status; 5]) -> Vec<(Status, &'static str)> {
        statuses.into_iter().zip(ALL).collect()
    }

    fn rule(state: &str, pattern: &Value) -> Value {
        json!({"known": {"name": "r", "state": state, "pattern": pattern.to_string()}})
    }

    fn rules(rules: &[Value]) -> Value {
        json!({"facts": {"queue_rules": {"demo": {"known": rules}}}})
    }

    #[test]
    fn rows() {
        let everything = json!({"source": ["aws.ec2", "aws.health"]});
        let no_health = json!({"source": ["aws.ec2"]});
        let of_one =
            json!({"source": ["aws.ec2", "aws.health"], "detail": {"instance-id": ["i-1"]}});
        let denied = |action: &str| json!({"denied": {"action": action, "message": "no"}});
        let missing = [Fail, Fail, Warn, Fail, Warn];
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("the template's", json!({}), &expected([Pass; 5])),
                ("one for all", rules(&[rule("ENABLED", &everything)]), &expected([Pass; 5])),
                ("none", rules(&[]), &expected(missing)),
                (
                    "none for one kind",
                    rules(&[rule("ENABLED", &no_health)]),
                    &expected([Fail, Pass, Pass, Pass, Pass]),
                ),
                ("disabled", rules(&[rule("DISABLED", &everything)]), &expected(missing)),
                ("narrowed", rules(&[rule("ENABLED", &of_one)]), &expected([Warn; 5])),
                (
                    "a schedule",
                    rules(&[json!({"known": {"name": "r", "state": "ENABLED", "pattern": null}})]),
                    &expected(missing),
                ),
                (
                    "one is not readable",
                    rules(&[rule("ENABLED", &no_health), denied("events:DescribeRule")]),
                    &expected([Unknown, Pass, Pass, Pass, Pass]),
                ),
                (
                    "not readable",
                    json!({"facts": {"queue_rules": {"demo": denied(API)}}}),
                    &expected([Unknown; 5]),
                ),
                (
                    "not collected",
                    json!({"facts": {"queue_rules": {"demo": null}}}),
                    &expected([Unknown; 5]),
                ),
                (
                    "before reservations",
                    json!({"scope": {"karpenter_version": "1.9.0"}}),
                    &expected([Pass; 5])[..4],
                ),
                (
                    "no queue",
                    json!({"facts": {"queues": {"demo": "absent"}}}),
                    &[(Skipped, "demo")],
                ),
                (
                    "the named one is missing",
                    json!({"scope": {"interruption_queue": "jobs"}, "facts": {"queues": {"jobs": "absent"}}}),
                    &[(Skipped, "jobs")],
                ),
            ],
        );
        assert_rows(Account::AutoMode, &CHECK, &[("EKS does it", json!({}), &[(Skipped, "demo")])]);
    }
}
