//! What it comes to: the verdict, how many of each status, and where.

use maud::{Markup, html};

use super::{icon::icon, words::prose};
use crate::{
    outcome::Status,
    report::{Report, remarks, summary, text},
};

/// In the order in which they matter.
const ORDER: [Status; 6] =
    [Status::Fail, Status::Warn, Status::Unknown, Status::Waived, Status::Pass, Status::Skipped];

pub(super) fn hero(report: &Report) -> Markup {
    let (status, sentence) = summary::verdict(report);
    html! {
        div class={ "hero " (status.as_str()) } {
            p.verdict { (icon(status)) span { (prose(&sentence)) } }
            ul.counts aria-label="Outcomes" {
                @for status in ORDER {
                    @let count = report.counts.get(status);
                    li class={ (status.as_str()) @if count == 0 { " none" } } {
                        strong { (count) } " " (status.as_str())
                    }
                }
            }
            p.place { (place(report)) }
        }
        @for note in report.target.notes.iter().cloned().chain(remarks::stale(report)) {
            p.note { (prose(&text::sentence(&note))) }
        }
        @if let Some(changes) = &report.changes {
            p.note { (prose(&text::sentence(&changes.words()))) }
        }
    }
}

/// Where and when, in one line.
fn place(report: &Report) -> String {
    let target = &report.target;
    let account = target.account.as_ref().map(|account| format!("account {account}"));
    let kubernetes = target.kubernetes_version.as_ref().map(|v| format!("Kubernetes {v}"));
    let karpenter = target.karpenter_version.as_ref().map(|v| format!("Karpenter {}", v.value));
    let region = Some(target.region.value.clone());
    let read = Some(format!("read {}", report.collected_at.strftime("%F %H:%M UTC")));
    let parts = [account, region, kubernetes, karpenter, read, Some(summary::effort(report))];
    let parts: Vec<_> = parts.into_iter().flatten().map(|part| text::clean(&part)).collect();
    parts.join(" \u{b7} ")
}
