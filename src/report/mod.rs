//! The report: one value, rendered by one file a format. Rendering computes nothing.

mod header;
#[allow(dead_code, reason = "the formats come next")]
mod style;
#[allow(dead_code, reason = "the formats come next")]
mod text;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    outcome::{Counts, Outcome},
    target::saved::Effort,
};
pub use header::Header;

/// The version of the JSON report (`schema/report.v1.json`).
pub const SCHEMA_VERSION: u32 = 1;

/// What a run found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    pub schema_version: u32,
    /// The version of karpenter-preflight that judged.
    pub tool_version: String,
    /// When the facts were read, RFC 3339 in UTC.
    #[schemars(with = "String")]
    pub collected_at: Timestamp,
    pub target: Header,
    /// In the order in which a node comes to life.
    pub outcomes: Vec<Outcome>,
    pub counts: Counts,
    pub effort: Effort,
    /// What the process exits with (`docs/exit-codes.md`).
    pub exit_code: u8,
}
