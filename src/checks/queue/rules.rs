//! Whether each kind of interruption is forwarded to the queue.

use std::collections::BTreeSet;

use super::{
    RULES,
    cover::{Cover, How},
    fact,
    gap::Gap,
    targets,
};
use crate::{
    checks::{Area, Check, Context, Judged, Stop, Verdicts, remedies::listed},
    facts::{Fact, events::Rule},
    outcome::Finding,
    requirements::rules::{self, EventRule},
    target::{Product, names::queue_name},
};

pub static CHECK: Check = Check {
    id: "queue-rules",
    title: "EventBridge forwards each kind of interruption to the queue",
    area: Area::Interruption,
    products: &[Product::Karpenter],
    errors: &["interruption-rule-missing"],
    needs: &["sqs:GetQueueUrl", RULES, "events:DescribeRule"],
    doc: "\
## What
For each kind of event that the Karpenter version reads, enabled EventBridge rules forward to the
queue what Karpenter acts on. Names are free; one rule with a wider pattern serves as well, and so
do several rules that share a kind between them.

## Why
Without its rule a kind of event never arrives, and nothing says so. For most of them Karpenter
then drains no node in time: a fail. For rebalance recommendations it only writes a Kubernetes
event, and interruptions of capacity reservations occur only to those who use interruptible ones
(from Karpenter 1.10): warnings. So is a pattern that asks more of the event than is known
beforehand.

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
        let name = queue_name(given);
        let queue = fact(cx.facts, given).and_then(|queue| Ok(queue.found()?));
        match queue {
            Ok(Some(_)) => judged.extend(each_rule(cx, name)),
            Ok(None) => {
                let stop = Stop::skipped("the queue does not exist");
                judged.push(Judged::new(name, || Err(stop)).of_queue(name));
            }
            Err(stop) => judged.push(Judged::new(name, || Err(stop)).of_queue(name)),
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
        .of_queue(queue)
    })
}

fn judge(
    cx: &Context<'_>,
    queue: &str,
    needed: &EventRule,
    rules: &[Fact<Rule>],
) -> Result<Finding, Stop> {
    let covers = Cover::of(needed, rules);
    let by: BTreeSet<_> =
        covers.iter().filter_map(Cover::forwarded_by).map(|rule| rule.name.as_str()).collect();
    let mut missed = Vec::new();
    for cover in covers.into_iter().filter(|cover| cover.forwarded_by().is_none()) {
        // A rule that could not be read may be the one.
        if let How::Unseen(stop) = cover.how {
            return Err(stop);
        }
        missed.push(cover);
    }
    if !missed.is_empty() {
        let rules = rules.iter().filter_map(|rule| rule.value()).map(|rule| rule.name.as_str());
        return Ok(Gap { cx, queue, needed, rules: rules.collect() }.finding(&missed));
    }
    let by: Vec<_> = by.into_iter().collect();
    let forward = if by.len() == 1 { "forwards" } else { "together forward" };
    Ok(Finding::pass(format!("{} {forward} “{}”.", listed(&by), needed.detail_type)))
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
        json!({"known": {"name": state.to_lowercase(), "state": state, "pattern": pattern.to_string()}})
    }

    fn rules(rules: &[Value]) -> Value {
        json!({"facts": {"queue_rules": {"demo": {"known": rules}}}})
    }

    /// A rule for state changes to these.
    fn states(enabled: &str, states: &[&str]) -> Value {
        let kind = "EC2 Instance State-change Notification";
        rule(enabled, &json!({"detail-type": [kind], "detail": {"state": states}}))
    }

    #[test]
    fn a_gap_names_what_is_left_out() {
        let some = states("ENABLED", &["stopped", "terminated"]);
        let rest = states("DISABLED", &["stopping", "shutting-down"]);
        let left_out = "“EC2 Instance State-change Notification” with state stopping and state \
                        shutting-down";
        for (present, seen) in [
            (vec![some.clone()], format!("No enabled rule forwards {left_out} to demo.")),
            (
                vec![some.clone(), rest.clone()],
                format!("Only disabled rules, disabled, would forward {left_out}."),
            ),
        ] {
            let found = Account::Karpenter.judge(&CHECK, &rules(&present)).remove(3);
            assert_eq!((found.status, found.seen), (Fail, seen));
        }
    }

    #[test]
    fn rows() {
        let everything = json!({"source": ["aws.ec2", "aws.health"]});
        let no_health = json!({"source": ["aws.ec2"]});
        let of_one =
            json!({"source": ["aws.ec2", "aws.health"], "detail": {"instance-id": ["i-1"]}});
        let denied = |action: &str| json!({"denied": {"action": action, "message": "no"}});
        let all = ["stopping", "stopped", "shutting-down", "terminated"];
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
                    "states shared by two rules",
                    rules(&[states("ENABLED", &all[..2]), states("ENABLED", &all[2..])]),
                    &expected([Fail, Fail, Warn, Pass, Warn]),
                ),
                ("some states only", rules(&[states("ENABLED", &all[..2])]), &expected(missing)),
                (
                    "the other states are off",
                    rules(&[states("ENABLED", &all[..2]), states("DISABLED", &all[2..])]),
                    &expected(missing),
                ),
                (
                    "the other states may come by a rule that is not readable",
                    rules(&[states("ENABLED", &all[..2]), denied("events:DescribeRule")]),
                    &expected([Unknown; 5]),
                ),
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
                    json!({"facts": {"queue_rules": {"demo": denied(RULES)}}}),
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
