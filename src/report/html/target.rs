//! What was judged, and how each value was learned.

use maud::{Markup, html};

use crate::{
    report::{Report, text::clean},
    target::Sourced,
};

pub(super) fn target(report: &Report) -> Markup {
    let target = &report.target;
    let unknown = || "not known".to_owned();
    let rows = [
        ("Account", vec![target.account.clone().unwrap_or_else(unknown)]),
        ("Caller", vec![target.caller.clone().unwrap_or_else(unknown)]),
        ("Region", several(std::slice::from_ref(&target.region), Clone::clone)),
        ("Kubernetes", vec![target.kubernetes_version.clone().unwrap_or_else(unknown)]),
        ("Product", several(&target.products, |product| product.title().to_owned())),
        ("Karpenter version", several(target.karpenter_version.as_slice(), Clone::clone)),
        ("Controller role", several(&target.controller_roles, Clone::clone)),
        ("Node roles", several(&target.node_roles, Clone::clone)),
        ("Interruption queue", several(&target.queues, Clone::clone)),
        (
            "Discovery tag",
            several(std::slice::from_ref(&target.discovery_tag), ToString::to_string),
        ),
        ("Configuration", report.configuration.iter().cloned().collect()),
        ("Read at", vec![report.collected_at.strftime("%F %T UTC").to_string()]),
        ("By", vec![format!("karpenter-preflight {}", report.tool_version)]),
    ];
    html! {
        h3 { "What was judged" }
        dl.target {
            @for (label, values) in rows.iter().filter(|(_, values)| !values.is_empty()) {
                dt { (label) }
                @for value in values { dd { (clean(value)) } }
            }
        }
    }
}

fn several<T>(values: &[Sourced<T>], text: impl Fn(&T) -> String) -> Vec<String> {
    let words = |one: &Sourced<T>| format!("{} ({})", text(&one.value), one.origin.words());
    values.iter().map(words).collect()
}
