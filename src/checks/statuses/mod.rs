//! What Karpenter's objects say of themselves.

pub mod age;
pub mod deletions;
pub mod node_claims;
pub mod node_classes;
pub mod node_pools;

use self::age::Age;
use super::{Context, Stop};
use crate::{
    facts::{
        Fact,
        kubernetes::{Condition, Meta, node_class::NodeClass},
    },
    target::Product,
};

/// How long a condition may be Unknown before it counts as failing, in seconds. A reconcile
/// takes seconds and is tried again within minutes; a denied call leaves it Unknown for good
/// (facts of `pkg/controllers/nodeclass` at v1.14.1).
const UNKNOWN_FOR: i64 = 5 * 60;

/// The node classes of a product, and how kubectl calls them.
fn node_classes<'a>(
    cx: &Context<'a>,
    product: Product,
) -> Result<(&'static str, &'a [NodeClass]), Stop> {
    let facts = cx.kubernetes()?;
    let (kind, classes) = match product {
        Product::Karpenter => ("ec2nodeclass", &facts.ec2_node_classes),
        Product::AutoMode => ("nodeclass", &facts.auto_node_classes),
    };
    Ok((kind, list(classes)?))
}

/// A list; of a kind that the cluster does not know there is nothing.
fn list<T>(fact: &Fact<Vec<T>>) -> Result<&[T], Stop> {
    Ok(fact.found()?.map_or(&[], Vec::as_slice))
}

/// The conditions that are False, or Unknown for too long, or have a reason for being Unknown.
/// A condition that sums others up comes last.
fn unhealthy<'a>(cx: &Context<'_>, meta: &Meta, conditions: &'a [Condition]) -> Vec<&'a Condition> {
    let lasts = |condition: &Condition| {
        Age::of(cx, condition.since.or(meta.created)).is_none_or(|age| age.seconds() >= UNKNOWN_FOR)
    };
    let waits = |condition: &Condition| {
        matches!(condition.reason.as_str(), "" | "AwaitingReconciliation" | "ReconcilingDependents")
    };
    let mut found: Vec<_> = conditions
        .iter()
        .filter(|condition| match condition.status.as_str() {
            "True" => false,
            "False" => true,
            _ => !waits(condition) || lasts(condition),
        })
        .collect();
    found.sort_by_key(|condition| condition.kind == "Ready");
    found
}

/// A condition as a sentence without its end.
fn told(cx: &Context<'_>, condition: &Condition) -> String {
    let Condition { kind, status, reason, message, since } = condition;
    let age = Age::of(cx, *since).map_or(String::new(), |age| format!(" for {age}"));
    let because = match (reason.as_str(), message.as_str()) {
        ("", "") => String::new(),
        ("", text) | (text, "") => format!(" ({text})"),
        (reason, message) => format!(" ({reason}: {message})"),
    };
    format!("{kind} is {status}{age}{because}")
}

/// Everything that conditions say, for the catalogue to read: a line each.
fn text(conditions: &[&Condition]) -> String {
    let line = |condition: &&Condition| {
        format!(
            "{}={} {}: {}\n",
            condition.kind, condition.status, condition.reason, condition.message
        )
    };
    conditions.iter().map(line).collect()
}
