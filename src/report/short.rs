//! One line an outcome that a person must look at, for `grep`, `cut` and `awk`.
//!
//! Four fields with a tab between them: the status, the id of the check, the subject, and the
//! first sentence of what was seen. A field never holds a tab or a line break. Fields are not
//! wrapped or cut. Unknowns of several checks for one reason are one line, their ids and
//! subjects with commas between them. The last line holds the counts and no tab.

use std::io::{self, Write};

use super::{
    Report, Reports,
    style::{Ink, Style},
    summary,
    text::{clean, first_sentence},
    unknowns::shared,
};
use crate::outcome::{Outcome, Status};

/// Writes the short report.
///
/// # Errors
/// Where `out` cannot be written to.
pub fn write(report: &Report, out: &mut dyn Write, style: Style) -> io::Result<()> {
    lines(report, "", out, style)?;
    writeln!(out, "{}", summary::counts(report, style))
}

/// Writes several; the cluster is a fifth field, and the last line counts all.
///
/// # Errors
/// Where `out` cannot be written to.
pub fn write_all(all: &Reports, out: &mut dyn Write, style: Style) -> io::Result<()> {
    if let [report] = all.reports.as_slice()
        && all.alone
    {
        return write(report, out, style);
    }
    for report in &all.reports {
        lines(report, &format!("\t{}", clean(&report.target.cluster)), out, style)?;
    }
    writeln!(out, "{}", summary::together(all, style))
}

fn lines(report: &Report, end: &str, out: &mut dyn Write, style: Style) -> io::Result<()> {
    let (shared, others) = shared(&report.outcomes);
    let mut line = |outcome: &Outcome, checks: &str, subjects: &str| {
        writeln!(
            out,
            "{}\t{}\t{}\t{}{end}",
            style.paint(Ink::Status(outcome.status), outcome.status.as_str()),
            clean(checks),
            clean(subjects),
            clean(first_sentence(&outcome.seen)),
        )
    };
    for outcome in others.into_iter().filter(|outcome| is_news(outcome)) {
        line(outcome, &outcome.check, &outcome.subject)?;
    }
    for reason in &shared {
        if let Some(first) = reason.first() {
            line(first, &reason.checks().join(","), &reason.subjects().join(","))?;
        }
    }
    Ok(())
}

fn is_news(outcome: &Outcome) -> bool {
    !matches!(outcome.status, Status::Pass | Status::Skipped | Status::Waived)
}
