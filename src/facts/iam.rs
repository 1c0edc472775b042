//! Roles and instance profiles (IAM).

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// `iam:GetRole`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Role {
    pub name: String,
    pub arn: String,
    /// Begins and ends with `/`.
    pub path: String,
    pub created: Option<Timestamp>,
    /// The trust policy as JSON text, URL-decoded.
    pub trust: String,
    /// ARN of the permissions boundary.
    pub boundary: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstanceProfile {
    pub name: String,
    pub arn: String,
    pub path: String,
    /// Names of the roles it holds; IAM allows one.
    pub roles: Vec<String>,
}
