//! The EventBridge rules that feed the interruption queue, by version.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::event_pattern::delivery;
use super::feature::Feature;
use super::load::{About, embedded};
use super::range::VersionRanges;
use super::version::KarpenterVersion;
use super::versions::judged_as;

pub use super::event_pattern::Delivery;

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
    /// What is known of the `detail` of the events that the controller acts on: every one of
    /// them must come through.
    acted_on: Vec<BTreeMap<String, String>>,
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

impl EventRule {
    /// The smallest event pattern for this rule.
    pub fn pattern(&self) -> Value {
        json!({ "source": [self.source], "detail-type": [self.detail_type] })
    }

    /// The events that the controller acts on; it discards the others, so a rule may leave them
    /// out. Each may come through another rule.
    pub fn acted_on(&self) -> impl Iterator<Item = ActedOn<'_>> {
        self.acted_on.iter().map(|detail| ActedOn { rule: self, detail })
    }
}

/// One kind of event that the controller acts on.
#[derive(Debug, Clone, Copy)]
pub struct ActedOn<'a> {
    rule: &'a EventRule,
    /// What is known of the event's `detail`.
    detail: &'a BTreeMap<String, String>,
}

impl ActedOn<'_> {
    /// Whether a rule with this `EventPattern` forwards it.
    pub fn delivered_by(&self, pattern: &Value) -> Delivery {
        let EventRule { source, detail_type, .. } = self.rule;
        let event = json!({ "source": source, "detail-type": detail_type, "detail": self.detail });
        delivery(pattern, &event)
    }
}

impl fmt::Display for ActedOn<'_> {
    /// What sets it apart from the rule's other events, such as `state terminated`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<_> =
            self.detail.iter().map(|(key, value)| format!("{key} {value}")).collect();
        f.write_str(&parts.join(", "))
    }
}

/// The rules that `version` makes use of, those for features not in use included.
pub fn needed(version: KarpenterVersion) -> Vec<&'static EventRule> {
    let judged = judged_as(version);
    FILE.rule.iter().filter(|rule| rule.versions.contains(judged)).collect()
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
    fn every_rule_delivers_what_its_own_pattern_asks_for() {
        for rule in needed(KarpenterVersion::NEWEST) {
            for event in rule.acted_on() {
                let delivery = event.delivered_by(&rule.pattern());
                assert_eq!(delivery, Delivery::Delivered, "{} {event}", rule.id);
            }
        }
    }

    #[test]
    fn wider_patterns_deliver_and_narrower_ones_are_said_so() {
        let kept_out = |by: &str| Delivery::NotDelivered { by: by.to_owned() };
        let narrowed = |by: &str| Delivery::Narrowed { by: by.to_owned() };
        let ec2 = |rest: Value| {
            let mut pattern = json!({ "source": ["aws.ec2"] });
            pattern.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
            pattern
        };
        let both =
            ["EC2 Spot Instance Interruption Warning", "EC2 Instance Rebalance Recommendation"];
        let states = ["stopping", "stopped", "shutting-down", "terminated"];
        for (id, pattern, expected) in [
            ("spot-interruption", ec2(json!({})), Delivery::Delivered),
            ("spot-interruption", ec2(json!({ "detail-type": both })), Delivery::Delivered),
            (
                "spot-interruption",
                json!({ "detail-type": [{ "prefix": "EC2 Spot" }] }),
                Delivery::Delivered,
            ),
            ("spot-interruption", json!({ "source": ["aws.health"] }), kept_out("source")),
            ("rebalance", json!({ "detail-type": [both[0]] }), kept_out("detail-type")),
            (
                "rebalance",
                ec2(json!({ "detail": { "instance-id": ["i-1"] } })),
                narrowed("detail.instance-id"),
            ),
            ("rebalance", json!({ "source": [{ "wildcard": "aws.*" }] }), narrowed("source")),
            ("rebalance", json!({ "account": ["111122223333"] }), narrowed("account")),
            ("rebalance", Value::Null, kept_out("EventPattern")),
            (
                "instance-state-change",
                ec2(json!({ "detail": { "state": states } })),
                Delivery::Delivered,
            ),
            (
                "instance-state-change",
                ec2(json!({ "detail": { "state": ["pending"] } })),
                kept_out("detail.state"),
            ),
            ("scheduled-change", json!({ "detail": { "service": ["EC2"] } }), Delivery::Delivered),
            (
                "scheduled-change",
                json!({ "detail": { "service": ["RDS"] } }),
                kept_out("detail.service"),
            ),
        ] {
            let rules = needed(KarpenterVersion::NEWEST);
            let rule = rules.iter().find(|rule| rule.id == id).unwrap();
            for event in rule.acted_on() {
                assert_eq!(event.delivered_by(&pattern), expected, "{event} {pattern}");
            }
        }
    }

    #[test]
    fn each_state_is_an_event_of_its_own() {
        let rules = needed(KarpenterVersion::NEWEST);
        let rule = rules.iter().find(|rule| rule.id == "instance-state-change").unwrap();
        let pattern = json!({ "detail": { "state": ["stopped", "terminated"] } });
        let delivered: Vec<_> = rule
            .acted_on()
            .filter(|event| event.delivered_by(&pattern) == Delivery::Delivered)
            .map(|event| event.to_string())
            .collect();
        assert_eq!(delivered, ["state stopped", "state terminated"]);
    }
}
