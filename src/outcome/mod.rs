//! What came of a check: findings, unknowns and skips, their counts, and the exit code.

pub mod shell;
mod waived;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

/// A verdict on one subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub status: FindingStatus,
    /// What was seen, in one or two sentences with the real names.
    pub seen: String,
    /// What will happen, in words; empty for a pass.
    pub effect: String,
    /// Ids of the documented errors that the user would meet.
    pub errors: Vec<&'static str>,
    pub evidence: Vec<Evidence>,
    pub remedy: Option<Remedy>,
}

/// The three statuses that a judgement can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingStatus {
    Pass,
    Warn,
    Fail,
}

impl Finding {
    /// All is well with the subject.
    pub fn pass(seen: impl Into<String>) -> Self {
        Self::new(FindingStatus::Pass, seen, String::new())
    }

    /// It will hurt under the conditions that `effect` names.
    pub fn warn(seen: impl Into<String>, effect: impl Into<String>) -> Self {
        Self::new(FindingStatus::Warn, seen, effect)
    }

    /// It will stop something that `effect` names.
    pub fn fail(seen: impl Into<String>, effect: impl Into<String>) -> Self {
        Self::new(FindingStatus::Fail, seen, effect)
    }

    fn new(status: FindingStatus, seen: impl Into<String>, effect: impl Into<String>) -> Self {
        Self {
            status,
            seen: seen.into(),
            effect: effect.into(),
            errors: Vec::new(),
            evidence: Vec::new(),
            remedy: None,
        }
    }

    /// Names the documented errors that the user would meet, the likeliest first.
    #[must_use]
    pub fn errors(mut self, ids: &[&'static str]) -> Self {
        self.errors.extend_from_slice(ids);
        self
    }

    /// Adds a value that the verdict rests on.
    #[must_use]
    pub fn evidence(
        mut self,
        api: impl Into<String>,
        path: impl Into<String>,
        value: impl Into<String>,
    ) -> Self {
        self.evidence.push(Evidence { api: api.into(), path: path.into(), value: value.into() });
        self
    }

    #[must_use]
    pub fn mend(mut self, remedy: Remedy) -> Self {
        self.remedy = Some(remedy);
        self
    }
}

/// A value that a verdict rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// The API that gave it, such as `iam:GetRole`.
    pub api: String,
    /// Where in its answer.
    pub path: String,
    pub value: String,
}

/// How to mend a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Remedy {
    /// What to do, in words.
    pub words: String,
    /// Steps in order, with the real names filled in.
    pub steps: Vec<Step>,
    /// The same as Terraform, where resources can stand for all of the steps that change AWS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terraform: Option<String>,
}

impl Remedy {
    pub fn new(words: impl Into<String>) -> Self {
        Self { words: words.into(), steps: Vec::new(), terraform: None }
    }

    /// Adds a shell command.
    #[must_use]
    pub fn run(mut self, command: impl Into<String>) -> Self {
        self.steps.push(Step::Command { command: command.into() });
        self
    }

    /// Adds a JSON document that a command of this remedy refers to by `file`.
    #[must_use]
    pub fn document(mut self, file: impl Into<String>, document: &serde_json::Value) -> Self {
        let document = serde_json::to_string_pretty(document).unwrap_or_default();
        self.steps.push(Step::Document { file: file.into(), document });
        self
    }
}

/// One step of a remedy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Step {
    /// A shell command, ready to run.
    Command { command: String },
    /// A JSON document to save under `file`, used by the next command.
    Document { file: String, document: String },
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

/// How many outcomes there are of each status.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    pub pass: usize,
    pub warn: usize,
    pub fail: usize,
    pub unknown: usize,
    #[serde(default)]
    pub waived: usize,
    pub skipped: usize,
}

impl Counts {
    pub fn of(outcomes: &[Outcome]) -> Self {
        let mut by_status: BTreeMap<Status, usize> = BTreeMap::new();
        for outcome in outcomes {
            *by_status.entry(outcome.status).or_default() += 1;
        }
        let count = |status| by_status.get(&status).copied().unwrap_or_default();
        Self {
            pass: count(Status::Pass),
            warn: count(Status::Warn),
            fail: count(Status::Fail),
            unknown: count(Status::Unknown),
            waived: count(Status::Waived),
            skipped: count(Status::Skipped),
        }
    }

    pub fn set(&mut self, status: Status, count: usize) {
        let field = match status {
            Status::Pass => &mut self.pass,
            Status::Warn => &mut self.warn,
            Status::Fail => &mut self.fail,
            Status::Unknown => &mut self.unknown,
            Status::Waived => &mut self.waived,
            Status::Skipped => &mut self.skipped,
        };
        *field = count;
    }

    pub fn get(&self, status: Status) -> usize {
        match status {
            Status::Pass => self.pass,
            Status::Warn => self.warn,
            Status::Fail => self.fail,
            Status::Unknown => self.unknown,
            Status::Waived => self.waived,
            Status::Skipped => self.skipped,
        }
    }
}

/// The lowest status that makes the run fail.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema, clap::ValueEnum,
)]
#[serde(rename_all = "snake_case")]
pub enum FailOn {
    #[default]
    Fail,
    Warn,
    /// Findings are for whoever reads the report, not for whoever runs the program.
    Never,
}

/// What the process tells its caller; the same for every output format (`docs/exit-codes.md`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitCode {
    Ok = 0,
    Findings = 1,
    Usage = 2,
    Incomplete = 3,
    CouldNotRun = 4,
}

impl ExitCode {
    /// The code of a report.
    pub fn from_number(code: u8) -> Self {
        let codes = [Self::Ok, Self::Findings, Self::Usage, Self::Incomplete, Self::CouldNotRun];
        codes.into_iter().find(|known| *known as u8 == code).unwrap_or(Self::CouldNotRun)
    }
}

/// The exit code of a run that took place.
pub fn exit_code(counts: &Counts, fail_on: FailOn, allow_unknown: bool) -> ExitCode {
    let findings = match fail_on {
        FailOn::Fail => counts.fail,
        FailOn::Warn => counts.fail + counts.warn,
        FailOn::Never => 0,
    };
    if findings > 0 {
        ExitCode::Findings
    } else if counts.unknown > 0 && !allow_unknown {
        ExitCode::Incomplete
    } else {
        ExitCode::Ok
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes() {
        let counts =
            |warn, fail, unknown| Counts { pass: 3, warn, fail, unknown, waived: 1, skipped: 1 };
        for (counts, fail_on, allow_unknown, expected) in [
            (counts(0, 0, 0), FailOn::Fail, false, ExitCode::Ok),
            (counts(1, 0, 0), FailOn::Fail, false, ExitCode::Ok),
            (counts(1, 0, 0), FailOn::Warn, false, ExitCode::Findings),
            (counts(0, 1, 0), FailOn::Fail, false, ExitCode::Findings),
            (counts(0, 1, 1), FailOn::Fail, true, ExitCode::Findings),
            (counts(0, 0, 1), FailOn::Fail, false, ExitCode::Incomplete),
            (counts(0, 0, 1), FailOn::Fail, true, ExitCode::Ok),
            (counts(1, 0, 1), FailOn::Warn, true, ExitCode::Findings),
            (counts(1, 1, 0), FailOn::Never, false, ExitCode::Ok),
            (counts(1, 1, 1), FailOn::Never, false, ExitCode::Incomplete),
            (counts(1, 1, 1), FailOn::Never, true, ExitCode::Ok),
        ] {
            assert_eq!(exit_code(&counts, fail_on, allow_unknown), expected, "{counts:?}");
        }
    }
}
