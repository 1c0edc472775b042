//! Which of the events that Karpenter acts on the rules of a queue let through.

use serde_json::Value;

use crate::{
    checks::Stop,
    facts::{Fact, events::Rule},
    requirements::rules::{ActedOn, Delivery, EventRule},
};

/// What the rules that target the queue do for one event that Karpenter acts on.
pub(super) struct Cover<'a> {
    pub event: ActedOn<'a>,
    pub how: How<'a>,
}

/// How far an event comes, from the best to the worst.
pub(super) enum How<'a> {
    /// An enabled rule forwards it.
    Forwarded(&'a Rule),
    /// A rule that could not be read may forward it.
    Unseen(Stop),
    /// An enabled rule forwards it only where its pattern for this field matches.
    Narrowed(&'a Rule, String),
    /// A rule would forward it, but is disabled.
    Disabled(&'a Rule),
    Lost,
}

impl<'a> Cover<'a> {
    /// Each event, and the best that any of the rules does for it: one rule may forward some of
    /// them, and another the rest.
    pub fn of(needed: &'a EventRule, rules: &'a [Fact<Rule>]) -> Vec<Self> {
        needed.acted_on().map(|event| Self { event, how: best(&event, rules) }).collect()
    }

    pub fn forwarded_by(&self) -> Option<&'a Rule> {
        match self.how {
            How::Forwarded(rule) => Some(rule),
            _ => None,
        }
    }
}

fn best<'a>(event: &ActedOn<'_>, rules: &'a [Fact<Rule>]) -> How<'a> {
    let all = rules.iter().filter_map(|rule| by_rule(event, rule));
    all.reduce(|best, next| if next.rank() < best.rank() { next } else { best })
        .unwrap_or(How::Lost)
}

/// What one rule does for the event; `None` if nothing.
fn by_rule<'a>(event: &ActedOn<'_>, rule: &'a Fact<Rule>) -> Option<How<'a>> {
    let rule = match rule.found() {
        Ok(rule) => rule?,
        Err(unseen) => return Some(How::Unseen(unseen.into())),
    };
    // A rule without a pattern runs on a schedule.
    let text = rule.pattern.as_deref()?;
    let Ok(pattern) = serde_json::from_str::<Value>(text) else {
        let why = format!("the pattern of rule {} is not JSON", rule.name);
        return Some(How::Unseen(Stop::unknown(why)));
    };
    let enabled = rule.state.starts_with("ENABLED");
    match event.delivered_by(&pattern) {
        Delivery::Delivered if enabled => Some(How::Forwarded(rule)),
        Delivery::Delivered => Some(How::Disabled(rule)),
        Delivery::Narrowed { by } if enabled => Some(How::Narrowed(rule, by)),
        Delivery::Narrowed { .. } | Delivery::NotDelivered { .. } => None,
    }
}

impl How<'_> {
    fn rank(&self) -> u8 {
        match self {
            Self::Forwarded(_) => 0,
            Self::Unseen(_) => 1,
            Self::Narrowed(..) => 2,
            Self::Disabled(_) => 3,
            Self::Lost => 4,
        }
    }
}
