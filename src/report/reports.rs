//! The reports of one run: of one cluster, or of each that the configuration names.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Report, SCHEMA_VERSION};
use crate::outcome::{Counts, ExitCode, Status};

/// All that a run reports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reports {
    /// The version of this format.
    #[schemars(extend("const" = SCHEMA_VERSION))]
    pub schema_version: u32,
    /// One a cluster, in the order of the configuration.
    pub reports: Vec<Report>,
    /// The clusters that could not be read.
    pub not_run: Vec<NotRun>,
    /// Of all clusters together.
    pub counts: Counts,
    /// What the process exits with: the worst of all clusters.
    pub exit_code: u8,
    /// Whether one cluster was asked for, and so is reported alone.
    #[serde(skip)]
    pub alone: bool,
}

/// A cluster that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotRun {
    /// Name of the EKS cluster.
    pub cluster: String,
    pub why: String,
}

/// A waiver that fits nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StaleWaiver {
    /// Id of the check.
    pub check: String,
    /// The pattern.
    pub subject: String,
    pub reason: String,
}

impl StaleWaiver {
    pub fn words(&self) -> String {
        format!(
            "the waiver of {} for `{}` fits nothing any more: take it out ({})",
            self.check, self.subject, self.reason
        )
    }
}

impl Reports {
    /// The report of the one cluster that was asked for.
    pub fn one(report: Report) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            counts: report.counts,
            exit_code: report.exit_code,
            reports: vec![report],
            not_run: Vec::new(),
            alone: true,
        }
    }

    /// The reports of several clusters.
    pub fn several(reports: Vec<Report>, not_run: Vec<NotRun>) -> Self {
        let mut counts = Counts::default();
        for status in Status::ALL {
            let sum = reports.iter().map(|report| report.counts.get(status)).sum();
            counts.set(status, sum);
        }
        let codes = reports.iter().map(|report| report.exit_code);
        let failed = (!not_run.is_empty()).then_some(ExitCode::CouldNotRun as u8);
        Self {
            schema_version: SCHEMA_VERSION,
            counts,
            exit_code: worst(codes.chain(failed)),
            reports,
            not_run,
            alone: false,
        }
    }
}

/// The worst of several exit codes: one that could not run before findings, and these before
/// what is incomplete.
pub fn worst(codes: impl Iterator<Item = u8>) -> u8 {
    let rank = |code: &u8| [0, 3, 1, 2, 4].iter().position(|known| known == code);
    codes.max_by_key(rank).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::report;

    #[test]
    fn the_worst_code() {
        for (codes, expected) in
            [(&[][..], 0), (&[0, 3, 0], 3), (&[3, 1, 0], 1), (&[1, 4, 3], 4), (&[0], 0)]
        {
            assert_eq!(worst(codes.iter().copied()), expected, "{codes:?}");
        }
    }

    #[test]
    fn counts_add_up() {
        let reports = Reports::several(vec![report("problems"), report("all-well")], Vec::new());
        assert_eq!((reports.counts.pass, reports.counts.fail, reports.exit_code), (17, 2, 1));
        let not_run = NotRun { cluster: "x".to_owned(), why: "no".to_owned() };
        assert_eq!(Reports::several(vec![report("problems")], vec![not_run]).exit_code, 4);
    }
}
