//! The report for people: what is checked, one line a check, and under each problem what was
//! seen, what it will look like, and how to mend it.

mod header;
pub(super) mod problem;
#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use super::{
    Changes, Report, Reports,
    causes::{Cause, causes, shared},
    changes::Change,
    groups::{Group, Judgement, groups},
    remarks,
    style::{BADGE, Ink, Style, badge},
    summary,
    text::{beside, clean, hang, inked, sentence, wrap},
};
use crate::{
    checks::{self, Check},
    outcome::Status,
};

/// Of a check's line, in columns.
const INDENT: usize = 2;
/// How many of what came, and of what went, are named.
const CHANGES: usize = 10;

/// Writes the report for people.
///
/// # Errors
/// Where `out` cannot be written to.
pub fn write(report: &Report, out: &mut dyn Write, style: Style) -> io::Result<()> {
    write_with(report, checks::ALL, out, style)
}

/// Writes every report, and what they come to together.
///
/// # Errors
/// Where `out` cannot be written to.
pub fn write_all(all: &Reports, out: &mut dyn Write, style: Style) -> io::Result<()> {
    for (i, report) in all.reports.iter().enumerate() {
        if i > 0 {
            writeln!(out, "\n")?;
        }
        write(report, out, style)?;
    }
    if !all.alone {
        writeln!(out, "\n{}", summary::together(all, style))?;
    }
    Ok(())
}

/// Writes the report with the titles and areas of these checks.
pub(super) fn write_with(
    report: &Report,
    known: &[&Check],
    out: &mut dyn Write,
    style: Style,
) -> io::Result<()> {
    header::write(report, out, style)?;
    write_outcomes(report, known, out, style)
}

/// Writes what comes after the head: the outcomes, and what they come to.
pub(super) fn write_outcomes(
    report: &Report,
    known: &[&Check],
    out: &mut dyn Write,
    style: Style,
) -> io::Result<()> {
    let (shared, others) = shared(&report.outcomes);
    for group in groups(others, known) {
        write_group(&group, out, style)?;
    }
    write_shared(&shared, out, style)?;
    for words in remarks::stale(report) {
        writeln!(out)?;
        hang(
            out,
            "",
            &inked(&sentence(&words), style.columns(), Ink::Status(Status::Warn), style),
        )?;
    }
    if let Some(changes) = &report.changes {
        write_changes(changes, out, style)?;
    }
    let (status, sentence) = summary::verdict(report);
    writeln!(out)?;
    hang(out, "", &inked(&sentence, style.columns(), Ink::Status(status), style))?;
    writeln!(out, "{}", summary::counts(report, style))
}

/// What came and what went, one line each.
fn write_changes(changes: &Changes, out: &mut dyn Write, style: Style) -> io::Result<()> {
    writeln!(out)?;
    hang(out, "", &inked(&changes.words(), style.columns(), Ink::Heading, style))?;
    for (word, list) in [("new", &changes.new), ("gone", &changes.gone)] {
        let mut line = |text: &str| {
            let head = format!("{}{word:<BADGE$}  ", " ".repeat(INDENT));
            hang(out, &head, &wrap(&clean(text), style.columns() - INDENT - BADGE - 2))
        };
        for change in list.iter().take(CHANGES) {
            line(&one_change(change))?;
        }
        if list.len() > CHANGES {
            line(&format!("{} more, which --output json names", list.len() - CHANGES))?;
        }
    }
    Ok(())
}

fn one_change(change: &Change) -> String {
    let was = change.was.map(|was| format!(", was {}", was.as_str())).unwrap_or_default();
    format!("{} ({}{was}): {}", change.check, change.status.as_str(), change.subject)
}

fn write_group(group: &Group<'_>, out: &mut dyn Write, style: Style) -> io::Result<()> {
    writeln!(out, "\n{}", style.paint(Ink::Heading, group.title))?;
    let (skipped, judged): (Vec<_>, Vec<_>) =
        group.checks.iter().partition(|check| check.status() == Status::Skipped);
    let mut after_problems = false;
    for check in judged {
        if after_problems {
            writeln!(out)?;
        }
        write_check(check, out, style)?;
        after_problems = !check.problems().is_empty();
    }
    if after_problems && !skipped.is_empty() {
        writeln!(out)?;
    }
    write_skipped(&skipped, out, style)
}

/// Unknowns with one reason in common, which is said once.
fn write_shared(shared: &[Cause<'_>], out: &mut dyn Write, style: Style) -> io::Result<()> {
    if !shared.is_empty() {
        writeln!(out, "\n{}", style.paint(Ink::Heading, "Not judged"))?;
    }
    for (i, reason) in shared.iter().enumerate() {
        if i > 0 {
            writeln!(out)?;
        }
        let checks = reason.checks();
        let lines = [format!("{} checks, all for one reason", checks.len())];
        hang(out, &badge_head(Status::Unknown, style), &lines)?;
        problem::write_reason(reason.first, &checks, out, style)?;
    }
    Ok(())
}

fn write_check(check: &Judgement<'_>, out: &mut dyn Write, style: Style) -> io::Result<()> {
    let columns = style.columns() - INDENT - BADGE - 2;
    let mut lines = wrap(&clean(check.title), columns);
    if let Some(tally) = check.tally() {
        beside(&mut lines, &format!("({tally})"), columns, style);
    }
    hang(out, &badge_head(check.status(), style), &lines)?;
    for skipped in causes(&check.of_status(Status::Skipped)) {
        skip_line(&format!("{}: {}", skipped.subjects(), skipped.first.seen), out, style)?;
    }
    for waived in causes(&check.of_status(Status::Waived)) {
        let columns = style.columns() - INDENT - BADGE - 2;
        let lines = inked(&remarks::waived(&waived), columns, Ink::Dim, style);
        hang(out, &badge_head(Status::Waived, style), &lines)?;
    }
    problem::write(&check.problems(), out, style)
}

/// Skipped checks, those with the same reason on one line.
fn write_skipped(skipped: &[&Judgement<'_>], out: &mut dyn Write, style: Style) -> io::Result<()> {
    let mut by_reason: BTreeMap<&str, Vec<&Judgement<'_>>> = BTreeMap::new();
    for check in skipped {
        for outcome in &check.outcomes {
            let checks = by_reason.entry(&outcome.seen).or_default();
            if checks.last().is_none_or(|last| last.id != check.id) {
                checks.push(check);
            }
        }
    }
    for (reason, checks) in by_reason {
        let names: Vec<_> = match checks.as_slice() {
            [only] => vec![only.title],
            several => several.iter().map(|check| check.id).collect(),
        };
        skip_line(&format!("{}: {reason}", names.join(", ")), out, style)?;
    }
    Ok(())
}

fn skip_line(text: &str, out: &mut dyn Write, style: Style) -> io::Result<()> {
    let lines = inked(text, style.columns() - INDENT - BADGE - 2, Ink::Dim, style);
    hang(out, &badge_head(Status::Skipped, style), &lines)
}

fn badge_head(status: Status, style: Style) -> String {
    " ".repeat(INDENT) + &badge(status, style) + "  "
}
