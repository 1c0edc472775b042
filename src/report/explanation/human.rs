//! The answer for people: each error with what it means and its causes, then what the denied
//! calls and the failed connections tell.

use std::io::{self, Write};

use super::{
    Explanation, ShownError, denial,
    error::{self, Details},
    network, nothing,
    rows::grouped,
};
use crate::{
    checks,
    errors::Seen,
    report::{
        Report,
        style::{Ink, Style},
        text::{hang, inked, prose},
    },
};

/// So many denied calls and failed connections of their own are shown.
const SHOWN: usize = 10;

/// Writes the answer.
///
/// # Errors
/// Where `out` cannot be written to.
pub fn write(explanation: &Explanation, out: &mut dyn Write, style: Style) -> io::Result<()> {
    if explanation.is_empty() {
        return nothing::write(explanation, out, style);
    }
    if let Some(summary) = summary(explanation) {
        hang(out, "", &inked(&summary, style.columns(), Ink::Heading, style))?;
        writeln!(out)?;
    }
    if let Some(report) = &explanation.report {
        hang(out, "", &prose(&judged_from(report), style.columns(), style))?;
        writeln!(out)?;
    }
    let (details, apart) = details(explanation);
    for (i, (error, details)) in explanation.errors.iter().zip(&details).enumerate() {
        if i > 0 {
            writeln!(out)?;
        }
        error::write(error, details, explanation.report.as_ref(), out, style)?;
    }
    if !explanation.errors.is_empty() && !apart.is_empty() {
        writeln!(out, "\n{}", style.paint(Ink::Heading, "Besides"))?;
    }
    others(&apart, !explanation.errors.is_empty(), out, style)?;
    if explanation.unlisted > 0 {
        let more = grouped(explanation.unlisted);
        writeln!(out, "\nand {more} more denied calls or failed connections of other kinds")?;
    }
    hints(explanation, out, style)
}

/// Where the verdicts on the causes come from.
fn judged_from(report: &Report) -> String {
    let target = &report.target;
    let account = target.account.as_deref().map(|account| format!(", account {account}"));
    let karpenter = target
        .karpenter_version
        .as_ref()
        .map(|version| format!(", with Karpenter {} ({})", version.value, version.origin.words()));
    format!(
        "Judged from what was read of cluster {} in {}{}{}.",
        target.cluster,
        target.region.value,
        account.unwrap_or_default(),
        karpenter.unwrap_or_default()
    )
}

/// Sets each denied call and failed connection beside the first error that stands in the same
/// message, or apart.
fn details(explanation: &Explanation) -> (Vec<Details<'_>>, Details<'_>) {
    /// A message that is wrapped or indented spans so many lines.
    const MESSAGE: u64 = 2;
    let mut of_errors: Vec<_> = explanation.errors.iter().map(|_| Details::default()).collect();
    let mut apart = Details::default();
    let owner = |seen: &Seen| {
        let near = |error: &ShownError| {
            error.seen.as_ref().is_some_and(|own| own.line.abs_diff(seen.line) <= MESSAGE)
        };
        let same = |error: &ShownError| error.seen.as_ref().map(|own| own.line) == Some(seen.line);
        let errors = &explanation.errors;
        errors.iter().position(same).or_else(|| errors.iter().position(near))
    };
    for denial in &explanation.denials {
        let owner = owner(&denial.counted.seen).and_then(|index| of_errors.get_mut(index));
        owner.unwrap_or(&mut apart).denials.push(denial);
    }
    for fault in &explanation.network {
        let owner = owner(&fault.seen).and_then(|index| of_errors.get_mut(index));
        owner.unwrap_or(&mut apart).network.push(fault);
    }
    (of_errors, apart)
}

/// Denied calls and failed connections of no error that is shown.
fn others(
    apart: &Details<'_>,
    mut blank: bool,
    out: &mut dyn Write,
    style: Style,
) -> io::Result<()> {
    for denial in apart.denials.iter().take(SHOWN) {
        if std::mem::replace(&mut blank, true) {
            writeln!(out)?;
        }
        denial::write(denial, out, style)?;
    }
    for fault in apart.network.iter().take(SHOWN) {
        if std::mem::replace(&mut blank, true) {
            writeln!(out)?;
        }
        network::write(fault, out, style)?;
    }
    let more = |count: usize| count.saturating_sub(SHOWN);
    match more(apart.denials.len()) + more(apart.network.len()) {
        0 => Ok(()),
        hidden => writeln!(out, "\n  and {hidden} more; `--output json` has them all"),
    }
}

/// What the input comes to; nothing for a single short text.
fn summary(explanation: &Explanation) -> Option<String> {
    let input = explanation.input?;
    let errors = explanation.errors.len();
    if errors <= 1 && input.lines <= 1 {
        return None;
    }
    let lines = match input.lines {
        1 => "1 line".to_owned(),
        lines => format!("{} lines", grouped(lines)),
    };
    let order = if errors > 1 { ", the most telling first" } else { "" };
    let found = match errors {
        0 => "No documented error by name".to_owned(),
        1 => "1 documented error".to_owned(),
        errors => format!("{errors} documented errors"),
    };
    Some(format!("{found} in {lines}{order}"))
}

/// What the reader can do to learn more.
fn hints(explanation: &Explanation, out: &mut dyn Write, style: Style) -> io::Result<()> {
    let mut hints = Vec::new();
    let checkable = !checks::causes::checks_of(&explanation.entries()).is_empty();
    match &explanation.report {
        None if checkable => {
            hints.push("To see which cause it is, add `--cluster NAME` (or `--facts FILE`).");
        }
        Some(_) if !checkable => hints.push("No check looks for any of these causes yet."),
        _ => {}
    }
    let encoded = |denial: &super::ShownDenial| denial.counted.what.encoded.is_some();
    if explanation.denials.iter().any(|denial| encoded(denial) && denial.decoded.is_none()) {
        hints.push(
            "To read the encoded message, add `--decode`, with credentials of the account that \
             denied the call and `sts:DecodeAuthorizationMessage`.",
        );
    }
    for (i, hint) in hints.iter().enumerate() {
        if i == 0 {
            writeln!(out)?;
        }
        hang(out, "", &prose(hint, style.columns(), style))?;
    }
    Ok(())
}
