//! KMS keys.

use serde::{Deserialize, Serialize};

use super::Fact;

/// `kms:DescribeKey`, with the key's policy and grants.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Key {
    pub arn: String,
    /// `AWS` or `CUSTOMER`.
    pub manager: String,
    /// `Enabled`, `Disabled`, `PendingDeletion`, …
    pub state: String,
    /// `SYMMETRIC_DEFAULT`, `RSA_2048`, …
    pub spec: Option<String>,
    /// The key policy as JSON text. Not asked for keys that AWS manages.
    pub policy: Fact<String>,
    pub grants: Fact<Vec<Grant>>,
}

/// Leave to use a key beside its policy.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Grant {
    /// An ARN or a service.
    pub grantee: String,
    /// Such as `Decrypt`.
    pub operations: Vec<String>,
    /// Whether it holds only for some encryption contexts.
    pub constrained: bool,
}
