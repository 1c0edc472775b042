//! The answer for people: each error with what it means and its causes, then what the denied
//! calls and the failed connections tell.

use std::io::{self, Write};

use super::{Explanation, denial, error, network, nothing, rows::grouped};
use crate::{
    checks,
    report::{
        style::{Ink, Style},
        text::{hang, inked, prose},
    },
};

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
    for (i, error) in explanation.errors.iter().enumerate() {
        if i > 0 {
            writeln!(out)?;
        }
        error::write(error, explanation.report.as_ref(), out, style)?;
    }
    let mut apart = !explanation.errors.is_empty();
    for section in [denial::write, network::write] {
        apart |= section(explanation, apart, out, style)?;
    }
    if explanation.unlisted > 0 {
        let more = grouped(explanation.unlisted);
        writeln!(out, "\nand {more} more denied calls or failed connections of other kinds")?;
    }
    hints(explanation, out, style)
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
    if explanation.report.is_none() && checkable {
        hints.push("To see which cause it is, add `--cluster NAME` (or `--facts FILE`).");
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
