//! One self-contained HTML page: the way of a node as a picture with each gap at its place, the
//! room in the subnets, and each finding with its evidence and how to mend it.
//!
//! Nothing is fetched, and the content security policy would not let it be.

mod finding;
mod head;
mod hero;
mod icon;
mod subnets;
mod target;
mod way;
mod words;

use std::io::{self, Write};

use maud::{DOCTYPE, Markup, PreEscaped, html};

use self::words::prose;
use super::{
    NotRun, Report, Reports,
    causes::{Cause, causes, shared},
    groups::{Group, Judgement, groups},
    remarks, summary,
    text::clean,
    unread,
};
use crate::{
    checks::{self, Check},
    outcome::Status,
};

/// Writes the reports as one page.
///
/// # Errors
/// Where `out` cannot be written to.
pub fn write(all: &Reports, out: &mut dyn Write) -> io::Result<()> {
    write_with(&all.reports, &all.not_run, checks::ALL, out)
}

pub(super) fn write_with(
    reports: &[Report],
    not_run: &[NotRun],
    known: &[&Check],
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "{}", page(reports, not_run, known).into_string())
}

fn page(reports: &[Report], not_run: &[NotRun], known: &[&Check]) -> Markup {
    let title = match reports {
        [report] => format!("karpenter-preflight: {}", clean(&report.target.cluster)),
        _ => format!("karpenter-preflight: {} clusters", reports.len()),
    };
    html! {
        (DOCTYPE)
        html lang="en" {
            (head::head(&title))
            body {
                a.skip href="#main" { "Skip to the report" }
                header.page { h1 { (title) } @if reports.len() > 1 { (contents(reports)) } }
                main id="main" {
                    @for (i, report) in reports.iter().enumerate() { (one(report, i, known)) }
                    (unread::html(not_run))
                }
                p.announce role="status" {}
                script { (PreEscaped(head::SCRIPT)) }
            }
        }
    }
}

/// Where several clusters are reported: which, and how each came out.
fn contents(reports: &[Report]) -> Markup {
    html! {
        nav aria-label="Clusters" {
            ul.clusters {
                @for (i, report) in reports.iter().enumerate() {
                    @let (status, sentence) = summary::verdict(report);
                    li {
                        (icon::icon(status)) " "
                        a href={ "#" (anchor(i, "report")) } { (clean(&report.target.cluster)) }
                        " in " (clean(&report.target.region.value)) ": " (prose(&sentence))
                    }
                }
            }
        }
    }
}

/// An id on the page that is another one for each cluster.
fn anchor(report: usize, id: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    format!("c{report}-{}", id.chars().map(plain).collect::<String>())
}

fn one(report: &Report, i: usize, known: &[&Check]) -> Markup {
    let all = groups(&report.outcomes, known);
    let (shared, others) = shared(&report.outcomes);
    let open = groups(others, known);
    html! {
        section.report id=(anchor(i, "report")) {
            h2 { span.quiet { "Cluster " } (clean(&report.target.cluster)) }
            (hero::hero(report))
            (way::way(&all, &open, i))
            (problems(&open, &shared, i))
            (subnets::subnets(report))
            (waived(report))
            (rest(&all))
            (target::target(report))
        }
    }
}

fn problems(groups: &[Group<'_>], shared: &[Cause<'_>], i: usize) -> Markup {
    let with_problems = |group: &&Group<'_>| group.checks.iter().any(is_problem);
    let with_gaps: Vec<_> = groups.iter().filter(with_problems).collect();
    html! {
        @if !with_gaps.is_empty() || !shared.is_empty() {
            h3 { "What to mend" }
            (filter(groups, i))
            @for group in with_gaps {
                section.stage-gaps {
                    h4 { (group.title) }
                    @for check in group.checks.iter().filter(|check| is_problem(check)) {
                        (finding::check(check, &anchor(i, check.id)))
                    }
                }
            }
            @if !shared.is_empty() { (finding::reasons(shared, &anchor(i, "not-judged"))) }
        }
    }
}

/// Boxes that hide the checks of a status; the style sheet does it, without a script.
fn filter(groups: &[Group<'_>], i: usize) -> Markup {
    let of = |status| {
        let checks = groups.iter().flat_map(|group| &group.checks);
        checks.filter(|check| is_problem(check) && check.status() == status).count()
    };
    let counts = [Status::Fail, Status::Warn, Status::Unknown].map(|status| (status, of(status)));
    let there: Vec<_> = counts.into_iter().filter(|(_, count)| *count > 0).collect();
    html! {
        @if there.len() > 1 {
            fieldset.filter {
                legend { "Show" }
                @for (status, count) in there {
                    @let id = anchor(i, &format!("show-{}", status.as_str()));
                    span {
                        input class={ "show-" (status.as_str()) } type="checkbox" id=(id) checked;
                        label for=(id) { (way::checks(count)) " that " (word(status)) }
                    }
                }
            }
        }
    }
}

fn word(status: Status) -> &'static str {
    match status {
        Status::Fail => "fail",
        Status::Warn => "warn",
        _ => "cannot tell",
    }
}

fn is_problem(check: &Judgement<'_>) -> bool {
    !check.problems().is_empty()
}

/// What is lived with, by whom and until when.
fn waived(report: &Report) -> Markup {
    let waived: Vec<_> = remarks::waived_outcomes(report).collect();
    html! {
        @if !waived.is_empty() {
            h3 { "Waived" }
            ul.waived {
                @for cause in causes(&waived) {
                    li {
                        (icon::icon(Status::Waived)) " " code { (clean(&cause.first.check)) } " "
                        (prose(&remarks::waived(&cause)))
                    }
                }
            }
        }
    }
}

/// What needs nobody's attention, folded.
fn rest(groups: &[Group<'_>]) -> Markup {
    let of = |status| {
        let checks = groups.iter().flat_map(|group| &group.checks);
        checks.filter(move |check| check.status() == status).collect::<Vec<_>>()
    };
    html! {
        @for (status, label) in [(Status::Pass, "passed"), (Status::Skipped, "skipped")] {
            @let checks = of(status);
            @if !checks.is_empty() {
                details.rest {
                    summary { (icon::icon(status)) " " (way::checks(checks.len())) " " (label) }
                    ul {
                        @for check in checks {
                            li {
                                (clean(check.title))
                                @for cause in causes(&check.outcomes) {
                                    span.subject { (cause.subjects()) ": " (prose(&cause.first.seen)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::{CHECKS, report, written};

    fn page(names: &[&str]) -> String {
        let reports: Vec<_> = names.iter().map(|name| report(name)).collect();
        written(|out| write_with(&reports, &[], &CHECKS, out))
    }

    #[test]
    fn nothing_is_fetched() {
        let text = page(&["problems"]);
        for word in ["src=", "@import", "url(", "<link", "href=\"http"] {
            assert!(!text.contains(word), "{word}");
        }
        assert_eq!(text.matches("<script>").count(), 1);
        assert!(!text.contains(" style=\""), "the policy forbids it");
    }

    #[test]
    fn nothing_from_the_account_is_markup() {
        let mut hostile = report("hostile");
        let attack = "<script>alert(1)</script>\"><img src=x onerror=alert(1)>";
        hostile.target.cluster = attack.to_owned();
        hostile.target.notes.push(attack.to_owned());
        for outcome in &mut hostile.outcomes {
            outcome.subject = attack.to_owned();
            outcome.seen = format!("`{attack}`");
        }
        let text = written(|out| write_with(&[hostile], &[], &CHECKS, out));
        assert_eq!(text.matches("<script").count(), 1, "{text}");
        assert!(!text.contains("<img"), "{text}");
        let unsafe_characters = |c: char| c != '\n' && crate::report::text::is_unsafe(c);
        assert!(!text.contains(unsafe_characters), "{text}");
    }

    #[test]
    fn every_link_leads_somewhere_and_every_id_is_one() {
        for text in [page(&["problems"]), page(&["problems", "all-well", "empty"])] {
            let after = |word: &'static str| {
                text.split(word).skip(1).map(|rest| rest.split('"').next().unwrap().to_owned())
            };
            let ids: Vec<_> = after(" id=\"").collect();
            let mut unique = ids.clone();
            unique.sort();
            unique.dedup();
            assert_eq!(ids.len(), unique.len(), "{ids:?}");
            for link in after("href=\"#") {
                assert!(ids.contains(&link), "{link} leads nowhere");
            }
        }
    }

    #[test]
    fn each_gap_is_in_the_picture() {
        let text = page(&["problems"]);
        let start = text.find("<ol class=\"way\"").unwrap();
        let picture = &text[start..start + text[start..].find("</ol>").unwrap()];
        for gap in ["node-role-trust", "node-role-access-entry", "discovered-subnets"] {
            assert!(picture.contains(&format!("href=\"#c0-{gap}\"")), "{gap}: {picture}");
        }
        assert_eq!(picture.matches("<li class=\"step").count(), 4);
    }
}
