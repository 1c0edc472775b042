//! One line an outcome that a person must look at, for `grep`, `cut` and `awk`.
//!
//! Four fields with a tab between them: the status, the id of the check, the subject, and the
//! first sentence of what was seen. A field never holds a tab or a line break. Fields are not
//! wrapped or cut. The last line holds the counts and no tab.

use std::io::{self, Write};

use super::{
    Report,
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
    for outcome in report.outcomes.iter().filter(|outcome| is_news(outcome)) {
        writeln!(
            out,
            "{}\t{}\t{}\t{}",
            style.paint(Ink::Status(outcome.status), outcome.status.as_str()),
            clean(&outcome.check),
            clean(&outcome.subject),
            clean(first_sentence(&outcome.seen)),
        )?;
    }
    writeln!(out, "{}", summary::counts(report, style))
}

fn is_news(outcome: &Outcome) -> bool {
    !matches!(outcome.status, Status::Pass | Status::Skipped)
}
