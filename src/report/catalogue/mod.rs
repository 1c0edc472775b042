//! The checks and the documented errors themselves, as `list`, `explain` and `docs/` show them.

mod errors;
mod explain;
mod formats;
mod list;
mod markdown;
#[cfg(test)]
mod tests;

use serde::Serialize;

pub use errors::{docs_errors, list_errors, list_errors_json};
pub use explain::{explain_check, explain_check_json};
pub use formats::docs_formats;
pub use list::{list_checks, list_checks_json};
pub use markdown::docs_checks;

use crate::{
    checks::{Area, Check},
    errors::{Cause, catalogue},
    target::Product,
};

/// A check as a program reads it.
#[derive(Serialize)]
struct Entry {
    id: &'static str,
    title: &'static str,
    area: Area,
    products: &'static [Product],
    errors: &'static [&'static str],
    /// Further documented errors that the same fault can be behind.
    also_behind: Vec<&'static str>,
    needs: Vec<&'static str>,
}

impl Entry {
    fn of(check: &Check) -> Self {
        Self {
            id: check.id,
            title: check.title,
            area: check.area,
            products: check.products,
            errors: check.errors,
            also_behind: also_behind(check),
            needs: check.actions().collect(),
        }
    }
}

/// The areas that have checks, in the order in which a node comes to life.
fn by_area<'a>(checks: &[&'a Check]) -> Vec<(Area, Vec<&'a Check>)> {
    let of_area = |area| checks.iter().copied().filter(|check| check.area == area).collect();
    let areas = Area::ALL.map(|area| (area, of_area(area)));
    areas.into_iter().filter(|(_, checks): &(Area, Vec<_>)| !checks.is_empty()).collect()
}

/// The documented errors with a cause that this check proves, beyond those that its findings
/// quote. The catalogue says so, and nothing else: the two cannot disagree.
fn also_behind(check: &Check) -> Vec<&'static str> {
    let proves = |cause: &Cause| cause.checks.iter().any(|id| id == check.id);
    let entries = catalogue().iter().filter(|entry| entry.causes.iter().any(proves));
    let ids = entries.map(|entry| entry.id.as_str());
    ids.filter(|id| !check.errors.contains(id)).collect()
}

fn product_titles(check: &Check) -> String {
    let titles: Vec<_> = check.products.iter().map(|product| product.title()).collect();
    titles.join(", ")
}

/// The parts of a check's doc: each heading with the text under it.
fn sections(doc: &str) -> Vec<(&str, String)> {
    let mut sections: Vec<(&str, String)> = Vec::new();
    for line in doc.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            sections.push((heading.trim(), String::new()));
        } else if let Some((_, text)) = sections.last_mut() {
            text.push_str(line);
            text.push('\n');
        }
    }
    sections.into_iter().map(|(heading, text)| (heading, text.trim().to_owned())).collect()
}
