//! The last lines of a report: what it comes to, and the counts.

use std::collections::BTreeSet;

use super::{
    Report, Reports,
    style::{Ink, Style},
    text::clean,
};
use crate::outcome::{Counts, Status};

/// `12 pass, 1 warn, 2 fail, 1 unknown, 0 waived, 3 skipped; 45 calls in 2.3 seconds`.
pub(super) fn counts(report: &Report, style: Style) -> String {
    let counts = statuses(&report.counts, style);
    format!("{counts}; {}", effort(report))
}

/// `45 calls in 2.3 seconds`.
pub(super) fn effort(report: &Report) -> String {
    let effort = report.effort;
    let calls = many(effort.calls, "call", "calls");
    let tenths = effort.milliseconds.saturating_add(50) / 100;
    format!("{calls} in {}.{} seconds", tenths / 10, tenths % 10)
}

/// `12 pass, 1 warn, 2 fail, 1 unknown, 0 waived, 3 skipped`.
pub(super) fn statuses(counts: &Counts, style: Style) -> String {
    let counts = Status::ALL.map(|status| {
        let count = counts.get(status);
        let text = format!("{count} {}", status.as_str());
        if count > 0 { style.paint(Ink::Status(status), &text) } else { text }
    });
    counts.join(", ")
}

/// Of all clusters together: `2 clusters: 24 pass, …`.
pub(super) fn together(all: &Reports, style: Style) -> String {
    let clusters = many(all.reports.len(), "cluster", "clusters");
    let not_run = match all.not_run.len() {
        0 => String::new(),
        count => {
            let names: Vec<_> = all.not_run.iter().map(|unread| clean(&unread.cluster)).collect();
            let count = many(count, "cluster", "clusters");
            format!("; {count} could not be read: {}", names.join(", "))
        }
    };
    format!("{clusters}: {}{not_run}", statuses(&all.counts, style))
}

/// What the counts come to, in a sentence or two. Only a run in which something was judged and
/// nothing is unknown is called well, and only as far as it went.
pub(super) fn verdict(report: &Report) -> (Status, String) {
    let (status, sentence) = of_what_ran(report);
    let sentences = match made(report) {
        Some(made) if status != Status::Skipped => format!("{sentence} {made}"),
        _ => sentence,
    };
    (status, sentences)
}

fn of_what_ran(report: &Report) -> (Status, String) {
    let counts = report.counts;
    let products = products(report);
    let nothing = if report.left_out.is_empty() { "Nothing" } else { "Nothing that was checked" };
    let unknown = match counts.unknown {
        0 => String::new(),
        1 => " 1 thing could not be judged.".to_owned(),
        many => format!(" {many} things could not be judged."),
    };
    if counts.fail > 0 {
        let findings = many(counts.fail, "finding", "findings");
        return (Status::Fail, format!("{findings} will stop or break {products} here.{unknown}"));
    }
    if counts.unknown > 0 {
        let sentence = format!("Nothing failed, but this is no all-clear:{unknown}");
        return (Status::Unknown, sentence);
    }
    if counts.warn > 0 {
        let warnings = many(counts.warn, "warning", "warnings");
        let sentence = format!("{nothing} will stop {products} here; {warnings} to read.");
        return (Status::Warn, sentence);
    }
    if counts.waived > 0 {
        let findings = many(counts.waived, "finding is", "findings are");
        let sentence = format!("{nothing} else will stop {products} here; {findings} waived.");
        return (Status::Waived, sentence);
    }
    if counts.pass > 0 && report.left_out.is_empty() {
        let cluster = &report.target.cluster;
        let sentence = format!(
            "All is well: nothing was found that would stop {products} in cluster {cluster}."
        );
        return (Status::Pass, sentence);
    }
    if counts.pass > 0 {
        return (Status::Pass, "All is well in what was checked.".to_owned());
    }
    (Status::Skipped, "Nothing was judged: no check applied.".to_owned())
}

/// `3 of 97 checks were made.`, where not all were.
fn made(report: &Report) -> Option<String> {
    let ran: BTreeSet<_> = report.outcomes.iter().map(|outcome| &outcome.check).collect();
    let all = ran.len() + report.left_out.len();
    let were = if ran.len() == 1 { "was" } else { "were" };
    (!report.left_out.is_empty()).then(|| format!("{} of {all} checks {were} made.", ran.len()))
}

fn products(report: &Report) -> String {
    let titles: Vec<_> = report.target.products.iter().map(|found| found.value.title()).collect();
    match titles.as_slice() {
        [] => "Karpenter or EKS Auto Mode".to_owned(),
        titles => titles.join(" or "),
    }
}

fn many(count: usize, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}
