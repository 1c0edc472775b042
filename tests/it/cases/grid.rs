//! Every case is judged as it says.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    account::{judge, problems, table},
    case::{Case, Problem, all, kinds},
    edit::{self, Edit},
    vary,
};

fn broken(case: &Case) -> Value {
    let mut facts = case.account.facts();
    edit::apply(&case.edits, &mut facts);
    facts
}

fn with(facts: &Value, edits: &[Edit]) -> Value {
    let mut facts = facts.clone();
    edit::apply(edits, &mut facts);
    facts
}

/// What is said wrongly; every case is looked at before a test fails.
#[derive(Default)]
struct Faults(Vec<String>);

impl Faults {
    fn unless_found(&mut self, what: &str, facts: &Value, expected: &BTreeSet<Problem>) {
        let outcomes = judge(facts);
        let found = problems(&outcomes);
        let missing: Vec<_> = expected.difference(&found).collect();
        if expected.is_empty() || !missing.is_empty() {
            self.0.push(format!("{what}: not found: {missing:?}\n{}", table(&outcomes)));
        }
    }

    /// What is expected is gone, and no fail is there.
    fn unless_mended(&mut self, what: &str, facts: &Value, expected: &BTreeSet<Problem>) {
        let outcomes = judge(facts);
        let found = problems(&outcomes);
        let left = |problem: &&Problem| expected.contains(*problem) || problem.1 == "fail";
        let left: Vec<_> = found.iter().filter(left).collect();
        if !left.is_empty() {
            self.0.push(format!("{what}: still there: {left:?}\n{}", table(&outcomes)));
        }
    }

    /// The same is found under other names.
    fn unless_the_same(&mut self, what: &str, facts: &Value, names: &vary::Names) {
        let problem = |problem: &Problem| vary::problem(problem, names);
        let same: BTreeSet<_> = problems(&judge(facts)).iter().map(problem).collect();
        let outcomes = judge(&vary::renamed(facts, names));
        let found = problems(&outcomes);
        if found != same {
            let differ: Vec<_> = found.symmetric_difference(&same).collect();
            self.0.push(format!("{what}, renamed: {differ:?}\n{}", table(&outcomes)));
        }
    }

    fn are_none(self) {
        assert!(self.0.is_empty(), "{}", self.0.join("\n\n"));
    }
}

fn detected() -> impl Iterator<Item = Case> {
    all().into_iter().filter(Case::is_detected)
}

#[test]
fn every_case_is_found() {
    let mut faults = Faults::default();
    for case in detected() {
        faults.unless_found(&case.id, &broken(&case), &case.expected());
    }
    faults.are_none();
}

#[test]
fn what_does_not_matter_changes_nothing() {
    let mut faults = Faults::default();
    for case in detected() {
        let facts = broken(&case);
        for sibling in &case.alike {
            let what = format!("{}, {}", case.id, sibling.what);
            faults.unless_found(&what, &with(&facts, &sibling.edits), &case.expected());
        }
        if case.one_region.is_some() {
            continue;
        }
        faults.unless_the_same(&case.id, &facts, vary::RENAMED);
        if case.one_partition.is_none() {
            faults.unless_the_same(&case.id, &facts, vary::GOV_CLOUD);
        }
    }
    faults.are_none();
}

#[test]
fn what_matters_mends_it() {
    let mut faults = Faults::default();
    for case in detected() {
        assert!(!case.mended.is_empty(), "{} has no mended sibling", case.id);
        for sibling in &case.mended {
            let what = format!("{}, {}", case.id, sibling.what);
            faults.unless_mended(&what, &with(&broken(&case), &sibling.edits), &case.expected());
        }
    }
    faults.are_none();
}

#[test]
fn further_kinds_are_found() {
    let mut faults = Faults::default();
    for case in kinds() {
        let facts = broken(&case);
        faults.unless_found(&case.id, &facts, &case.expected());
        for sibling in &case.alike {
            let what = format!("{}, {}", case.id, sibling.what);
            faults.unless_found(&what, &with(&facts, &sibling.edits), &case.expected());
        }
        faults.unless_the_same(&case.id, &facts, vary::RENAMED);
        faults.unless_the_same(&case.id, &facts, vary::GOV_CLOUD);
    }
    faults.are_none();
}

/// A case that waits for a check is switched on when the check is there.
#[test]
fn what_is_awaited_is_not_there_yet() {
    for case in all().iter().filter(|case| case.awaits.is_some()) {
        let expected = case.expected();
        if expected.is_empty() {
            continue;
        }
        let found = problems(&judge(&broken(case)));
        assert!(!expected.is_subset(&found), "{} is found now: take `awaits` out", case.id);
    }
}

#[test]
fn each_report_is_there_once() {
    let mut ids = BTreeSet::new();
    for case in all().into_iter().chain(kinds()) {
        assert!(case.source.starts_with("https://"), "{}: {}", case.id, case.source);
        assert!(!case.what.is_empty(), "{}", case.id);
        let is = [case.not_detectable.is_some(), case.awaits.is_some()];
        assert!(is != [true, true], "{} both waits and cannot be seen", case.id);
        assert!(ids.insert(case.id.clone()), "{} is there twice", case.id);
    }
    assert_eq!(ids.iter().filter(|id| id.starts_with('C')).count(), 93);
}

/// How many there are of each kind; `cargo test cases -- --nocapture` prints the whole table.
#[test]
fn the_counts() {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for case in all() {
        let (verdict, detail) = match (&case.not_detectable, &case.awaits) {
            (Some(why), _) => ("not detectable", why.clone()),
            (_, Some(what)) => ("awaits", what.clone()),
            _ => (
                "detected",
                case.finds.iter().map(|f| f.check.clone()).collect::<Vec<_>>().join(", "),
            ),
        };
        *counts.entry(verdict).or_default() += 1;
        eprintln!(
            "{:<5} {verdict:<15} {detail}{}",
            case.id,
            if case.weak { " (weak)" } else { "" }
        );
    }
    eprintln!("{counts:?}");
    let awaited = counts.get("awaits").copied().unwrap_or_default();
    assert_eq!(awaited, AWAITED, "cases await a check");
}

/// The most cases whose check may not be there yet: it only ever goes down.
const AWAITED: usize = 0;
