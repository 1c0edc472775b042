//! `list errors`, and `docs/errors.md`.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use crate::{
    errors::{Cause, DocumentedError},
    report::{
        explanation::error::{note, places, versions},
        json,
        style::{Ink, Style},
        text::{hang, prose},
    },
};

const INTRODUCTION: &str = "\
# Documented errors

<!-- Generated from src/errors/data/; do not edit. -->

Errors of Karpenter, EKS Auto Mode and the parts around them: what each means, its causes with
the likeliest first, and how to mend them. `karpenter-preflight explain TEXT` finds the entry to
a text; with `--cluster` it also runs the checks that are named here and says which cause it is.
";

/// The areas as headings, by the names of their files.
const AREAS: &[(&str, &str)] = &[
    ("auto-mode", "EKS Auto Mode"),
    ("disruption", "Consolidation and disruption"),
    ("identity", "The controller's identity"),
    ("images", "Images"),
    ("install", "Install and upgrade"),
    ("interruption", "Interruptions"),
    ("join", "Nodes that do not join"),
    ("launch", "Launching instances"),
    ("network", "Network"),
    ("nodeclass", "NodeClass"),
    ("permissions", "Permissions"),
    ("pods", "Pods"),
    ("pricing", "Prices"),
    ("quotas", "Quotas"),
    ("scheduling", "Scheduling"),
    ("storage", "Storage"),
    ("versions", "Versions"),
    ("windows", "Windows"),
];

type Errors<'a> = [&'a DocumentedError];

/// Writes the errors by area: id and title.
///
/// # Errors
/// Where `out` cannot be written to.
pub fn list_errors(errors: &Errors<'_>, out: &mut dyn Write, style: Style) -> io::Result<()> {
    for (i, (area, errors)) in by_area(errors).into_iter().enumerate() {
        let before = if i > 0 { "\n" } else { "" };
        let heading = format!("{} ({area})", title(area));
        writeln!(out, "{before}{}", style.paint(Ink::Heading, &heading))?;
        for error in errors {
            writeln!(out, "  {}", style.paint(Ink::Code, &error.id))?;
            hang(out, "    ", &prose(&error.title, style.columns() - 4, style))?;
        }
    }
    if errors.is_empty() {
        writeln!(out, "No documented error fits.")?;
    }
    Ok(())
}

/// Writes the whole entries as a JSON list.
///
/// # Errors
/// Where `out` cannot be written to.
pub fn list_errors_json(errors: &Errors<'_>, out: &mut dyn Write) -> io::Result<()> {
    json::write_value(&errors, out)
}

/// The page of all errors. Each has a heading that is its id, so that `errors.md#ID` leads to
/// it.
pub fn docs_errors(errors: &Errors<'_>) -> String {
    let mut page = INTRODUCTION.to_owned();
    let areas = by_area(errors);
    for (area, errors) in &areas {
        page += &format!("\n**{}** (`{area}`)\n\n", title(area));
        for error in errors {
            page += &format!("- [{}](#{}): {}\n", error.id, error.id, error.title);
        }
    }
    for (area, errors) in &areas {
        page += &format!("\n## {}\n", title(area));
        for error in errors {
            page += &section(error);
        }
    }
    page
}

fn by_area<'a>(errors: &Errors<'a>) -> BTreeMap<&'a str, Vec<&'a DocumentedError>> {
    let mut areas: BTreeMap<&str, Vec<&DocumentedError>> = BTreeMap::new();
    for error in errors {
        areas.entry(&error.area).or_default().push(error);
    }
    areas
}

fn title(area: &str) -> &str {
    AREAS.iter().find(|(name, _)| *name == area).map_or(area, |(_, title)| title)
}

fn section(error: &DocumentedError) -> String {
    let mut text = format!("\n### {}\n\n**{}.**\n\n", error.id, error.title);
    text += &format!("```text\n{}\n```\n\n", error.quote);
    text += &format!("- Printed by: {}\n", places(error));
    if let Some(versions) = versions(error) {
        text += &format!("- Karpenter: {versions}\n");
    }
    if !error.follows.is_empty() {
        let causes = error.follows.iter().map(|id| format!("[{id}](#{id})"));
        text += &format!("- Can follow from: {}\n", causes.collect::<Vec<_>>().join(", "));
    }
    if let Some(note) = note(error.rank) {
        text += &format!("- Note: {note}\n");
    }
    text.push('\n');
    for (i, cause) in error.causes.iter().enumerate() {
        text += &self::cause(i, cause);
    }
    let sources = error.sources.iter().map(|url| format!("<{url}>"));
    text += &format!("\nSources: {}\n", sources.collect::<Vec<_>>().join(", "));
    text
}

fn cause(index: usize, cause: &Cause) -> String {
    let head = format!("{}. ", index + 1);
    let indent = " ".repeat(head.len());
    let mut text = format!("{head}{}\n", cause.text);
    text += &format!("{indent}- Signs: {}\n", cause.signs);
    if !cause.checks.is_empty() {
        let links = cause.checks.iter().map(|id| format!("[{id}](checks.md#{id})"));
        text += &format!("{indent}- Checks: {}\n", links.collect::<Vec<_>>().join(", "));
    }
    text += &format!("{indent}- Fix: {}\n", cause.fix);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::errors::catalogue;

    #[test]
    fn every_area_has_a_heading() {
        for entry in catalogue().iter() {
            assert_ne!(title(&entry.area), entry.area, "give {} a heading", entry.area);
        }
    }

    #[test]
    fn the_page_leads_to_every_error() {
        let all: Vec<_> = catalogue().iter().collect();
        let page = docs_errors(&all);
        for entry in all {
            assert_eq!(page.matches(&format!("\n### {}\n", entry.id)).count(), 1);
            assert!(page.contains(&format!("](#{})", entry.id)));
        }
        assert!(page.ends_with('\n') && !page.contains("\n\n\n"));
    }
}
