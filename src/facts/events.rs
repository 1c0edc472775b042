//! EventBridge rules.

use serde::{Deserialize, Serialize};

/// `events:DescribeRule` of a rule that targets the queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    pub name: String,
    /// `ENABLED`, `DISABLED` or `ENABLED_WITH_ALL_CLOUDTRAIL_MANAGEMENT_EVENTS`.
    pub state: String,
    /// The event pattern as JSON text.
    pub pattern: Option<String>,
}
