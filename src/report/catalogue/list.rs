//! `list checks`.

use std::io::{self, Write};

use super::{Entry, by_area};
use crate::{
    checks::Check,
    report::{
        json,
        style::{Ink, Style},
        text::{hang, wrap},
    },
};

/// Writes the checks by area: id and title.
///
/// # Errors
/// Where `out` cannot be written to.
pub fn list_checks(checks: &[&Check], out: &mut dyn Write, style: Style) -> io::Result<()> {
    let ids = checks.iter().map(|check| check.id.len()).max().unwrap_or_default();
    for (i, (area, checks)) in by_area(checks).into_iter().enumerate() {
        let before = if i > 0 { "\n" } else { "" };
        let area = format!("{} ({})", area.title(), area.as_str());
        writeln!(out, "{before}{}", style.paint(Ink::Heading, &area))?;
        for check in checks {
            let padding = " ".repeat(ids - check.id.len());
            let head = format!("  {}{padding}  ", style.paint(Ink::Code, check.id));
            let columns = style.columns().saturating_sub(ids + 4);
            hang(out, &head, &wrap(check.title, columns.max(20)))?;
        }
    }
    Ok(())
}

/// Writes the checks as a JSON list.
///
/// # Errors
/// Where `out` cannot be written to.
pub fn list_checks_json(checks: &[&Check], out: &mut dyn Write) -> io::Result<()> {
    let entries: Vec<_> = checks.iter().map(|check| Entry::of(check)).collect();
    json::write_value(&entries, out)
}
