//! The picture: the way of a node from the controller to its end, with each gap at its place.

use maud::{Markup, html};

use super::{
    super::groups::{Group, Judgement},
    anchor,
    icon::icon,
};
use crate::{outcome::Status, report::text::clean};

/// `groups` has every outcome; `open` has not those that could not be judged for one reason that
/// is told elsewhere.
pub(super) fn way(groups: &[Group<'_>], open: &[Group<'_>], i: usize) -> Markup {
    html! {
        @if !groups.is_empty() {
            h3 id=(anchor(i, "way")) { "The way of a node" }
            ol.way aria-labelledby=(anchor(i, "way")) {
                @for group in groups { (step(group, open, i)) }
            }
        }
    }
}

/// A stage. Where something in it fails, the line to the next one is broken.
fn step(group: &Group<'_>, open: &[Group<'_>], i: usize) -> Markup {
    let status = worst(group);
    let of_stage = open.iter().filter(|other| other.title == group.title);
    let gaps: Vec<_> = of_stage
        .flat_map(|group| &group.checks)
        .filter(|check| !check.problems().is_empty())
        .collect();
    let hidden = group.checks.iter().filter(|check| !check.problems().is_empty()).count();
    let hidden = hidden.saturating_sub(gaps.len());
    html! {
        li class={ "step " (status.as_str()) } {
            div.stop { (icon(status)) }
            div.stage {
                strong { (group.title) }
                span.quiet { (in_words(group, status)) }
                @if !gaps.is_empty() || hidden > 0 {
                    ul.gaps {
                        @for gap in gaps {
                            li {
                                (icon(gap.status()))
                                a href={ "#" (anchor(i, gap.id)) } { (clean(gap.title)) }
                            }
                        }
                        @if hidden > 0 {
                            li {
                                (icon(Status::Unknown))
                                a href={ "#" (anchor(i, "not-judged")) } {
                                    (checks(hidden)) " not judged"
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The worst status of its checks. A skip is no news beside a pass.
fn worst(group: &Group<'_>) -> Status {
    let judged = group.checks.iter().map(Judgement::status);
    judged.filter(|status| *status != Status::Skipped).max().unwrap_or(Status::Skipped)
}

/// How many checks the stage has, and whether they found something.
fn in_words(group: &Group<'_>, status: Status) -> String {
    let of = |wanted: Status| group.checks.iter().filter(|check| check.status() == wanted).count();
    let judged = group.checks.len() - of(Status::Skipped);
    match status {
        Status::Skipped => "Not judged".to_owned(),
        Status::Pass => format!("{}, no gap", checks(judged)),
        Status::Waived => format!("{}, a gap is waived", checks(judged)),
        _ => checks(judged),
    }
}

pub(super) fn checks(count: usize) -> String {
    if count == 1 { "1 check".to_owned() } else { format!("{count} checks") }
}
