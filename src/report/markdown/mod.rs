//! The report as Markdown, for a pull request or a runbook.

mod escape;

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use self::escape::{block, code, prose};
use super::{
    Changes, OWN_PERMISSIONS, Report, Reports,
    causes::{Cause, NAMED, SHOWN, causes, firsts, in_words, named, shared},
    groups::{Judgement, groups},
    remarks,
    style::mark,
    summary,
    text::{clean, first_sentence, sentence},
    unread,
};
use crate::{
    checks::{self, Check},
    outcome::{Outcome, Remedy, Status, Step},
};

/// How many of what came, and of what went, are named.
const CHANGES: usize = 10;

/// Writes the reports as Markdown.
///
/// # Errors
/// Where `out` cannot be written to.
pub fn write(all: &Reports, out: &mut dyn Write) -> io::Result<()> {
    write_with(&all.reports, checks::ALL, out)?;
    unread::markdown(&all.not_run, out)
}

pub(super) fn write_with(
    reports: &[Report],
    known: &[&Check],
    out: &mut dyn Write,
) -> io::Result<()> {
    for (i, report) in reports.iter().enumerate() {
        if i > 0 {
            writeln!(out)?;
        }
        write_one(report, known, out)?;
    }
    Ok(())
}

fn write_one(report: &Report, known: &[&Check], out: &mut dyn Write) -> io::Result<()> {
    write_overview(report, out)?;
    let (shared, others) = shared(&report.outcomes);
    let groups = groups(others, known);
    for check in groups.iter().flat_map(|group| &group.checks) {
        if !check.problems().is_empty() {
            write_check(check, out)?;
        }
    }
    for reason in &shared {
        write_reason(reason, out)?;
    }
    write_waived(report, out)?;
    write_skipped(report, out)
}

fn write_waived(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let waived = causes(&of_status(report, Status::Waived));
    if !waived.is_empty() {
        writeln!(out, "\n### Waived\n")?;
    }
    for cause in waived {
        let check = code(&cause.first.check);
        writeln!(out, "- {check} {}", prose(&remarks::waived(&cause)))?;
    }
    Ok(())
}

/// Each reason once, with the checks that it keeps back.
fn write_skipped(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut by_reason: Vec<(&str, Vec<&str>)> = Vec::new();
    for outcome in of_status(report, Status::Skipped) {
        match by_reason.iter_mut().find(|(reason, _)| *reason == outcome.seen) {
            Some((_, checks)) if checks.contains(&outcome.check.as_str()) => {}
            Some((_, checks)) => checks.push(&outcome.check),
            None => by_reason.push((&outcome.seen, vec![&outcome.check])),
        }
    }
    if !by_reason.is_empty() {
        writeln!(out, "\n### Skipped\n")?;
    }
    for (reason, checks) in by_reason {
        let checks: Vec<_> = checks.into_iter().map(code).collect();
        writeln!(out, "- {}: {}", prose(reason), checks.join(", "))?;
    }
    Ok(())
}

/// What could not be judged for one reason, with the checks that it hides.
fn write_reason(reason: &Cause<'_>, out: &mut dyn Write) -> io::Result<()> {
    let checks = reason.checks();
    let unknown = Status::Unknown;
    let sign = mark(unknown);
    writeln!(out, "\n### {sign} unknown: {} checks, all for one reason\n", checks.len())?;
    writeln!(out, "- **Why:** {}", prose(&sentence(&reason.first.seen)))?;
    let checks: Vec<_> = checks.into_iter().map(code).collect();
    writeln!(out, "- **Checks:** {}", checks.join(", "))?;
    write_rest(reason.first, out)
}

/// Writes the verdict, the counts and a table of the problems.
///
/// # Errors
/// Where `out` cannot be written to.
pub fn write_overview(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let target = &report.target;
    let (status, verdict) = summary::verdict(report);
    let mark = mark(status);
    writeln!(out, "## {mark} karpenter-preflight: {}\n", code(&target.cluster))?;
    writeln!(out, "**{}**\n", prose(&verdict))?;
    writeln!(out, "{}\n", prose(&about(report)))?;
    writeln!(out, "{}", summary::counts(report, super::Style { color: false, width: 0 }))?;
    for note in target.notes.iter().cloned().chain(remarks::stale(report)) {
        writeln!(out, "\n> {}", prose(&sentence(&note)))?;
    }
    if let Some(changes) = &report.changes {
        write_changes(changes, out)?;
    }
    write_table(report, out)
}

/// A row a cause; of one check only so many.
fn write_table(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let (shared, others) = shared(&report.outcomes);
    let of = |status| others.iter().copied().filter(move |outcome| outcome.status == status);
    let problems = [Status::Fail, Status::Warn, Status::Unknown].into_iter().flat_map(of);
    let causes = causes(&problems.collect::<Vec<_>>());
    if causes.is_empty() && shared.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n| | Check | Subject | Seen |\n|---|---|---|---|")?;
    let mut rows: BTreeMap<&str, usize> = BTreeMap::new();
    let mut left: Vec<&str> = Vec::new();
    for cause in &causes {
        let row = rows.entry(&cause.first.check).or_default();
        *row += 1;
        if *row > NAMED {
            left.extend(cause.outcomes().map(|outcome| outcome.check.as_str()));
        } else {
            write_row(cause, &code(&cause.first.check), out)?;
        }
    }
    for reason in &shared {
        let checks = format!("{} checks", reason.checks().len());
        write_row(reason, &checks, out)?;
    }
    match left.as_slice() {
        [] => Ok(()),
        left => writeln!(out, "\n{} more are counted, and not shown in this table.", left.len()),
    }
}

fn write_row(cause: &Cause<'_>, check: &str, out: &mut dyn Write) -> io::Result<()> {
    let status = cause.first.status;
    let (sign, word, subjects) = (mark(status), status.as_str(), code(&cause.subjects()));
    let seen = prose(&sentence(first_sentence(&cause.first.seen)));
    writeln!(out, "| {sign} {word} | {check} | {subjects} | {seen} |")
}

fn write_changes(changes: &Changes, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n**{}**", prose(&changes.words()))?;
    for (word, list) in [("new", &changes.new), ("gone", &changes.gone)] {
        for (i, change) in list.iter().take(CHANGES).enumerate() {
            let gap = if i == 0 { "\n" } else { "" };
            let [check, subject] = [&change.check, &change.subject].map(|text| code(text));
            writeln!(out, "{gap}- {word}: {} {check} {subject}", change.status.as_str())?;
        }
        if list.len() > CHANGES {
            writeln!(out, "- {word}: {} more", list.len() - CHANGES)?;
        }
    }
    Ok(())
}

/// Where, and which versions.
fn about(report: &Report) -> String {
    let target = &report.target;
    let mut parts = Vec::new();
    if let Some(account) = &target.account {
        parts.push(format!("account {account}"));
    }
    parts.push(target.region.value.clone());
    if let Some(version) = &target.kubernetes_version {
        parts.push(format!("Kubernetes {version}"));
    }
    if let Some(version) = &target.karpenter_version {
        parts.push(format!("Karpenter {} ({})", version.value, version.origin.words()));
    }
    parts.push(format!("read {}", report.collected_at.strftime("%F %T UTC")));
    sentence(&parts.join(", "))
}

fn of_status(report: &Report, status: Status) -> Vec<&Outcome> {
    report.outcomes.iter().filter(|outcome| outcome.status == status).collect()
}

fn write_check(check: &Judgement<'_>, out: &mut dyn Write) -> io::Result<()> {
    let status = check.status();
    writeln!(out, "\n### {} {}: {}", mark(status), status.as_str(), prose(check.title))?;
    let problems = check.problems();
    let causes = causes(&problems);
    let firsts = firsts(&causes);
    let causes = in_words(&causes, &firsts);
    let (shown, rest) = causes.split_at(SHOWN.min(causes.len()));
    for cause in shown {
        write_problem(cause, out)?;
    }
    if !rest.is_empty() {
        let rest: Vec<_> =
            rest.iter().flat_map(Cause::outcomes).map(|outcome| outcome.subject.as_str()).collect();
        writeln!(out, "\n- **More:** {} like these: {}", rest.len(), code(&named(&rest)))?;
    }
    let explain = match check.id {
        OWN_PERMISSIONS => String::new(),
        id => format!(" · `karpenter-preflight explain {}`", clean(id)),
    };
    writeln!(out, "\n{}{explain}", clean(&problems[0].docs))
}

fn write_problem(cause: &Cause<'_>, out: &mut dyn Write) -> io::Result<()> {
    let outcome = cause.first;
    let unknown = outcome.status == Status::Unknown;
    writeln!(out, "\n- **Subject:** {} ({})", code(&cause.subjects()), outcome.status.as_str())?;
    let seen = if unknown { "Why" } else { "Seen" };
    writeln!(out, "- **{seen}:** {}", prose(&sentence(&outcome.seen)))?;
    if let Some(remark) = remarks::of(outcome) {
        writeln!(out, "- **Note:** {}", prose(&sentence(&remark)))?;
    }
    for error in &outcome.errors {
        let quote = if error.quote.is_empty() { &error.id } else { error.quote.trim() };
        writeln!(out, "- **You would see:** {}", code(quote))?;
    }
    if !outcome.effect.is_empty() {
        writeln!(out, "- **Effect:** {}", prose(&outcome.effect))?;
    }
    for evidence in &outcome.evidence {
        let [api, path, value] =
            [&evidence.api, &evidence.path, &evidence.value].map(|part| code(part));
        writeln!(out, "- **Evidence:** {api} {path} = {value}")?;
    }
    write_rest(outcome, out)?;
    if cause.steps_are_of_first() {
        let text = "This is for the first; mend the others alike.";
        writeln!(out, "\n{text}")?;
    }
    Ok(())
}

/// What to do about it.
fn write_rest(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    if let Some(action) = &outcome.missing_action {
        writeln!(out, "- **Allow:** {} to the caller", code(action))?;
    }
    let unknown = outcome.status == Status::Unknown;
    match &outcome.remedy {
        Some(remedy) => write_remedy(if unknown { "To find out" } else { "To mend" }, remedy, out),
        None => Ok(()),
    }
}

fn write_remedy(label: &str, remedy: &Remedy, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "- **{label}:** {}", prose(&remedy.words))?;
    for step in &remedy.steps {
        match step {
            Step::Command { command } => write!(out, "\n{}", block("sh", command))?,
            Step::Document { file, document } => {
                write!(out, "\n{}:\n\n{}", code(file), block("json", document))?;
            }
        }
    }
    if let Some(text) = &remedy.terraform {
        write!(out, "\nAs Terraform:\n\n{}", block("hcl", text.trim_end()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::{CHECKS, report, written};

    #[test]
    fn problems() {
        let text = written(|out| write_with(&[report("problems")], &CHECKS, out));
        insta::assert_snapshot!(text);
    }

    #[test]
    fn nothing_from_the_account_is_markup() {
        let text = written(|out| write_with(&[report("hostile")], &CHECKS, out));
        assert!(!text.contains(|c| c != '\n' && crate::report::text::is_unsafe(c)), "{text}");
        for line in text.lines().filter(|line| line.starts_with('|')) {
            let bars = line.replace("\\|", "").matches('|').count();
            assert_eq!(bars, 5, "a forged cell: {line}");
        }
    }
}
