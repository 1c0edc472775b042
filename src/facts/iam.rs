//! Roles, what they may do, instance profiles and identity providers (IAM).

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Fact;

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
    /// `None` in facts that were collected before tags of roles were.
    #[serde(default)]
    pub tags: Option<BTreeMap<String, String>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstanceProfile {
    pub name: String,
    pub arn: String,
    pub path: String,
    /// Names of the roles it holds; IAM allows one.
    pub roles: Vec<String>,
}

/// The policies of a role. Each part can be unread on its own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RolePolicies {
    /// Inline policies: their documents, as JSON text, by name.
    pub inline: Fact<BTreeMap<String, Fact<String>>>,
    /// ARNs of the attached policies; the documents are in [`Facts`](super::Facts)`.policies`.
    pub attached: Fact<Vec<String>>,
}

/// `iam:GetOpenIDConnectProvider`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OidcProvider {
    pub arn: String,
    /// The audiences that it takes tokens for.
    pub client_ids: Vec<String>,
}

/// One question to `iam:SimulatePrincipalPolicy`: actions of a role on one resource, in one
/// context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Simulation {
    pub actions: Vec<String>,
    /// An ARN, or `*`.
    pub resource: String,
    /// Condition keys with their values.
    pub context: BTreeMap<String, Vec<String>>,
    /// The answers, by action.
    #[serde(default)]
    pub answers: Fact<BTreeMap<String, Simulated>>,
}

/// What the simulator says of one action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Simulated {
    /// `allowed`, `explicitDeny` or `implicitDeny`.
    pub decision: String,
    /// Condition keys that a policy asks for and the question did not have.
    pub missing_context: Vec<String>,
    /// Absent where the account is in no organisation.
    pub allowed_by_organization: Option<bool>,
}

impl Simulated {
    pub fn is_allowed(&self) -> bool {
        self.decision == "allowed"
    }
}
