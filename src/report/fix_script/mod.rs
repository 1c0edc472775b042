//! One shell script out of the remedies of all findings, for a person to read and then to run.
//!
//! The script refuses to work in another account or cluster, asks before it removes or replaces
//! anything, and does nothing before every blank is filled in.

mod blanks;
mod manner;
mod section;

use std::{
    collections::BTreeSet,
    io::{self, Write},
};

use self::section::{Done, Section};
use super::{
    Report,
    text::{clean, wrap},
};
use crate::outcome::{Status, shell::quote};

const PRELUDE: &str = include_str!("prelude.sh");
/// Columns of the comments.
const WIDTH: usize = 96;

/// Writes the script. `again` is the command that judges once more.
///
/// # Errors
/// Where `out` cannot be written to.
pub fn write(report: &Report, again: &str, out: &mut dyn Write) -> io::Result<()> {
    let mut done = Done::default();
    let findings = report.outcomes.iter().filter(|outcome| is_finding(outcome.status));
    let sections: Vec<Section> =
        findings.enumerate().map(|(i, outcome)| Section::new(i + 1, outcome, &mut done)).collect();
    let mut blanks: BTreeSet<String> =
        sections.iter().flat_map(|section| section.blanks.iter().cloned()).collect();
    let programs: BTreeSet<&str> =
        sections.iter().flat_map(|section| section.programs.iter().copied()).collect();
    let account = match &report.target.account {
        Some(account) => quote(account),
        None => blanks::filled("FILL_IN_ACCOUNT", &mut blanks),
    };
    head(report, sections.len(), out)?;
    if sections.is_empty() {
        return writeln!(out, "echo 'There is nothing to mend.'");
    }
    blank_lines(&blanks, out)?;
    writeln!(out, "{PRELUDE}")?;
    for blank in &blanks {
        writeln!(out, "filled_in {blank} \"${blank}\"")?;
    }
    start(report, &account, &programs, out)?;
    for section in &sections {
        out.write_all(section.text.as_bytes())?;
    }
    if programs.iter().any(|program| *program != "aws") {
        writeln!(out, "[ \"$left_out\" = 0 ] || say \"steps left out: $left_out; see above\"")?;
    }
    writeln!(out, "say 'done; check again with:'\necho {}", quote(&clean(again)))
}

/// Whether there is nothing that it would mend.
pub fn is_empty(report: &Report) -> bool {
    !report.outcomes.iter().any(|outcome| is_finding(outcome.status))
}

fn is_finding(status: Status) -> bool {
    matches!(status, Status::Fail | Status::Warn)
}

fn head(report: &Report, findings: usize, out: &mut dyn Write) -> io::Result<()> {
    let target = &report.target;
    writeln!(out, "#!/usr/bin/env bash")?;
    let account = target.account.as_deref().unwrap_or("an account that could not be read");
    let what = format!(
        "Mends what karpenter-preflight {} found wrong at {}: {findings} finding{} about cluster {} \
         in {}, account {account}.",
        report.tool_version,
        report.collected_at.strftime("%Y-%m-%d %H:%M UTC"),
        if findings == 1 { "" } else { "s" },
        target.cluster,
        target.region.value,
    );
    comment(&what, out)?;
    writeln!(out, "#")?;
    comment(
        "READ IT BEFORE YOU RUN IT, and take out what you do not want. It asks before it removes or \
         replaces anything; YES=1 in the environment answers yes. It can be run again.",
        out,
    )?;
    writeln!(out, "set -euo pipefail\n")
}

/// The variables that a person fills in.
fn blank_lines(blanks: &BTreeSet<String>, out: &mut dyn Write) -> io::Result<()> {
    if blanks.is_empty() {
        return Ok(());
    }
    comment(
        "FILL THESE IN: nothing is done before they are. One whose step you take out may hold anything.",
        out,
    )?;
    for blank in blanks {
        writeln!(out, "{blank}=''")?;
    }
    writeln!(out)
}

/// What must be true before anything is done.
fn start(
    report: &Report,
    account: &str,
    programs: &BTreeSet<&str>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let region = quote(&report.target.region.value);
    // Version 1 of the AWS CLI reads the second name only.
    writeln!(out, "export AWS_PAGER='' AWS_REGION={region} AWS_DEFAULT_REGION={region}")?;
    if programs.is_empty() {
        return writeln!(out, "# No finding has a command to run: they are yours to decide.\n");
    }
    writeln!(out, "needs aws\nin_account {account}")?;
    let in_cluster = programs.iter().any(|program| ["kubectl", "helm"].contains(program));
    match &report.target.endpoint {
        Some(endpoint) if in_cluster => writeln!(out, "in_cluster {}", quote(endpoint))?,
        None if in_cluster => comment("Look yourself that kubectl talks to this cluster.", out)?,
        _ => {}
    }
    writeln!(out, "work=$(mktemp -d)\ntrap 'rm -rf \"$work\"' EXIT\ncd \"$work\"\n")
}

/// Wrapped comment lines. What is not safe to print is shown as its escape.
fn comment(text: &str, out: &mut dyn Write) -> io::Result<()> {
    for line in wrap(&clean(text), WIDTH) {
        writeln!(out, "# {line}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
