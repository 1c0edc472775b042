//! The causes of an error: how to tell each, and how to mend it; with an account at hand, which
//! one it is.

use std::{
    collections::BTreeSet,
    io::{self, Write},
};

use super::{ShownError, rows::Rows};
use crate::{
    checks::causes::{Verdict, outcomes_of},
    errors::Cause,
    outcome::{Outcome, Status},
    report::{
        Report,
        human::problem,
        style::{Ink, Style, mark},
        text::{hang, prose, sentence},
    },
};

pub(super) fn write(
    error: &ShownError,
    report: Option<&Report>,
    out: &mut dyn Write,
    style: Style,
) -> io::Result<()> {
    let causes = error.entry.causes.iter();
    let Some(report) = report else {
        for (i, cause) in causes.enumerate() {
            head(i, cause, out, style)?;
            advice(cause, rows(style, 5), out)?;
        }
        return Ok(());
    };
    let mut judged: Vec<_> = causes.zip(&error.verdicts).collect();
    judged.sort_by_key(|(_, verdict)| **verdict);
    let mut shown = BTreeSet::new();
    for (cause, verdict) in judged {
        let outcomes: Vec<_> = outcomes_of(cause, &report.outcomes).collect();
        badge(*verdict, &outcomes, out, style)?;
        hang(out, "    ", &prose(&cause.text, style.columns() - 4, style))?;
        seen(*verdict, &outcomes, out, style)?;
        let problems: Vec<_> = outcomes
            .into_iter()
            .filter(|outcome| is_found(outcome))
            .filter(|outcome| shown.insert((&outcome.check, &outcome.subject)))
            .collect();
        match verdict {
            Verdict::Holds => problem::write_all(&problems, out, style)?,
            Verdict::Possible => {
                rows(style, 4).row("Signs", &cause.signs, out)?;
                problem::write_all(&problems, out, style)?;
            }
            Verdict::Unknown | Verdict::NotChecked => advice(cause, rows(style, 4), out)?,
            Verdict::NotNow => {
                rows(style, 4).row("Signs", &cause.signs, out)?;
                rows(style, 4).row("Fix", &cause.fix, out)?;
            }
            Verdict::NotApplicable | Verdict::RuledOut => {}
        }
    }
    Ok(())
}

fn rows(style: Style, indent: usize) -> Rows {
    Rows { style, indent, labels: 8 }
}

fn is_found(outcome: &Outcome) -> bool {
    matches!(outcome.status, Status::Fail | Status::Warn)
}

fn head(index: usize, cause: &Cause, out: &mut dyn Write, style: Style) -> io::Result<()> {
    writeln!(out)?;
    let head = format!("  {}. ", index + 1);
    hang(out, &head, &prose(&cause.text, style.columns() - head.len(), style))
}

fn advice(cause: &Cause, rows: Rows, out: &mut dyn Write) -> io::Result<()> {
    rows.row("Signs", &cause.signs, out)?;
    if !cause.checks.is_empty() {
        let checks: Vec<_> = cause.checks.iter().map(|id| format!("`{id}`")).collect();
        rows.row("Check", &checks.join(", "), out)?;
    }
    rows.row("Fix", &cause.fix, out)
}

/// `✗ This is it`.
fn badge(
    verdict: Verdict,
    outcomes: &[&Outcome],
    out: &mut dyn Write,
    style: Style,
) -> io::Result<()> {
    let (status, words) = match verdict {
        Verdict::Holds => (Status::Fail, "This is it"),
        Verdict::Possible => (Status::Warn, "May be it"),
        Verdict::Unknown => (Status::Unknown, "Not known"),
        Verdict::NotChecked if outcomes.is_empty() => (Status::Skipped, "Not checked"),
        Verdict::NotChecked => (Status::Skipped, "Checked in part"),
        Verdict::NotApplicable => (Status::Skipped, "Does not apply"),
        Verdict::NotNow => (Status::Pass, "Not so now, and may have been then"),
        Verdict::RuledOut => (Status::Pass, "Ruled out"),
    };
    let badge = format!("{} {words}", mark(status));
    writeln!(out, "\n  {}", style.paint(Ink::Status(status), &badge))
}

/// What the checks saw that did not find the cause: of one subject in full, of several in sum.
fn seen(
    verdict: Verdict,
    outcomes: &[&Outcome],
    out: &mut dyn Write,
    style: Style,
) -> io::Result<()> {
    let status = match verdict {
        Verdict::Unknown => Status::Unknown,
        Verdict::NotApplicable => Status::Skipped,
        Verdict::RuledOut | Verdict::NotNow | Verdict::NotChecked => Status::Pass,
        Verdict::Holds | Verdict::Possible => return Ok(()),
    };
    let mut label = "Seen";
    let of_status: Vec<_> = outcomes.iter().filter(|outcome| outcome.status == status).collect();
    for group in of_status.chunk_by(|a, b| a.check == b.check) {
        let text = match group {
            [only] => format!("{} (`{}`)", sentence(&only.seen).trim_end_matches('.'), only.check),
            [first, more @ ..] => {
                let told = sentence(&first.seen);
                let (told, count) = (told.trim_end_matches('.'), more.len());
                format!("{told} (`{}`, and {count} more like it)", first.check)
            }
            [] => continue,
        };
        rows(style, 4).row(std::mem::take(&mut label), &text, out)?;
    }
    Ok(())
}
