//! What the report is about, and where each value was learned.

use std::io::{self, Write};

use crate::{
    report::{
        Header, Report,
        style::{Ink, Style},
        text::{beside, clean, hang, prose, sentence},
    },
    target::{Origin, Sourced, Stage},
};

/// Of the label column with its indent, in columns.
const LABELS: usize = 22;

pub(super) fn write(report: &Report, out: &mut dyn Write, style: Style) -> io::Result<()> {
    let title = format!("karpenter-preflight {}", clean(&report.tool_version));
    writeln!(out, "{}\n", style.paint(Ink::Heading, &title))?;
    for (label, values) in rows(report) {
        write_row(label, &values, out, style)?;
    }
    if !report.target.notes.is_empty() {
        writeln!(out)?;
    }
    let head = format!("  {}  ", style.paint(Ink::Label, "Note"));
    for note in &report.target.notes {
        hang(out, &head, &prose(&sentence(note), style.columns() - 8, style))?;
    }
    Ok(())
}

/// A value and where it was learned.
type Value = (String, Option<&'static str>);

fn rows(report: &Report) -> Vec<(&'static str, Vec<Value>)> {
    let target = &report.target;
    let karpenter = target.karpenter_version.as_ref();
    let mut rows = vec![
        ("Account", vec![optional(target.account.as_ref(), "credentials")]),
        ("Caller", vec![optional(target.caller.as_ref(), "credentials")]),
        ("Region", vec![sourced(&target.region)]),
        ("Cluster", vec![(clean(&target.cluster), None)]),
        ("Kubernetes", vec![optional(target.kubernetes_version.as_ref(), Origin::Cluster.words())]),
        ("Product", products(target)),
    ];
    if target.stage.value == Stage::Before {
        let stage = "before an install".to_owned();
        rows.push(("Stage", vec![(stage, Some(target.stage.origin.words()))]));
    }
    if let Some(version) = karpenter {
        rows.push(("Karpenter version", vec![sourced(version)]));
        rows.push(("Controller role", several(&target.controller_roles)));
    }
    rows.push(("Node roles", several(&target.node_roles)));
    if karpenter.is_some() {
        rows.push(("Interruption queue", several(&target.queues)));
    }
    let tag = &target.discovery_tag;
    rows.push(("Discovery tag", vec![(clean(&tag.value.to_string()), Some(tag.origin.words()))]));
    if let Some(path) = &report.configuration {
        rows.push(("Configuration", vec![(clean(path), None)]));
    }
    rows.push(("Read at", vec![(report.collected_at.strftime("%F %T UTC").to_string(), None)]));
    rows
}

fn products(target: &Header) -> Vec<Value> {
    let titles: Vec<_> = target
        .products
        .iter()
        .map(|found| Sourced::new(found.value.title().to_owned(), found.origin))
        .collect();
    several(&titles)
}

fn sourced(found: &Sourced<String>) -> Value {
    (clean(&found.value), Some(found.origin.words()))
}

fn optional(value: Option<&String>, origin: &'static str) -> Value {
    match value {
        Some(value) => (clean(value), Some(origin)),
        None => ("not known".to_owned(), None),
    }
}

fn several(values: &[Sourced<String>]) -> Vec<Value> {
    if values.is_empty() {
        return vec![("none known".to_owned(), None)];
    }
    values.iter().map(sourced).collect()
}

fn write_row(label: &str, values: &[Value], out: &mut dyn Write, style: Style) -> io::Result<()> {
    let mut lines = Vec::new();
    for (value, origin) in values {
        let Some(origin) = origin else {
            lines.push(value.clone());
            continue;
        };
        let mut value = vec![value.clone()];
        beside(&mut value, &format!("({origin})"), style.columns() - LABELS, style);
        lines.extend(value);
    }
    let padding = " ".repeat(LABELS.saturating_sub(2 + label.len()));
    hang(out, &format!("  {}{padding}", style.paint(Ink::Label, label)), &lines)
}
