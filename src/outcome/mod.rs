//! What came of a check: findings, unknowns and skips, their counts, and the exit code.

mod counts;
mod exit;
mod finding;
mod remedy;
pub mod shell;
mod waived;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use counts::Counts;
pub use exit::{ExitCode, FailOn, exit_code};
pub use finding::{Evidence, Finding, FindingStatus};
pub use remedy::{Remedy, Step};
pub use waived::WaivedBy;

/// How a check came out for one subject. Ordered from best to worst.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Judged, and fine.
    Pass,
    /// Does not apply here; the reason is given.
    Skipped,
    /// Would be a problem, and is lived with; who decided so is given.
    Waived,
    /// Could not be judged; never to be read as fine.
    Unknown,
    /// Will hurt under conditions that are named.
    Warn,
    /// Will stop Karpenter or EKS Auto Mode.
    Fail,
}

impl Status {
    pub const ALL: [Self; 6] =
        [Self::Pass, Self::Warn, Self::Fail, Self::Unknown, Self::Waived, Self::Skipped];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Skipped => "skipped",
            Self::Waived => "waived",
            Self::Unknown => "unknown",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

/// Why a subject could not be judged, and what would make it judgeable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    pub why: String,
    /// The IAM action that the caller lacks.
    pub missing_action: Option<String>,
    /// What the user can do to find out.
    pub remedy: Option<Remedy>,
}

impl Unknown {
    pub fn new(why: impl Into<String>) -> Self {
        Self { why: why.into(), missing_action: None, remedy: None }
    }
}

/// One line of the report: a check and one subject.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// Id of the check.
    pub check: String,
    pub status: Status,
    /// What was judged: an ARN, an id, or a name.
    pub subject: String,
    /// The ARN of the subject, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    /// What was seen, or why nothing could be.
    pub seen: String,
    /// What will happen, in words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub effect: String,
    /// The documented errors that the user would meet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<QuotedError>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<Remedy>,
    /// For an unknown: the IAM action that the caller lacks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing_action: Option<String>,
    /// Where the check is documented.
    pub docs: String,
    /// The status before the configuration changed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged: Option<Status>,
    /// The waiver that fits, which may have expired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiver: Option<WaivedBy>,
}

impl Outcome {
    /// The status that the check gave.
    pub fn judged(&self) -> Status {
        self.judged.unwrap_or(self.status)
    }
}

/// A documented error as it is printed where the user meets it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QuotedError {
    pub id: String,
    pub quote: String,
}
