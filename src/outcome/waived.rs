//! Who lives with a finding, and until when.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A waiver of the configuration, as it fits an outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WaivedBy {
    pub reason: String,
    pub owner: Option<String>,
    /// The last day on which it holds, in UTC.
    pub until: Option<String>,
    /// It holds no longer: the finding counts.
    pub expired: bool,
}

impl WaivedBy {
    /// `waived by team-a until 2026-12-31: no Spot here`.
    pub fn words(&self) -> String {
        let owner = self.owner.as_ref().map(|owner| format!(" by {owner}")).unwrap_or_default();
        match (&self.until, self.expired) {
            (Some(until), true) => {
                format!("its waiver{owner} expired on {until}: {}", self.reason)
            }
            (Some(until), false) => format!("waived{owner} until {until}: {}", self.reason),
            (None, _) => format!("waived{owner}: {}", self.reason),
        }
    }
}
