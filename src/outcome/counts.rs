//! How many outcomes there are of each status.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Outcome, Status};

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
