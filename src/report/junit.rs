//! JUnit XML: a suite an area, a case a check and subject.
//!
//! A fail is a failure here, a warning only where it counts, and an unknown an error.

use std::{
    io::{self, Write},
    time::Duration,
};

use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};

use super::{
    NotRun, Report, Reports,
    causes::{Cause, shared},
    groups::{Group, groups},
    human::problem,
    remarks,
    style::Style,
    text::{clean, first_sentence},
    unread,
};
use crate::{
    checks::{self, Check},
    outcome::{FailOn, Outcome, Status},
};

/// Where the text of a problem is wrapped, in columns.
const PLAIN: Style = Style { color: false, width: 100 };

/// Writes the reports as JUnit XML.
///
/// # Errors
/// Where `out` cannot be written to.
pub fn write(all: &Reports, out: &mut dyn Write) -> io::Result<()> {
    write_with(&all.reports, &all.not_run, checks::ALL, out)
}

pub(super) fn write_with(
    reports: &[Report],
    not_run: &[NotRun],
    known: &[&Check],
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut suites = quick_junit::Report::new("karpenter-preflight");
    for report in reports {
        let (shared, _) = shared(&report.outcomes);
        for group in groups(&report.outcomes, known) {
            suites.add_test_suite(suite(report, &group, &shared)?);
        }
    }
    for unread in not_run {
        suites.add_test_suite(unread::junit(unread));
    }
    // First into a text: the crate's errors would hide that a reader has gone away.
    let text = suites.to_string().map_err(io::Error::other)?;
    out.write_all(text.as_bytes())
}

fn suite(report: &Report, group: &Group<'_>, shared: &[Cause<'_>]) -> io::Result<TestSuite> {
    let mut suite = TestSuite::new(format!("{}: {}", clean(&report.target.cluster), group.title));
    // The crate's time type comes from another crate, which only its name would be needed of.
    suite.timestamp = report.collected_at.to_string().parse().ok();
    suite.set_time(Duration::from_millis(report.effort.milliseconds));
    for outcome in group.checks.iter().flat_map(|check| &check.outcomes) {
        suite.add_test_case(case(report, outcome, said_by(outcome, shared))?);
    }
    Ok(suite)
}

/// The outcome that says the same reason in full, if this one need not.
fn said_by<'a>(outcome: &Outcome, shared: &[Cause<'a>]) -> Option<&'a Outcome> {
    let is_it = |other: &Outcome| std::ptr::eq(other, outcome);
    let reason = shared.iter().find(|reason| reason.outcomes().any(is_it))?;
    (!is_it(reason.first)).then_some(reason.first)
}

fn case(report: &Report, outcome: &Outcome, said_by: Option<&Outcome>) -> io::Result<TestCase> {
    let mut status = match outcome.status {
        Status::Fail => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Status::Warn if report.fail_on == FailOn::Warn => {
            TestCaseStatus::non_success(NonSuccessKind::Failure)
        }
        Status::Unknown if !report.allow_unknown => {
            TestCaseStatus::non_success(NonSuccessKind::Error)
        }
        Status::Unknown | Status::Waived | Status::Skipped => TestCaseStatus::skipped(),
        Status::Warn | Status::Pass => TestCaseStatus::success(),
    };
    let text = match said_by {
        Some(first) => format!("For the same reason as {}.", clean(&first.check)),
        None => plain(outcome)?,
    };
    match &mut status {
        TestCaseStatus::Success { .. } => {}
        TestCaseStatus::NonSuccess { .. } => {
            status.set_type(outcome.status.as_str()).set_message(message(outcome));
            status.set_description(&text);
        }
        TestCaseStatus::Skipped { .. } => {
            status.set_message(message(outcome));
        }
    }
    let mut case = TestCase::new(clean(&outcome.subject), status);
    case.set_classname(clean(&outcome.check));
    if matches!(case.status, TestCaseStatus::Success { .. }) {
        case.set_system_out(if outcome.status == Status::Warn {
            text
        } else {
            clean(&outcome.seen)
        });
    }
    Ok(case)
}

fn message(outcome: &Outcome) -> String {
    if outcome.status == Status::Waived {
        return clean(&remarks::of(outcome).unwrap_or_default());
    }
    clean(first_sentence(&outcome.seen))
}

/// The problem as the report for people shows it.
fn plain(outcome: &Outcome) -> io::Result<String> {
    let mut text = Vec::new();
    problem::write(&[outcome], &mut text, PLAIN)?;
    Ok(String::from_utf8_lossy(&text).trim_start_matches('\n').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::{CHECKS, report, written};

    fn junit(report: Report) -> quick_junit::Report {
        let text = written(|out| write_with(&[report], &[], &CHECKS, out));
        quick_junit::Report::deserialize_from_str(&text).unwrap()
    }

    #[test]
    fn what_counts_fails() {
        let counts = |change: fn(&mut Report)| {
            let mut report = report("problems");
            change(&mut report);
            let suites = junit(report);
            (suites.tests, suites.failures, suites.errors)
        };
        assert_eq!(counts(|_| {}), (13, 2, 2));
        assert_eq!(counts(|report| report.fail_on = FailOn::Warn), (13, 3, 2));
        assert_eq!(counts(|report| report.allow_unknown = true), (13, 2, 0));
    }

    #[test]
    fn a_failure_says_how_to_mend_it() {
        let suites = junit(report("problems"));
        let names: Vec<_> = suites.test_suites.iter().map(|suite| suite.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "prod: The controller starts",
                "prod: A node is launched",
                "prod: The node joins the cluster",
                "prod: Interruptions are seen in time"
            ]
        );
        let case = &suites.test_suites[2].test_cases[0];
        assert_eq!(case.classname.as_ref().unwrap().as_str(), "node-role-trust");
        assert_eq!(case.name.as_str(), "arn:aws:iam::111122223333:role/KarpenterNodeRole-prod");
        let TestCaseStatus::NonSuccess { message, description, .. } = &case.status else {
            panic!("{case:?}");
        };
        assert!(message.as_ref().unwrap().as_str().starts_with("Its trust policy lets only"));
        assert!(
            description.as_ref().unwrap().as_str().contains("aws iam update-assume-role-policy")
        );
    }
}
