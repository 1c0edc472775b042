//! The sign of a status, drawn; the word always stands beside it or is said to a screen reader.

use maud::{Markup, html};

use crate::outcome::Status;

/// The sign, with the status as its name.
pub(super) fn icon(status: Status) -> Markup {
    html! {
        svg class={ "icon " (status.as_str()) } viewBox="0 0 20 20" role="img" {
            title { (status.as_str()) }
            circle cx="10" cy="10" r="9" {}
            path d=(stroke(status)) {}
        }
    }
}

fn stroke(status: Status) -> &'static str {
    match status {
        Status::Pass => "M5.5 10.5 8.8 13.8 14.5 7",
        Status::Warn => "M10 5v6M10 14v.5",
        Status::Fail => "M6.5 6.5 13.5 13.5M13.5 6.5 6.5 13.5",
        Status::Unknown => "M7.3 8a2.7 2.5 0 1 1 3.9 2.1Q10 10.8 10 12M10 14.7v.3",
        Status::Waived => "M5.5 11q2.2-3 4.5-1t4.5-1",
        Status::Skipped => "M6 10h8",
    }
}
