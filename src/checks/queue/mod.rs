//! The interruption queue and what feeds it.

mod cover;
pub mod encryption;
pub mod exists;
mod gap;
mod mend;
pub mod policy;
pub mod rules;
mod senders;

use super::{Context, Judged, Stop, Verdicts};
use crate::{
    facts::{
        Fact, Facts,
        sqs::{Queue, QueueAttributes},
    },
    outcome::Finding,
    target::{QueueTarget, names},
};

/// Which rules lead to a queue.
const RULES: &str = "events:ListRuleNamesByTarget";

/// EventBridge, as a policy names it; the same in every partition.
const EVENTS: &str = "events.amazonaws.com";

/// What is known of a queue that is given by ARN, URL or name.
fn fact<'a>(facts: &'a Facts, queue: &str) -> Result<&'a Fact<Queue>, Stop> {
    let found = facts.queues.get(queue).or_else(|| facts.queues.get(names::queue_name(queue)));
    found.ok_or_else(|| Stop::unknown(format!("these facts do not hold the queue {queue}")))
}

/// Where a queue is that was given by an ARN of another region or account. Karpenter looks its
/// name up in its own, and would read another queue.
fn elsewhere(cx: &Context<'_>, given: &str) -> Option<String> {
    let parts: Vec<&str> = given.split(':').collect();
    let &["arn", _, "sqs", region, account, _] = parts.as_slice() else { return None };
    let here = region == cx.region() && cx.account().is_none_or(|own| own == account);
    (!here).then(|| format!("{region} of account {account}"))
}

/// The queues to judge: the one named, or all that were found.
fn targets<'a>(cx: &'a Context<'_>) -> Result<Vec<&'a str>, Stop> {
    match &cx.target.queue {
        QueueTarget::Named(name) if elsewhere(cx, &name.value).is_some() => {
            Err(Stop::skipped("the queue is in another region or account"))
        }
        QueueTarget::Named(name) => Ok(vec![&name.value]),
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
        Judged::new(names::queue_name(name), || {
            let queue = fact(cx.facts, name)?.found()?;
            let queue = queue.ok_or_else(|| Stop::skipped("the queue does not exist"))?;
            judge(queue, queue.attributes.known()?)
        })
        .of_queue(names::queue_name(name))
    };
    Ok(targets(cx)?.into_iter().map(one).collect())
}
