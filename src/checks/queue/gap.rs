//! What is said of events that the rules leave out.

use std::collections::BTreeMap;

use super::{
    RULES,
    cover::{Cover, How},
    mend::create_rule,
};
use crate::{
    checks::{
        Context,
        remedies::{listed, quote},
    },
    facts::events::Rule,
    outcome::{Finding, Remedy},
    requirements::rules::{Effect, EventRule},
};

/// One kind of event, some of which the rules of a queue leave out.
pub(super) struct Gap<'a> {
    pub cx: &'a Context<'a>,
    pub queue: &'a str,
    pub needed: &'a EventRule,
    /// The names of the rules that target the queue.
    pub rules: Vec<&'a str>,
}

impl Gap<'_> {
    /// The finding for the events that are missed, by the worst of them.
    pub fn finding(&self, missed: &[Cover<'_>]) -> Finding {
        let narrowed = missed.iter().find_map(|cover| match &cover.how {
            How::Narrowed(rule, field) => Some((*rule, field.as_str())),
            _ => None,
        });
        let dropped: Vec<_> =
            missed.iter().filter(|cover| !matches!(cover.how, How::Narrowed(..))).collect();
        let disabled: BTreeMap<_, _> = dropped
            .iter()
            .filter_map(|cover| match cover.how {
                How::Disabled(rule) => Some((rule.name.as_str(), rule)),
                _ => None,
            })
            .collect();
        let disabled: Vec<_> = disabled.into_values().collect();
        let lost = dropped.iter().any(|cover| matches!(cover.how, How::Lost));
        match (&disabled[..], narrowed) {
            ([first, ..], _) if !lost => self.disabled(&dropped, &disabled, first),
            ([], Some((rule, field))) if !lost => {
                self.narrowed(&missed.iter().collect::<Vec<_>>(), rule, field)
            }
            _ => self.no_rule(&dropped),
        }
    }

    fn no_rule(&self, dropped: &[&Cover<'_>]) -> Finding {
        let what = self.what(dropped);
        self.lost(format!("No enabled rule forwards {what} to {}.", self.queue))
            .evidence(RULES, "RuleNames[]", format!("[{}]", self.rules.join(", ")))
            .mend(self.create("Create the rule, with the queue as its target."))
    }

    fn disabled(&self, dropped: &[&Cover<'_>], disabled: &[&Rule], first: &Rule) -> Finding {
        let names: Vec<_> = disabled.iter().map(|rule| rule.name.as_str()).collect();
        let seen = format!(
            "Only disabled rules, {}, would forward {}.",
            listed(&names),
            self.what(dropped)
        );
        let enable = |remedy: Remedy, name: &&str| {
            remedy.run(format!(
                "aws events enable-rule --region {} --name {}",
                quote(self.cx.region()),
                quote(name)
            ))
        };
        self.lost(seen)
            .evidence("events:DescribeRule", format!("{}.State", first.name), &first.state)
            .mend(names.iter().fold(Remedy::new("Enable what is disabled."), enable))
    }

    fn narrowed(&self, missed: &[&Cover<'_>], rule: &Rule, field: &str) -> Finding {
        let (name, what) = (&rule.name, self.what(missed));
        let pattern = rule.pattern.clone().unwrap_or_default();
        let words = format!(
            "Check that the pattern lets through what concerns this cluster. If it does not, add a \
             rule for all of “{}”.",
            self.needed.detail_type
        );
        Finding::warn(
            format!("Rule {name} forwards {what} only where its pattern for {field} matches."),
            "Events that do not match it never reach Karpenter, and it does not learn of those \
             interruptions.",
        )
        .evidence("events:DescribeRule", format!("{name}.EventPattern"), pattern)
        .mend(self.create(&words))
    }

    /// The kind of event, and which of them where it is not all that Karpenter acts on.
    fn what(&self, covers: &[&Cover<'_>]) -> String {
        let kind = format!("“{}”", self.needed.detail_type);
        if covers.len() == self.needed.acted_on().count() {
            return kind;
        }
        let events: Vec<_> = covers.iter().map(|cover| cover.event.to_string()).collect();
        format!("{kind} with {}", listed(&events))
    }

    /// Events of this kind are lost: how bad that is depends on what Karpenter does with them.
    fn lost(&self, seen: String) -> Finding {
        let EventRule { note, effect, when, id, .. } = self.needed;
        let finding = match (effect, when.is_empty()) {
            (Effect::Drain, true) => Finding::fail(
                seen,
                format!("Karpenter never learns of it and does not drain the node in time. {note}"),
            ),
            (Effect::Drain, false) => Finding::warn(
                seen,
                format!(
                    "If this feature is in use, Karpenter does not drain the node in time. {note}"
                ),
            ),
            (Effect::Event, _) => Finding::warn(
                seen,
                format!("The Kubernetes event about it is never written. {note}"),
            ),
        };
        if id == "capacity-reservation-interruption" {
            finding.errors(&["interruption-rule-missing"])
        } else {
            finding
        }
    }

    fn create(&self, words: &str) -> Remedy {
        create_rule(Remedy::new(words), self.cx, self.queue, self.needed)
    }
}
