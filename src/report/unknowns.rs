//! Unknowns that have one reason in common. Where the API server cannot be reached, half of the
//! checks say so: a reader wants to hear it once, with the checks that it hides.

use crate::outcome::{Outcome, Status};

/// A reason, and everything that could not be judged because of it.
pub(super) struct Shared<'a> {
    /// Of more than one check.
    pub outcomes: Vec<&'a Outcome>,
}

impl<'a> Shared<'a> {
    /// Any of them: reason, missing action and remedy are the same for all.
    pub fn first(&self) -> Option<&'a Outcome> {
        self.outcomes.first().copied()
    }

    /// Ids of the checks, each once.
    pub fn checks(&self) -> Vec<&'a str> {
        each_once(self.outcomes.iter().map(|outcome| outcome.check.as_str()))
    }

    /// What they would have judged, each once.
    pub fn subjects(&self) -> Vec<&'a str> {
        each_once(self.outcomes.iter().map(|outcome| outcome.subject.as_str()))
    }
}

fn each_once<'a>(all: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut found = Vec::new();
    for one in all {
        if !found.contains(&one) {
            found.push(one);
        }
    }
    found
}

/// The reasons that hide something from more than one check, in order, and all other outcomes.
pub(super) fn shared(outcomes: &[Outcome]) -> (Vec<Shared<'_>>, Vec<&Outcome>) {
    let mut reasons: Vec<Shared<'_>> = Vec::new();
    for outcome in outcomes.iter().filter(|outcome| outcome.status == Status::Unknown) {
        let known = reasons
            .iter_mut()
            .find(|reason| reason.first().is_some_and(|first| is_same_reason(first, outcome)));
        match known {
            Some(reason) => reason.outcomes.push(outcome),
            None => reasons.push(Shared { outcomes: vec![outcome] }),
        }
    }
    reasons.retain(|reason| reason.checks().len() > 1);
    let is_shared = |outcome: &&Outcome| {
        outcome.status == Status::Unknown
            && reasons
                .iter()
                .any(|reason| reason.first().is_some_and(|first| is_same_reason(first, outcome)))
    };
    let others = outcomes.iter().filter(|outcome| !is_shared(outcome)).collect();
    (reasons, others)
}

fn is_same_reason(one: &Outcome, other: &Outcome) -> bool {
    let reason = |outcome: &Outcome| {
        (outcome.seen.clone(), outcome.missing_action.clone(), outcome.remedy.clone())
    };
    reason(one) == reason(other)
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
        assert_eq!(others.len() + reasons[0].outcomes.len(), outcomes.len());
        let other_remedy = Outcome {
            check: "a-third".to_owned(),
            missing_action: Some("iam:GetRole".to_owned()),
            ..unknown
        };
        outcomes.push(other_remedy);
        assert_eq!(shared(&outcomes).0[0].checks().len(), 2, "another action is another reason");
    }
}
