//! `docs/checks.md`, generated from the checks.

use super::{also_behind, by_area, product_titles, sections};
use crate::checks::Check;

const INTRODUCTION: &str = "\
# Checks

<!-- Generated from the checks in src/checks/; do not edit. -->

What `karpenter-preflight check` looks at, in the order in which a node comes to life. The same
text is printed by `karpenter-preflight explain ID`.
";

/// The page of all checks. Each has a heading that is its id, so that `checks.md#ID` leads to
/// it.
pub fn docs_checks(checks: &[&Check]) -> String {
    let mut page = INTRODUCTION.to_owned();
    let areas = by_area(checks);
    for (area, checks) in &areas {
        page += &format!("\n**{}** (`{}`)\n\n", area.title(), area.as_str());
        for check in checks {
            page += &format!("- [{}](#{}): {}\n", check.id, check.id, check.title);
        }
    }
    for (area, checks) in &areas {
        page += &format!("\n## {}\n", area.title());
        for check in checks {
            page += &section(check);
        }
    }
    page
}

fn section(check: &Check) -> String {
    let mut text = format!("\n### {}\n\n**{}.**\n\n", check.id, check.title);
    text += &format!("- Products: {}\n", product_titles(check));
    let needs: Vec<_> = check.actions().map(|action| format!("`{action}`")).collect();
    if !needs.is_empty() {
        text += &format!("- Reads with: {}\n", needs.join(", "));
    }
    let behind = also_behind(check);
    for (label, ids) in [("Errors", check.errors), ("Can also be behind", &behind)] {
        if !ids.is_empty() {
            let links: Vec<_> = ids.iter().map(|id| format!("[{id}](errors.md#{id})")).collect();
            text += &format!("- {label}: {}\n", links.join(", "));
        }
    }
    for (heading, body) in sections(check.doc).into_iter().filter(|(_, body)| !body.is_empty()) {
        text += &format!("\n#### {heading}\n\n{body}\n");
    }
    text
}
