//! The report: one value, rendered by one file a format. Rendering computes nothing.

pub mod catalogue;
pub mod explanation;
mod groups;
mod header;
pub mod human;
pub mod json;
pub mod policy;
pub mod short;
mod style;
mod summary;
mod text;

#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    outcome::{Counts, ExitCode, Outcome},
    target::{
        Target,
        saved::{Effort, Saved},
    },
};
pub use header::Header;
pub use style::Style;

/// The version of the JSON report (`schema/report.v1.json`).
pub const SCHEMA_VERSION: u32 = 1;

/// What a run found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// The version of this format.
    #[schemars(extend("const" = SCHEMA_VERSION))]
    pub schema_version: u32,
    /// The version of karpenter-preflight that judged.
    pub tool_version: String,
    /// When the facts were read, RFC 3339 in UTC.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub collected_at: Timestamp,
    pub target: Header,
    /// In the order in which a node comes to life.
    pub outcomes: Vec<Outcome>,
    pub counts: Counts,
    pub effort: Effort,
    /// What the process exits with (`docs/exit-codes.md`).
    pub exit_code: u8,
}

impl Report {
    /// The report on a target that was judged from saved facts.
    pub fn new(saved: &Saved, target: &Target, outcomes: Vec<Outcome>, exit: ExitCode) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            collected_at: saved.collected_at,
            target: Header::new(target, &saved.facts),
            counts: Counts::of(&outcomes),
            outcomes,
            effort: saved.effort,
            exit_code: exit as u8,
        }
    }
}

/// One line that a terminal only shows and never acts on.
pub fn printable(text: &str) -> String {
    text::clean(text)
}

/// How a report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Format {
    /// For people, with how to mend each problem.
    #[default]
    Human,
    /// One line a problem, for grep.
    Short,
    /// For programs, by `schema/report.v1.json`.
    Json,
}

/// Writes the report.
///
/// # Errors
/// Where `out` cannot be written to.
pub fn write(report: &Report, format: Format, style: Style, out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::Human => human::write(report, out, style),
        Format::Short => short::write(report, out, style),
        Format::Json => json::write(report, out),
    }
}
