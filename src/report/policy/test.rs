//! The report of `policy test`: the head is its own, and the outcomes are written as those of
//! `check`.

use std::io::{self, Write};

use crate::{
    checks,
    report::{
        self, Format, Report, Reports, Style, human,
        style::Ink,
        text::{clean, hang, prose, sentence, wrap},
    },
    target::Sourced,
};

/// Writes the report. `judged` names the role, or the files.
///
/// # Errors
/// Where `out` cannot be written to.
pub fn write(
    judged: &str,
    report: &Report,
    format: Format,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    if format != Format::Human {
        return report::write(&Reports::one(report.clone()), format, style, out);
    }
    head(judged, report, style, out)?;
    human::write_outcomes(report, checks::ALL, out, style)
}

fn head(judged: &str, report: &Report, style: Style, out: &mut dyn Write) -> io::Result<()> {
    /// Of the label column with its indent, in columns.
    const LABELS: usize = 22;
    let title = format!("karpenter-preflight {}: policies on disk", report.tool_version);
    writeln!(out, "{}\n", style.paint(Ink::Heading, &title))?;
    let target = &report.target;
    let listed = |values: &[Sourced<String>]| {
        let origin = values.first().map(|first| first.origin.words());
        let values: Vec<_> = values.iter().map(|found| found.value.as_str()).collect();
        origin.map(|origin| format!("{}  ({origin})", values.join(" ")))
    };
    let version = target.karpenter_version.as_ref().map(|version| version.value.clone());
    let rows = [
        ("Judged", Some(judged.to_owned())),
        ("Karpenter version", version),
        ("Cluster", Some(target.cluster.clone())),
        ("Region", listed(std::slice::from_ref(&target.region))),
        ("Account", target.account.clone()),
        ("Node roles", listed(&target.node_roles)),
        ("Interruption queue", listed(&target.queues)),
    ];
    for (label, value) in rows {
        let Some(value) = value else { continue };
        let padding = " ".repeat(LABELS - 2 - label.len());
        let head = format!("  {}{padding}", style.paint(Ink::Label, label));
        hang(out, &head, &wrap(&clean(&value), style.columns() - LABELS))?;
    }
    if !target.notes.is_empty() {
        writeln!(out)?;
    }
    let head = format!("  {}  ", style.paint(Ink::Label, "Note"));
    for note in &target.notes {
        hang(out, &head, &prose(&sentence(note), style.columns() - 8, style))?;
    }
    Ok(())
}
