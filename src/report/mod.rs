//! The report: one value, rendered by one file a format. Rendering computes nothing.

mod arn;
pub mod catalogue;
mod causes;
pub mod changes;
pub mod explanation;
pub mod fix_script;
pub mod fix_terraform;
mod format;
pub mod github;
mod groups;
mod header;
pub mod html;
pub mod human;
pub mod in_terraform;
pub mod json;
pub mod junit;
pub mod markdown;
pub mod policy;
pub mod prometheus;
mod remarks;
mod reports;
pub mod sarif;
pub mod short;
mod step;
mod style;
mod subnets;
mod summary;
mod terraform;
mod text;
mod unread;

#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    facts::ec2::ImdsDefaults,
    outcome::{Counts, ExitCode, FailOn, Outcome},
    target::{
        Target,
        saved::{Effort, Saved},
    },
};
pub use changes::Changes;
pub use format::Format;
pub(crate) use groups::OWN_PERMISSIONS;
pub use header::Header;
pub use reports::{NotRun, Reports, StaleWaiver, worst};
pub use style::Style;
pub use subnets::SubnetRoom;

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
    /// The subnets that nodes and the cluster run in.
    #[serde(default)]
    pub subnets: Vec<SubnetRoom>,
    /// What the process exits with (`docs/exit-codes.md`).
    pub exit_code: u8,
    /// The lowest status that makes the exit code 1.
    #[serde(default)]
    pub fail_on: FailOn,
    /// Whether an unknown leaves the exit code at 0.
    #[serde(default)]
    pub allow_unknown: bool,
    /// Ids of the checks that were not made, because a selection left them out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// The configuration file that was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configuration: Option<String>,
    /// Waivers of the configuration that fit nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stale_waivers: Vec<StaleWaiver>,
    /// What changed since the report of `--baseline`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<Changes>,
}

/// The outcome with its remedy as Terraform too, where that fits.
fn with_terraform(mut outcome: Outcome, defaults: Option<&ImdsDefaults>) -> Outcome {
    if let Some(remedy) = &mut outcome.remedy {
        remedy.terraform = in_terraform::of(remedy, defaults);
    }
    outcome
}

impl Report {
    /// The report on a target that was judged from saved facts.
    pub fn new(saved: &Saved, target: &Target, outcomes: Vec<Outcome>, exit: ExitCode) -> Self {
        let mut header = Header::new(target, &saved.facts);
        header.name_configured(&saved.scope.configured);
        let defaults = saved.facts.imds_defaults.value();
        let defaults = defaults.map(|present| in_terraform::wanted(&outcomes, present));
        let outcomes: Vec<_> = outcomes
            .into_iter()
            .map(|outcome| with_terraform(outcome, defaults.as_ref()))
            .collect();
        Self {
            schema_version: SCHEMA_VERSION,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            collected_at: saved.collected_at,
            target: header,
            counts: Counts::of(&outcomes),
            outcomes,
            effort: saved.effort,
            subnets: subnets::of(target, &saved.facts),
            exit_code: exit as u8,
            fail_on: FailOn::default(),
            allow_unknown: false,
            left_out: Vec::new(),
            configuration: None,
            stale_waivers: Vec::new(),
            changes: None,
        }
    }
}

/// One line that a terminal only shows and never acts on.
pub fn printable(text: &str) -> String {
    text::clean(text)
}

/// Writes the reports.
///
/// # Errors
/// Where `out` cannot be written to.
pub fn write(all: &Reports, format: Format, style: Style, out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::Human => human::write_all(all, out, style),
        Format::Short => short::write_all(all, out, style),
        Format::Json => json::write_all(all, out),
        Format::Junit => junit::write(all, out),
        Format::Sarif => sarif::write(all, out),
        Format::Markdown => markdown::write(all, out),
        Format::Github => github::write(all, out),
        Format::Prometheus => prometheus::write(all, out),
        Format::Html => html::write(all, out),
        Format::Terraform => terraform::write(all, out),
    }
}
