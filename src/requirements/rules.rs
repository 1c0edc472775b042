//! The EventBridge rules that feed the interruption queue, by version.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::feature::Feature;
use super::load::{About, embedded};
use super::range::VersionRanges;
use super::version::KarpenterVersion;
use super::versions::judged_as;

/// A rule that must forward one kind of event to the queue.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventRule {
    pub id: String,
    /// What the getting-started template calls it; the real names are free.
    pub name: String,
    versions: VersionRanges,
    /// The features without which its events never occur; empty when it is always wanted.
    #[serde(default)]
    pub when: Vec<Feature>,
    pub source: String,
    pub detail_type: String,
    pub effect: Effect,
    /// What the controller makes of such an event.
    pub note: String,
}

/// What the controller does with an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// The node is drained and replaced before it is lost.
    Drain,
    /// A Kubernetes event is written, and no more.
    Event,
}

/// Whether a rule's event pattern lets the wanted event through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivery {
    Delivered,
    NotDelivered,
    /// The pattern also asks something of this field, which only the event itself can answer.
    Narrowed {
        by: String,
    },
}

impl EventRule {
    /// The smallest event pattern for this rule.
    pub fn pattern(&self) -> Value {
        json!({ "source": [self.source], "detail-type": [self.detail_type] })
    }

    /// Whether a rule with this `EventPattern` forwards the events that this one is for.
    pub fn delivered_by(&self, pattern: &Value) -> Delivery {
        let Some(fields) = pattern.as_object() else { return Delivery::NotDelivered };
        let mut narrowed = None;
        for (field, wanted) in fields {
            let matched = match field.as_str() {
                "source" => field_matches(wanted, &self.source),
                "detail-type" => field_matches(wanted, &self.detail_type),
                _ => None,
            };
            match matched {
                Some(true) => {}
                Some(false) => return Delivery::NotDelivered,
                None => narrowed = Some(field.clone()),
            }
        }
        narrowed.map_or(Delivery::Delivered, |by| Delivery::Narrowed { by })
    }
}

/// The rules that `version` makes use of, those for features not in use included.
pub fn needed(version: KarpenterVersion) -> Vec<&'static EventRule> {
    let judged = judged_as(version);
    FILE.rule.iter().filter(|rule| rule.versions.contains(judged)).collect()
}

/// Whether one of the alternatives of a pattern field matches; `None` when that hangs on a
/// comparison that is not read here (`exists`, `cidr`, …).
/// <https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-create-pattern-operators.html>
fn field_matches(alternatives: &Value, actual: &str) -> Option<bool> {
    let mut verdict = Some(false);
    for alternative in alternatives.as_array()? {
        match alternative_matches(alternative, actual) {
            Some(true) => return Some(true),
            Some(false) => {}
            None => verdict = None,
        }
    }
    verdict
}

fn alternative_matches(alternative: &Value, actual: &str) -> Option<bool> {
    if let Some(text) = alternative.as_str() {
        return Some(text == actual);
    }
    let text = |key: &str| alternative.get(key).and_then(Value::as_str);
    if let Some(prefix) = text("prefix") {
        Some(actual.starts_with(prefix))
    } else if let Some(suffix) = text("suffix") {
        Some(actual.ends_with(suffix))
    } else {
        text("equals-ignore-case").map(|other| actual.eq_ignore_ascii_case(other))
    }
}

/// Where the data comes from.
pub fn about() -> &'static About {
    &FILE.about
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    about: About,
    rule: Vec<EventRule>,
}

static FILE: LazyLock<File> =
    LazyLock::new(|| embedded(include_str!("../../policies/karpenter/event-rules.toml")));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reservation_rule_is_new_in_1_10() {
        about().assert_sound();
        for (version, count) in [("0.32.0", 4), ("1.9.2", 4), ("1.10.0", 5), ("1.14.1", 5)] {
            assert_eq!(needed(version.parse().unwrap()).len(), count, "{version}");
        }
    }

    #[test]
    fn wider_patterns_deliver_and_narrower_ones_are_said_so() {
        let newest = needed(KarpenterVersion::NEWEST);
        let spot = newest.iter().find(|rule| rule.id == "spot-interruption").unwrap();
        let both =
            ["EC2 Spot Instance Interruption Warning", "EC2 Instance Rebalance Recommendation"];
        for (pattern, expected) in [
            (spot.pattern(), Delivery::Delivered),
            (json!({ "source": ["aws.ec2"] }), Delivery::Delivered),
            (json!({ "source": ["aws.ec2"], "detail-type": both }), Delivery::Delivered),
            (json!({ "detail-type": [{ "prefix": "EC2 Spot" }] }), Delivery::Delivered),
            (json!({ "source": ["aws.health"] }), Delivery::NotDelivered),
            (
                json!({ "detail-type": ["EC2 Instance State-change Notification"] }),
                Delivery::NotDelivered,
            ),
            (
                json!({ "source": ["aws.ec2"], "detail": { "instance-id": ["i-1"] } }),
                Delivery::Narrowed { by: "detail".to_owned() },
            ),
            (
                json!({ "source": [{ "wildcard": "aws.*" }] }),
                Delivery::Narrowed { by: "source".to_owned() },
            ),
            (json!("not a pattern"), Delivery::NotDelivered),
        ] {
            assert_eq!(spot.delivered_by(&pattern), expected, "{pattern}");
        }
    }
}
