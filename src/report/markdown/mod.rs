//! The report as Markdown, for a pull request or a runbook.

mod escape;

use std::io::{self, Write};

use self::escape::{block, code, prose};
use super::{
    Changes, Report,
    groups::{Judgement, groups},
    remarks,
    style::mark,
    summary,
    text::{clean, first_sentence, sentence},
};
use crate::{
    checks::{self, Check},
    outcome::{Outcome, Remedy, Status, Step},
};

/// Writes the reports as Markdown.
///
/// # Errors
/// Where `out` cannot be written to.
pub fn write(reports: &[Report], out: &mut dyn Write) -> io::Result<()> {
    write_with(reports, checks::ALL, out)
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
    let groups = groups(&report.outcomes, known);
    for check in groups.iter().flat_map(|group| &group.checks) {
        if !check.problems().is_empty() {
            write_check(check, out)?;
        }
    }
    let waived: Vec<_> = remarks::waived_outcomes(report).collect();
    if !waived.is_empty() {
        writeln!(out, "\n### Waived\n")?;
    }
    for outcome in waived {
        let why = remarks::of(outcome).unwrap_or_default();
        let [check, subject] = [&outcome.check, &outcome.subject].map(|text| code(text));
        writeln!(out, "- {check} {subject} ({}): {}", outcome.judged().as_str(), prose(&why))?;
    }
    let skipped: Vec<_> = of_status(report, Status::Skipped).collect();
    if !skipped.is_empty() {
        writeln!(out, "\n### Skipped\n")?;
    }
    for outcome in skipped {
        writeln!(out, "- {}: {}", code(&outcome.check), prose(&outcome.seen))?;
    }
    Ok(())
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
    let problems = [Status::Fail, Status::Warn, Status::Unknown];
    if let Some(changes) = &report.changes {
        write_changes(changes, out)?;
    }
    let mut problems = problems.into_iter().flat_map(|status| of_status(report, status)).peekable();
    if problems.peek().is_some() {
        writeln!(out, "\n| | Check | Subject | Seen |\n|---|---|---|---|")?;
    }
    for outcome in problems {
        writeln!(
            out,
            "| {} {} | {} | {} | {} |",
            super::style::mark(outcome.status),
            outcome.status.as_str(),
            code(&outcome.check),
            code(&outcome.subject),
            prose(&sentence(first_sentence(&outcome.seen))),
        )?;
    }
    Ok(())
}

fn write_changes(changes: &Changes, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n**{}**", prose(&changes.words()))?;
    for (word, list) in [("new", &changes.new), ("gone", &changes.gone)] {
        for (i, change) in list.iter().enumerate() {
            let gap = if i == 0 { "\n" } else { "" };
            let [check, subject] = [&change.check, &change.subject].map(|text| code(text));
            writeln!(out, "{gap}- {word}: {} {check} {subject}", change.status.as_str())?;
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

fn of_status(report: &Report, status: Status) -> impl Iterator<Item = &Outcome> {
    report.outcomes.iter().filter(move |outcome| outcome.status == status)
}

fn write_check(check: &Judgement<'_>, out: &mut dyn Write) -> io::Result<()> {
    let status = check.status();
    writeln!(out, "\n### {} {}: {}", mark(status), status.as_str(), prose(check.title))?;
    let problems = check.problems();
    for outcome in &problems {
        write_problem(outcome, out)?;
    }
    writeln!(
        out,
        "\n{} · `karpenter-preflight explain {}`",
        clean(&problems[0].docs),
        clean(check.id)
    )
}

fn write_problem(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    let unknown = outcome.status == Status::Unknown;
    writeln!(out, "\n- **Subject:** {} ({})", code(&outcome.subject), outcome.status.as_str())?;
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
    if let Some(action) = &outcome.missing_action {
        writeln!(out, "- **Allow:** {} to the caller", code(action))?;
    }
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
