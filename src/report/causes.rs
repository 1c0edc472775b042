//! Problems with one cause, which a report for people says once.
//!
//! Where the API server cannot be reached, half of the checks say so, and sixty NodeClaims may
//! fail for one reason: a reader wants to hear it once, with the names of what it hits. JSON and
//! the other formats for programs keep every outcome.

use std::{borrow::Cow, collections::BTreeMap};

use super::{Report, remarks, step, text::clean};
use crate::outcome::{Outcome, Status};

/// How many causes of one check are shown in full.
pub(super) const SHOWN: usize = 3;
/// How many subjects of one cause are named.
pub(super) const NAMED: usize = 5;

/// A cause, and every outcome that it has. There is at least one.
pub(super) struct Cause<'a> {
    /// Its text stands for all.
    pub first: &'a Outcome,
    more: Vec<&'a Outcome>,
}

impl<'a> Cause<'a> {
    pub fn outcomes(&self) -> impl Iterator<Item = &'a Outcome> {
        std::iter::once(self.first).chain(self.more.iter().copied())
    }

    /// Ids of the checks, each once.
    pub fn checks(&self) -> Vec<&'a str> {
        each_once(self.outcomes().map(|outcome| outcome.check.as_str()))
    }

    /// What they judge, each once; of many the first few, and how many more there are.
    pub fn subjects(&self) -> String {
        named(&each_once(self.outcomes().map(|outcome| outcome.subject.as_str())))
    }

    /// Whom the steps of the remedy are for, where each of several has steps of its own.
    pub fn steps_are_of_first(&self) -> bool {
        let steps = |outcome: &Outcome| outcome.remedy.as_ref().map(|remedy| remedy.steps.clone());
        let first = steps(self.first);
        let has_steps = first.as_ref().is_some_and(|steps| !steps.is_empty());
        has_steps && self.more.iter().any(|outcome| steps(outcome) != first)
    }
}

/// `a, b, c`; of many the first few: `a, b, c, d, e and 7 more`.
pub(super) fn named(names: &[&str]) -> String {
    let names: Vec<_> = names.iter().map(|name| clean(name)).collect();
    match names.split_at_checked(NAMED) {
        Some((first, more)) if !more.is_empty() => {
            format!("{} and {} more", first.join(", "), more.len())
        }
        _ => names.join(", "),
    }
}

fn each_once<'a>(all: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = std::collections::BTreeSet::new();
    all.filter(|one| seen.insert(*one)).collect()
}

/// The outcomes by their cause, in order: alike are those that differ only in the subject's name.
pub(super) fn causes<'a>(outcomes: &[&'a Outcome]) -> Vec<Cause<'a>> {
    collect(outcomes.iter().copied(), key)
}

/// What the causes say, the same steps once.
pub(super) fn firsts<'a>(causes: &[Cause<'a>]) -> Vec<Cow<'a, Outcome>> {
    step::each_once(&causes.iter().map(|cause| cause.first).collect::<Vec<_>>())
}

/// The causes in these words.
pub(super) fn in_words<'b>(
    causes: &'b [Cause<'b>],
    firsts: &'b [Cow<'b, Outcome>],
) -> Vec<Cause<'b>> {
    let each = causes.iter().zip(firsts);
    each.map(|(cause, first)| Cause { first, more: cause.more.clone() }).collect()
}

/// The unknowns of several checks for one reason, and all other outcomes.
pub(super) fn shared(outcomes: &[Outcome]) -> (Vec<Cause<'_>>, Vec<&Outcome>) {
    let unknown = |outcome: &&Outcome| outcome.status == Status::Unknown;
    let mut reasons = collect(outcomes.iter().filter(unknown), reason);
    reasons.retain(|reason| reason.checks().len() > 1);
    let keys: Vec<_> = reasons.iter().map(|shared| reason(shared.first)).collect();
    let is_shared = |outcome: &&Outcome| unknown(outcome) && keys.contains(&reason(outcome));
    let others = outcomes.iter().filter(|outcome| !is_shared(outcome)).collect();
    (reasons, others)
}

/// Every problem of a report by its cause, the failed first.
pub(super) fn said_once(report: &Report) -> Vec<Cause<'_>> {
    let (shared, others) = shared(&report.outcomes);
    let of = |status| others.iter().copied().filter(move |outcome| outcome.status == status);
    let problems = [Status::Fail, Status::Warn, Status::Unknown].into_iter().flat_map(of);
    let mut all = causes(&problems.collect::<Vec<_>>());
    all.extend(shared);
    all
}

fn collect<'a>(
    outcomes: impl Iterator<Item = &'a Outcome>,
    key: impl Fn(&Outcome) -> Vec<String>,
) -> Vec<Cause<'a>> {
    let mut causes: Vec<Cause<'a>> = Vec::new();
    let mut places: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    for outcome in outcomes {
        let place = *places.entry(key(outcome)).or_insert(causes.len());
        match causes.get_mut(place) {
            Some(cause) => cause.more.push(outcome),
            None => causes.push(Cause { first: outcome, more: Vec::new() }),
        }
    }
    causes
}

/// Why nothing could be said, whatever was asked about.
fn reason(outcome: &Outcome) -> Vec<String> {
    let remedy = outcome.remedy.as_ref().map(|remedy| format!("{remedy:?}"));
    let action = outcome.missing_action.clone();
    vec![outcome.seen.clone(), action.unwrap_or_default(), remedy.unwrap_or_default()]
}

/// What an outcome says, without the name of its subject.
fn key(outcome: &Outcome) -> Vec<String> {
    let remedy = outcome.remedy.as_ref().map(|remedy| remedy.words.as_str());
    let remark = remarks::of(outcome).unwrap_or_default();
    let action = outcome.missing_action.clone().unwrap_or_default();
    let mut key = vec![outcome.check.clone(), outcome.status.as_str().to_owned(), remark, action];
    let words = [outcome.seen.as_str(), &outcome.effect, remedy.unwrap_or_default()];
    key.extend(words.map(|text| without_name(text, &outcome.subject)));
    key.extend(outcome.errors.iter().map(|error| error.id.clone()));
    key
}

fn without_name(text: &str, subject: &str) -> String {
    /// A shorter name may be part of any word.
    const SHORTEST: usize = 4;
    // A text may name `default` what the subject calls `nodepool/default`.
    let last = subject.rsplit(['/', ' ', ':']).next().unwrap_or(subject);
    let mut text = text.to_owned();
    for name in [subject, last].into_iter().filter(|name| name.len() >= SHORTEST) {
        text = text.replace(name, "\0");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::report;

    #[test]
    fn one_reason_of_several_checks_is_said_once() {
        let mut outcomes = report("problems").outcomes;
        assert!(shared(&outcomes).0.is_empty(), "each has a reason of its own");
        let unknown = outcomes.iter().find(|one| one.status == Status::Unknown).cloned().unwrap();
        // Twice of one check is one check's own matter.
        outcomes.push(Outcome { subject: "another".to_owned(), ..unknown.clone() });
        assert!(shared(&outcomes).0.is_empty());
        outcomes.push(Outcome { check: "another".to_owned(), ..unknown.clone() });
        let (reasons, others) = shared(&outcomes);
        assert_eq!(reasons.len(), 1);
        assert_eq!(reasons[0].checks(), [unknown.check.as_str(), "another"]);
        assert_eq!(others.len() + reasons[0].outcomes().count(), outcomes.len());
        let other_action = Outcome {
            check: "a-third".to_owned(),
            missing_action: Some("iam:GetRole".to_owned()),
            ..unknown
        };
        outcomes.push(other_action);
        assert_eq!(shared(&outcomes).0[0].checks().len(), 2, "another action is another reason");
    }

    #[test]
    fn alike_but_for_the_name_is_one_cause() {
        let pattern = report("problems").outcomes.remove(2);
        let about = |subject: &str, seen: &str| Outcome {
            subject: subject.to_owned(),
            seen: seen.to_owned(),
            ..pattern.clone()
        };
        let outcomes = [
            about("nodepool/default", "NodePool default has no limit."),
            about("nodepool/gpu-spot", "NodePool gpu-spot has no limit."),
            about("nodepool/other", "NodePool other has a limit of 0."),
        ];
        let causes = causes(&outcomes.iter().collect::<Vec<_>>());
        let counts: Vec<_> = causes.iter().map(|cause| cause.outcomes().count()).collect();
        assert_eq!(counts, [2, 1]);
        assert_eq!(causes[0].subjects(), "nodepool/default, nodepool/gpu-spot");
        let waived = |status| Outcome { status, ..outcomes[0].clone() };
        let two = [waived(Status::Warn), waived(Status::Fail)];
        assert_eq!(super::causes(&two.iter().collect::<Vec<_>>()).len(), 2);
    }

    #[test]
    fn of_many_the_first_are_named() {
        assert_eq!(named(&["a", "b"]), "a, b");
        assert_eq!(named(&["a", "b", "c", "d", "e"]), "a, b, c, d, e");
        assert_eq!(named(&["a", "b", "c", "d", "e", "f", "g"]), "a, b, c, d, e and 2 more");
    }
}
