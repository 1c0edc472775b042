//! What is wrong with a NodeClaim, and which faults are one and the same.

use super::super::{Age, Context, UNKNOWN_FOR};
use crate::facts::kubernetes::{Condition, node_pool::NodeClaim};

/// A node registers within a minute or two; from here on it is late, in seconds …
const LATE: i64 = 5 * 60;
/// … and from here on Karpenter deletes the NodeClaim
/// (core `pkg/controllers/nodeclaim/lifecycle/liveness.go`).
const GIVEN_UP: i64 = 15 * 60;

/// What is wrong with a NodeClaim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault<'a> {
    pub certain: bool,
    pub kind: Kind,
    pub reason: &'a str,
    pub message: &'a str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    NotLaunched,
    NotRegistered,
    TooSmall,
}

impl Kind {
    /// What is the case, and what comes of it.
    pub fn told(self) -> (&'static str, &'static str) {
        match self {
            Self::NotLaunched => (
                "not launched",
                "No instance comes up: Karpenter deletes such a NodeClaim after 5 minutes and tries \
                 again, and the pods stay Pending.",
            ),
            Self::NotRegistered => (
                "launched and not registered within 5 minutes",
                "The instances run and are no nodes. Karpenter deletes them after 15 minutes and tries \
                 again; the pods stay Pending.",
            ),
            Self::TooSmall => (
                "not as Karpenter had reckoned",
                "Pods that Karpenter made the node for may find no room on it.",
            ),
        }
    }

    /// The condition that tells of it.
    pub fn condition(self) -> &'static str {
        match self {
            Self::NotLaunched => "Launched",
            Self::NotRegistered => "Registered",
            Self::TooSmall => "ConsistentStateFound",
        }
    }
}

impl<'a> Fault<'a> {
    pub fn of(cx: &Context<'_>, claim: &'a NodeClaim) -> Option<Self> {
        let age = |condition: Option<&Condition>| {
            let since = condition.and_then(|condition| condition.since).or(claim.meta.created);
            Age::of(cx, since).map_or(0, Age::seconds)
        };
        let of = |kind, certain, condition: Option<&'a Condition>| Self {
            certain,
            kind,
            reason: condition.map_or("", |condition| &condition.reason),
            message: condition.map_or("", |condition| &condition.message),
        };
        let is = |condition: Option<&Condition>| condition.is_some_and(|c| c.status == "True");
        let launched = condition(claim, "Launched");
        if !is(launched) {
            let said = launched.is_some_and(|condition| {
                !matches!(condition.reason.as_str(), "" | "AwaitingReconciliation")
            });
            let failing = said || age(launched) >= UNKNOWN_FOR;
            return failing.then(|| of(Kind::NotLaunched, true, launched));
        }
        let registered = condition(claim, "Registered");
        if !is(registered) {
            let waits = age(launched);
            return (waits >= LATE).then(|| of(Kind::NotRegistered, waits >= GIVEN_UP, registered));
        }
        let consistent = condition(claim, "ConsistentStateFound");
        let differs = consistent.is_some_and(|condition| condition.status == "False");
        differs.then(|| of(Kind::TooSmall, false, consistent))
    }

    /// What makes two faults the same: all but what differs from request to request and from
    /// instance to instance.
    pub fn key(&self, claim: &NodeClaim) -> (bool, Kind, &'a str, String) {
        let own = claim.meta.name.as_str();
        (!self.certain, self.kind, self.reason, without_ids(self.message, own))
    }
}

fn condition<'a>(claim: &'a NodeClaim, kind: &str) -> Option<&'a Condition> {
    claim.conditions.iter().find(|condition| condition.kind == kind)
}

/// A message without the ids in it: of requests, of resources of AWS, and the NodeClaim's own
/// name.
fn without_ids(message: &str, own: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let mut kept = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(first) = rest.chars().next() {
        let word = is_word(first);
        let end = rest.find(|c| is_word(c) != word).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        kept.push_str(if word && (part == own || is_id(part)) { "…" } else { part });
        rest = after;
    }
    kept
}

/// Whether a word is an id, such as `i-0123456789abcdef0`, a UUID or a checksum.
fn is_id(word: &str) -> bool {
    let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let has_digit = |text: &str| text.bytes().any(|byte| byte.is_ascii_digit());
    let last = word.rsplit('-').next().unwrap_or(word);
    last.len() >= 8 && is_hex(last) && has_digit(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_go_and_words_stay() {
        let own = "default-x7k2p";
        for (message, kept) in [
            (
                "api error Denied, RequestID: 0a1b2c3d-1111-2222-3333-44445555aaaa, no",
                "api error Denied, RequestID: …, no",
            ),
            ("instance i-0123456789abcdef0 of default-x7k2p", "instance … of …"),
            ("subnet-0abc1234 in us-west-2a, m5.large", "… in us-west-2a, m5.large"),
            ("no capacity – defaced", "no capacity – defaced"),
            ("", ""),
        ] {
            assert_eq!(without_ids(message, own), kept);
        }
    }
}
