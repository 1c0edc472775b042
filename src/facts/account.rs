//! Who asked (STS).

use serde::{Deserialize, Serialize};

/// The identity that made the calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caller {
    /// The ARN as STS prints it, such as `arn:aws:sts::111122223333:assumed-role/ops/me`.
    pub arn: String,
    /// The 12-digit account id.
    pub account: String,
}
