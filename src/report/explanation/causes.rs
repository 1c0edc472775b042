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
        text::{clean, hang, prose, sentence},
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
            advice(cause, out, style)?;
        }
        return Ok(());
    };
    let mut judged: Vec<_> = causes.zip(&error.verdicts).enumerate().collect();
    judged.sort_by_key(|(_, (_, verdict))| **verdict);
    let mut shown = BTreeSet::new();
    for (i, (cause, verdict)) in judged {
        head(i, cause, out, style)?;
        let outcomes: Vec<_> = outcomes_of(cause, &report.outcomes).collect();
        verdict_row(*verdict, &outcomes, out, style)?;
        let problems: Vec<_> = outcomes
            .into_iter()
            .filter(|outcome| is_found(outcome))
            .filter(|outcome| shown.insert((&outcome.check, &outcome.subject)))
            .collect();
        match verdict {
            Verdict::Holds => problem::write_all(&problems, out, style)?,
            Verdict::Possible => {
                rows(style).row("Signs", &cause.signs, out)?;
                problem::write_all(&problems, out, style)?;
            }
            Verdict::Unknown | Verdict::NotChecked => advice(cause, out, style)?,
            Verdict::NotApplicable | Verdict::RuledOut => {}
        }
    }
    Ok(())
}

fn rows(style: Style) -> Rows {
    Rows { style, indent: 5, labels: 8 }
}

fn is_found(outcome: &Outcome) -> bool {
    matches!(outcome.status, Status::Fail | Status::Warn)
}

fn head(index: usize, cause: &Cause, out: &mut dyn Write, style: Style) -> io::Result<()> {
    writeln!(out)?;
    let head = format!("  {:<3}", format!("{}.", index + 1));
    hang(out, &head, &prose(&cause.text, style.columns() - head.len(), style))
}

fn advice(cause: &Cause, out: &mut dyn Write, style: Style) -> io::Result<()> {
    let rows = rows(style);
    rows.row("Signs", &cause.signs, out)?;
    if !cause.checks.is_empty() {
        let checks: Vec<_> = cause.checks.iter().map(|id| format!("`{id}`")).collect();
        rows.row("Check", &checks.join(", "), out)?;
    }
    rows.row("Fix", &cause.fix, out)
}

/// `✗ This is it`, with what the checks saw.
fn verdict_row(
    verdict: Verdict,
    outcomes: &[&Outcome],
    out: &mut dyn Write,
    style: Style,
) -> io::Result<()> {
    let (status, words) = match verdict {
        Verdict::Holds => (Status::Fail, "This is it"),
        Verdict::Possible => (Status::Warn, "May be it"),
        Verdict::Unknown => (Status::Unknown, "Not known"),
        Verdict::NotChecked => (Status::Skipped, "Not checked"),
        Verdict::NotApplicable => (Status::Skipped, "Does not apply"),
        Verdict::RuledOut => (Status::Pass, "Ruled out"),
    };
    let badge = format!("{} {words}", mark(status));
    let rows = rows(style);
    let told = match verdict {
        Verdict::Unknown => told(outcomes, Status::Unknown),
        Verdict::NotApplicable => told(outcomes, Status::Skipped),
        Verdict::RuledOut | Verdict::NotChecked => told(outcomes, Status::Pass),
        Verdict::Holds | Verdict::Possible => Vec::new(),
    };
    hang(out, "     ", &[style.paint(Ink::Status(status), &badge)])?;
    for (i, line) in told.iter().enumerate() {
        rows.row(if i == 0 { "Seen" } else { "" }, line, out)?;
    }
    Ok(())
}

/// What the checks saw, by subject.
fn told(outcomes: &[&Outcome], status: Status) -> Vec<String> {
    let of_status = outcomes.iter().filter(|outcome| outcome.status == status);
    let line = |outcome: &&Outcome| {
        format!("{} (`{}`, {})", sentence(&outcome.seen), outcome.check, clean(&outcome.subject))
    };
    of_status.map(line).collect()
}
