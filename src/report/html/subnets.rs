//! The free addresses of each subnet as a bar.

use maud::{Markup, html};

use super::{super::subnets::SubnetRoom, icon::icon};
use crate::{
    outcome::Status,
    report::{Report, text::clean},
};

pub(super) fn subnets(report: &Report) -> Markup {
    html! {
        @if !report.subnets.is_empty() {
            h3 { "Free addresses" }
            table.subnets {
                thead { tr { th scope="col" { "Subnet" } th scope="col" { "Free addresses" } } }
                tbody { @for room in &report.subnets { (row(report, room)) } }
            }
        }
    }
}

fn row(report: &Report, room: &SubnetRoom) -> Markup {
    let status = status(report, room);
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
            td {
                (room.free_addresses) @if let Some(all) = room.addresses { " of " (all) }
                (bar(room, status))
            }
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
