//! One line an outcome that a person must look at, for `grep`, `cut` and `awk`.
//!
//! Four fields with a tab between them: the status, the id of the check, the subject, and the
//! first sentence of what was seen. A field never holds a tab or a line break. Fields are not
//! wrapped or cut. Unknowns of several checks for one reason are one line, that of the first.
//! What is gone since the earlier report, and waivers that fit nothing, have lines of their own.
//! The last line holds the counts and no tab.

use std::io::{self, Write};

use super::{
    Report, Reports,
    causes::shared,
    changes::Change,
    remarks,
    style::{Ink, Style},
    summary,
    text::{clean, first_sentence},
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
    let mut line = |status: Status, word: &str, check: &str, subject: &str, text: &str| {
        writeln!(
            out,
            "{}\t{}\t{}\t{}{end}",
            style.paint(Ink::Status(status), word),
            clean(check),
            clean(subject),
            clean(text),
        )
    };
    let mut outcome = |outcome: &Outcome, more: &str| {
        let text = format!("{}{}{more}", mark(report, outcome), first_sentence(&outcome.seen));
        let word = outcome.status.as_str();
        line(outcome.status, word, &outcome.check, &outcome.subject, &text)
    };
    for status in [Status::Fail, Status::Warn, Status::Unknown] {
        for one in others.iter().filter(|one| one.status == status) {
            outcome(one, "")?;
        }
    }
    for reason in &shared {
        let more = format!(" (and {} more checks)", reason.checks().len() - 1);
        outcome(reason.first, &more)?;
    }
    for gone in report.changes.iter().flat_map(|changes| &changes.gone) {
        let was = format!("it was {}", gone.status.as_str());
        line(Status::Skipped, "gone", &gone.check, &gone.subject, &was)?;
    }
    for (stale, words) in report.stale_waivers.iter().zip(remarks::stale(report)) {
        line(Status::Warn, "stale", &stale.check, &stale.subject, &words)?;
    }
    Ok(())
}

/// Whether a problem is new, where there is an earlier report, and whether it was waived.
fn mark(report: &Report, outcome: &Outcome) -> &'static str {
    let is_it =
        |change: &Change| change.check == outcome.check && change.subject == outcome.subject;
    let is_new = report.changes.as_ref().is_some_and(|changes| changes.new.iter().any(is_it));
    let has_expired = outcome.waiver.as_ref().is_some_and(|waiver| waiver.expired);
    match (is_new, has_expired) {
        (true, true) => "new, its waiver expired: ",
        (true, false) => "new: ",
        (false, true) => "its waiver expired: ",
        (false, false) => "",
    }
}
