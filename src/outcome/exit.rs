//! The exit code of a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Counts;

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
