//! The report of `policy test`: the head is its own, and the outcomes are written as those of
//! `check`.

use std::io::{self, Write};

use jiff::Timestamp;

use crate::{
    checks,
    outcome::{Counts, ExitCode, FailOn, Outcome},
    report::{
        self, Format, Header, Report, Reports, SCHEMA_VERSION, Style, human,
        style::Ink,
        text::{clean, hang, prose, sentence, wrap},
    },
    requirements::KarpenterVersion,
    target::{Origin, Product, Sourced, Stage, Tag, saved::Effort},
};

/// What was asked of which documents, and what came of it.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Name of the role, or of the files.
    pub judged: String,
    /// When the files were read.
    pub collected_at: Timestamp,
    /// Set where the controller is judged.
    pub karpenter_version: Option<KarpenterVersion>,
    pub is_auto_mode: bool,
    pub cluster: String,
    pub region: String,
    pub account: String,
    pub controller_role: Option<String>,
    /// ARNs.
    pub node_roles: Vec<String>,
    /// The ARN.
    pub queue: Option<String>,
    /// What the reader must know about how these were found.
    pub notes: Vec<String>,
    pub outcomes: Vec<Outcome>,
}

/// Writes the report.
///
/// # Errors
/// Where `out` cannot be written to.
pub fn write(
    asked: &Asked,
    code: ExitCode,
    format: Format,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let report = report(asked, code);
    if format != Format::Human {
        return report::write(&Reports::one(report), format, style, out);
    }
    head(asked, style, out)?;
    human::write_outcomes(&report, checks::ALL, out, style)
}

/// The report of `schema/report.v1.json`, in which nothing was asked of AWS.
fn report(asked: &Asked, code: ExitCode) -> Report {
    let given = |value: &str| Sourced::new(value.to_owned(), Origin::Flag);
    let product = if asked.is_auto_mode { Product::AutoMode } else { Product::Karpenter };
    let discovery =
        Tag { key: "karpenter.sh/discovery".to_owned(), value: Some(asked.cluster.clone()) };
    Report {
        schema_version: SCHEMA_VERSION,
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        collected_at: asked.collected_at,
        target: Header {
            account: Some(asked.account.clone()),
            caller: None,
            region: given(&asked.region),
            cluster: asked.cluster.clone(),
            endpoint: None,
            kubernetes_version: None,
            products: vec![Sourced::new(product, Origin::Flag)],
            stage: Sourced::new(Stage::Before, Origin::Default),
            karpenter_version: asked.karpenter_version.map(|v| given(&v.to_string())),
            controller_roles: asked.controller_role.iter().map(|role| given(role)).collect(),
            node_roles: asked.node_roles.iter().map(|role| given(role)).collect(),
            queues: asked.queue.iter().map(|queue| given(queue)).collect(),
            discovery_tag: Sourced::new(discovery, Origin::Default),
            notes: asked.notes.clone(),
        },
        counts: Counts::of(&asked.outcomes),
        outcomes: asked.outcomes.clone(),
        effort: Effort::default(),
        subnets: Vec::new(),
        exit_code: code as u8,
        fail_on: FailOn::default(),
        allow_unknown: false,
        left_out: left_out(&asked.outcomes),
        configuration: None,
        stale_waivers: Vec::new(),
        changes: None,
    }
}

/// The policies are a small part of what must be right.
fn left_out(made: &[Outcome]) -> Vec<String> {
    let is_made = |id: &&str| made.iter().any(|outcome| outcome.check == *id);
    checks::ids().into_iter().filter(|id| !is_made(id)).map(str::to_owned).collect()
}

fn head(asked: &Asked, style: Style, out: &mut dyn Write) -> io::Result<()> {
    /// Of the label column with its indent, in columns.
    const LABELS: usize = 22;
    let title = format!("karpenter-preflight {}: policies on disk", env!("CARGO_PKG_VERSION"));
    writeln!(out, "{}\n", style.paint(Ink::Heading, &title))?;
    let version = asked.karpenter_version.map(|version| version.to_string());
    let rows = [
        ("Judged", Some(asked.judged.clone())),
        ("Karpenter version", version),
        ("Cluster", Some(asked.cluster.clone())),
        ("Region", Some(asked.region.clone())),
        ("Account", Some(asked.account.clone())),
        ("Node roles", (!asked.node_roles.is_empty()).then(|| asked.node_roles.join(" "))),
        ("Interruption queue", asked.queue.clone()),
    ];
    for (label, value) in rows {
        let Some(value) = value else { continue };
        let padding = " ".repeat(LABELS - 2 - label.len());
        let head = format!("  {}{padding}", style.paint(Ink::Label, label));
        hang(out, &head, &wrap(&clean(&value), style.columns() - LABELS))?;
    }
    if !asked.notes.is_empty() {
        writeln!(out)?;
    }
    let head = format!("  {}  ", style.paint(Ink::Label, "Note"));
    for note in &asked.notes {
        hang(out, &head, &prose(&sentence(note), style.columns() - 8, style))?;
    }
    Ok(())
}
