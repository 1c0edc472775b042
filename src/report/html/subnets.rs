//! The free addresses of each subnet as a bar.

use maud::{Markup, html};

use super::{super::subnets::SubnetRoom, icon::icon};
use crate::{
    outcome::Status,
    report::{Report, text::clean},
};

/// How many are shown before the rest is folded.
const SHOWN: usize = 12;

pub(super) fn subnets(report: &Report) -> Markup {
    let mut rooms: Vec<_> =
        report.subnets.iter().map(|room| (status(report, room), room)).collect();
    // What needs a look comes first, and then the fullest.
    rooms.sort_by_key(|(status, room)| (std::cmp::Reverse(*status), room.free_addresses));
    let (first, rest) = rooms.split_at(SHOWN.min(rooms.len()));
    html! {
        @if !rooms.is_empty() {
            h3 { "Free addresses" }
            (table(first))
            @if !rest.is_empty() {
                details.more {
                    summary { (rest.len()) " more subnets" }
                    (table(rest))
                }
            }
        }
    }
}

fn table(rooms: &[(Status, &SubnetRoom)]) -> Markup {
    html! {
        table.subnets {
            thead {
                tr {
                    th scope="col" { "Subnet" }
                    th scope="col" { "Free" }
                    th scope="col" { "Free addresses of all" }
                }
            }
            tbody { @for (status, room) in rooms { (row(*status, room)) } }
        }
    }
}

fn row(status: Status, room: &SubnetRoom) -> Markup {
    html! {
        tr {
            td {
                (icon(status)) " " code { (clean(&room.id)) }
                span.about {
                    (clean(&room.zone))
                    @if let Some(cidr) = &room.cidr { ", " (clean(cidr)) }
                    ", for " (uses(room))
                }
            }
            td.number { (room.free_addresses) @if let Some(all) = room.addresses { span.quiet { " of " (all) } } }
            td.drawn { (bar(room, status)) }
        }
    }
}

/// The worst that a check says of the subnet.
fn status(report: &Report, room: &SubnetRoom) -> Status {
    let about = report.outcomes.iter().filter(|outcome| outcome.subject == room.id);
    let judged = about.map(|outcome| outcome.status).filter(|status| *status != Status::Skipped);
    judged.max().unwrap_or(Status::Pass)
}

fn uses(room: &SubnetRoom) -> &'static str {
    match (room.selected, room.of_cluster) {
        (true, true) => "nodes and cluster",
        (true, false) => "nodes",
        _ => "cluster",
    }
}

/// Drawn with attributes: the page's policy lets no element have a style of its own.
fn bar(room: &SubnetRoom, status: Status) -> Markup {
    let Some(all) = room.addresses.filter(|all| *all > 0) else { return html! {} };
    let percent = (f64::from(room.free_addresses) * 100.0 / f64::from(all)).min(100.0);
    html! {
        svg class={ "bar " (status.as_str()) } viewBox="0 0 100 10" preserveAspectRatio="none" role="img" {
            title { (format!("{percent:.0} % free")) }
            rect.all width="100" height="10" {}
            rect.free width=(format!("{percent:.1}")) height="10" {}
        }
    }
}
