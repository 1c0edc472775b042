//! Whether the interruption queue is there, under a name that Karpenter can use.

use super::{
    elsewhere, fact,
    mend::{create, set_name},
    not_seen,
};
use crate::{
    checks::{Area, Check, Context, Judged, Stop, Verdicts, remedies::listed},
    outcome::{Finding, Remedy},
    requirements::version::KarpenterVersion,
    target::{
        Product, QueueTarget,
        names::{self, queue_name},
    },
};

const API: &str = "sqs:GetQueueUrl";

/// From here on the queue is looked up at the start, and a failure ends the process
/// (`pkg/controllers/controllers.go` at v0.33.0) …
const AT_START: KarpenterVersion = KarpenterVersion::new(0, 33, 0);
/// … and from here on the failure is logged and tried again (v1.4.0).
const TRIED_AGAIN: KarpenterVersion = KarpenterVersion::new(1, 4, 0);

pub static CHECK: Check = Check {
    id: "queue-exists",
    title: "The interruption queue exists",
    area: Area::Interruption,
    products: &[Product::Karpenter],
    errors: &["non-existent-queue", "sqs-provider-not-created"],
    needs: &[API],
    doc: "\
## What
The queue that `settings.interruptionQueue` names exists in the cluster's account and region, is
given as a name, and is no FIFO queue.

## Why
Karpenter learns from this queue that a Spot instance will be taken back or that an instance has
stopped. It asks SQS for the queue by name, so an ARN or a URL finds nothing. When the queue is
not found, Karpenter 0.33 to 1.3 exits at the start; from 1.4 on (and in 0.32) it goes on and
logs the error again and again. Before an install, a queue that is not there yet is a warning:
the installers create it. Without a queue, nodes are lost with their pods still on them.
EventBridge delivers to a FIFO queue only with a message group, which the rules do not set.

## Seen as
`AWS.SimpleQueueService.NonExistentQueue` in the controller's log.

## Fix
Create the queue, its policy and its rules, then set `settings.interruptionQueue` to its name.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    match &cx.target.queue {
        QueueTarget::Named(given) => Ok(vec![
            Judged::new(&given.value, || named(cx, &given.value))
                .of_queue(queue_name(&given.value)),
        ]),
        QueueTarget::Found(names) => {
            let judge =
                |name: &String| Judged::new(name, || Ok(found(cx, name, names))).of_queue(name);
            Ok(names.iter().map(judge).collect())
        }
        QueueTarget::None => Ok(vec![Judged::new(&cx.target.cluster, || Ok(none(cx)))]),
        QueueTarget::NotSeen => Err(not_seen(cx)),
    }
}

fn named(cx: &Context<'_>, given: &str) -> Result<Finding, Stop> {
    let name = queue_name(given);
    if let Some(place) = elsewhere(cx, given) {
        return Ok(in_another_place(cx, given, &place));
    }
    if name != given {
        return Ok(not_a_name(cx, given));
    }
    Ok(match fact(cx.facts, given)?.found()? {
        Some(_) => found(cx, given, &[]),
        None => missing(cx, given),
    })
}

/// A queue that exists, and any others under usual names.
fn found(cx: &Context<'_>, name: &str, all: &[String]) -> Finding {
    if has_fifo_name(name) {
        return fifo(cx, name);
    }
    Finding::pass(if all.len() > 1 {
        format!(
            "{name} exists, but {} all have a usual name: say with --interruption-queue which one \
             Karpenter reads.",
            listed(all)
        )
    } else {
        format!("{name} exists.")
    })
}

fn has_fifo_name(name: &str) -> bool {
    // SQS asks for exactly this ending of a FIFO queue's name.
    name.ends_with(".fifo")
}

fn in_another_place(cx: &Context<'_>, given: &str, place: &str) -> Finding {
    Finding::fail(
        format!("The queue {given} is in {place}."),
        format!(
            "Karpenter looks a queue up by its name, in the cluster's own account and region. {}",
            without(cx)
        ),
    )
    .errors(errors(cx))
    .evidence("--interruption-queue", "value", given)
    .mend(Remedy::new(format!(
        "Use a queue in {}, and give settings.interruptionQueue its name. Rules of other accounts \
         or regions can forward to it.",
        cx.region()
    )))
}

fn not_a_name(cx: &Context<'_>, given: &str) -> Finding {
    let name = queue_name(given);
    let kind = if given.starts_with("arn:") { "an ARN" } else { "a URL or a path" };
    Finding::fail(
        format!("The queue is given as {kind}, {given}, and Karpenter wants its name, {name}."),
        format!("SQS finds no queue called {given}. {}", without(cx)),
    )
    .errors(errors(cx))
    .evidence("--interruption-queue", "value", given)
    .mend(set_name(
        Remedy::new(format!(
            "If settings.interruptionQueue has the same value in the chart's values, set it to \
             {name}, there or at once with kubectl. The queue must be in the account and region \
             of the controller."
        )),
        cx,
        name,
    ))
}

fn missing(cx: &Context<'_>, name: &str) -> Finding {
    let seen = format!("There is no queue {name} in {}.", cx.region());
    let remedy = create(
        cx,
        name,
        "Create the queue, its policy and its rules; or, if it has another \
        name, set settings.interruptionQueue to that.",
    );
    // The installers create it, so before an install it is not missing yet.
    let finding = if cx.target.before_install() { Finding::warn } else { Finding::fail };
    finding(seen, without(cx))
        .errors(errors(cx))
        .evidence(API, name, "QueueDoesNotExist")
        .mend(remedy)
}

fn fifo(cx: &Context<'_>, name: &str) -> Finding {
    let standard = name.strip_suffix(".fifo").unwrap_or(name);
    let remedy = create(
        cx,
        standard,
        "Create a standard queue with its policy and rules, and set \
        settings.interruptionQueue to its name.",
    );
    Finding::fail(
        format!("{name} is a FIFO queue."),
        "EventBridge sends nothing to it unless each rule sets a message group, and Karpenter's \
         rules do not: interruptions never arrive, and nothing is logged.",
    )
    .evidence(API, "QueueName", name)
    .mend(set_name(remedy, cx, standard))
}

fn none(cx: &Context<'_>) -> Finding {
    let usual = names::queues(&cx.target.cluster);
    let name = usual[0].as_str();
    let remedy = create(
        cx,
        name,
        "Create the queue, its policy and its rules, and set \
        settings.interruptionQueue to its name. If it has a name of its own already, give that with \
        --interruption-queue.",
    );
    Finding::warn(
        format!(
            "No interruption queue was named, and there is none called {}.",
            usual.join(" or ")
        ),
        format!(
            "Karpenter does not learn that an instance will be interrupted: Spot nodes are lost \
             with their pods still on them. If settings.interruptionQueue is set all the same: {}",
            without(cx)
        ),
    )
    .errors(errors(cx))
    .evidence(API, listed(&usual), "QueueDoesNotExist")
    .mend(set_name(remedy, cx, name))
}

/// What the controller does when SQS knows no such queue.
fn without(cx: &Context<'_>) -> String {
    let version = cx.karpenter();
    if version < AT_START {
        format!("Karpenter {version} logs an error at each poll and sees no interruption.")
    } else if version < TRIED_AGAIN {
        format!("Karpenter {version} exits at the start and never runs.")
    } else {
        format!(
            "Karpenter {version} runs, but logs the error again and again and sees no interruption."
        )
    }
}

fn errors(cx: &Context<'_>) -> &'static [&'static str] {
    if cx.karpenter() < TRIED_AGAIN {
        &["non-existent-queue"]
    } else {
        &["non-existent-queue", "sqs-provider-not-created"]
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::{Status, Step},
    };

    fn named(name: &str) -> Value {
        json!({"scope": {"interruption_queue": name}})
    }

    const OTHER: &str = "arn:aws:sqs:us-east-1:999999999999:demo";

    #[test]
    fn a_queue_elsewhere_is_not_judged_by_its_namesake_here() {
        let patch = json!({"scope": {"interruption_queue": OTHER}});
        let outcomes = Account::Karpenter.judge(&crate::checks::queue::policy::CHECK, &patch);
        assert_eq!(outcomes[0].status, Status::Skipped, "{outcomes:#?}");
    }

    #[test]
    fn rows() {
        let arn = "arn:aws:sqs:us-west-2:111122223333:demo";
        let url = "https://sqs.us-west-2.amazonaws.com/111122223333/demo";
        let queue =
            |name: &str| json!({"known": {"name": name, "url": "u", "attributes": "absent"}});
        let denied = json!({"denied": {"action": API, "message": "no"}});
        let with = |name: &str, fact: Value| json!({"scope": {"interruption_queue": name}, "facts": {"queues": {name: fact}}});
        let mut before = with("jobs", json!("absent"));
        before["scope"]["stage"] = json!("before");
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("found", json!({}), &[(Status::Pass, "demo")]),
                ("named", named("demo"), &[(Status::Pass, "demo")]),
                ("an ARN", named(arn), &[(Status::Fail, arn)]),
                ("elsewhere", named(OTHER), &[(Status::Fail, OTHER)]),
                ("a URL", named(url), &[(Status::Fail, url)]),
                ("missing", with("jobs", json!("absent")), &[(Status::Fail, "jobs")]),
                ("missing before an install", before, &[(Status::Warn, "jobs")]),
                ("not readable", with("jobs", denied.clone()), &[(Status::Unknown, "jobs")]),
                ("not collected", named("jobs"), &[(Status::Unknown, "jobs")]),
                ("FIFO", with("q.fifo", queue("q.fifo")), &[(Status::Fail, "q.fifo")]),
                (
                    "none",
                    json!({"facts": {"queues": {"demo": "absent"}}}),
                    &[(Status::Warn, "demo")],
                ),
                (
                    "not seen",
                    json!({"facts": {"queues": {"demo": denied}}}),
                    &[(Status::Unknown, "demo")],
                ),
                (
                    "two",
                    json!({"facts": {"queues": {"Karpenter-demo": queue("Karpenter-demo")}}}),
                    &[(Status::Pass, "demo"), (Status::Pass, "Karpenter-demo")],
                ),
            ],
        );
        let skipped = &[(Status::Skipped, "demo")];
        assert_rows(Account::AutoMode, &CHECK, &[("EKS does it", json!({}), skipped)]);
    }

    #[test]
    fn the_effect_is_that_of_the_version() {
        for (version, effect) in [
            ("0.32.0", "logs an error at each poll"),
            ("0.33.0", "exits at the start"),
            ("1.3.8", "exits at the start"),
            ("1.4.0", "again and again"),
        ] {
            let patch = json!({
                "scope": {"interruption_queue": "demo", "karpenter_version": version},
                "facts": {"queues": {"demo": "absent"}},
            });
            let found = Account::Karpenter.judge(&CHECK, &patch).remove(0);
            assert!(found.effect.contains(effect), "{version}: {}", found.effect);
        }
    }

    #[test]
    fn everything_is_created_in_order() {
        let patch = json!({
            "scope": {"region": "cn-north-1"},
            "facts": {"queues": {"demo": "absent"}},
        });
        let found = Account::Karpenter.judge(&CHECK, &patch).remove(0);
        let steps = found.remedy.expect("it is mended").steps;
        assert_eq!(steps.len(), 2 + 5 * 3 + 1, "{steps:?}");
        let Step::Document { document, .. } = &steps[0] else { panic!("{steps:?}") };
        assert!(document.contains("arn:aws-cn:sqs:cn-north-1:111122223333:demo"), "{document}");
    }
}
