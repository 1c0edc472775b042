//! The picture: the way of a node from the controller to its end, with each gap at its place.

use maud::{Markup, html};

use super::{
    super::groups::{Group, Judgement},
    anchor,
    icon::icon,
};
use crate::{outcome::Status, report::text::clean};

pub(super) fn way(groups: &[Group<'_>], i: usize) -> Markup {
    html! {
        @if !groups.is_empty() {
            h3 id=(anchor(i, "way")) { "The way of a node" }
            ol.way aria-labelledby=(anchor(i, "way")) {
                @for group in groups { (step(group, i)) }
            }
        }
    }
}

/// A stage. Where something in it fails, the line to the next one is broken.
fn step(group: &Group<'_>, i: usize) -> Markup {
    let status = worst(group);
    let gaps: Vec<_> = group.checks.iter().filter(|check| !check.problems().is_empty()).collect();
    html! {
        li class={ "step " (status.as_str()) } {
            div.stop { (icon(status)) }
            strong { (group.title) }
            @if gaps.is_empty() {
                span.quiet { (quiet(status)) }
            } @else {
                ul.gaps {
                    @for gap in gaps {
                        li {
                            (icon(gap.status()))
                            a href={ "#" (anchor(i, gap.id)) } { (clean(gap.title)) }
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

fn quiet(status: Status) -> &'static str {
    match status {
        Status::Skipped => "Not judged",
        Status::Waived => "A gap, waived",
        _ => "No gap",
    }
}
