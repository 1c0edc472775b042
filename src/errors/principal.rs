//! Who made a denied call.

use schemars::JsonSchema;
use serde::Serialize;

/// The caller, as AWS names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Principal {
    pub arn: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    pub kind: PrincipalKind,
}

/// Where the caller's credentials come from, as far as the session's name tells.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PrincipalKind {
    /// The session is named after an instance: a program works with its node's credentials.
    /// For the controller that means that its own role is not bound to it.
    NodeCredentials { instance: String },
    /// The session of a Pod Identity association.
    PodIdentity,
    /// The session of a service account's web identity token.
    WebIdentity,
    /// Another session of a role.
    RoleSession,
    /// A user, the root user, a service or an unknown form.
    Other,
}

impl Principal {
    pub fn new(arn: &str) -> Self {
        let parts: Vec<&str> = arn.splitn(6, ':').collect();
        let account = parts.get(4).filter(|account| !account.is_empty()).copied();
        let name = parts.get(5).copied().unwrap_or_default();
        let mut names = name.strip_prefix("assumed-role/").unwrap_or_default().splitn(2, '/');
        let role = names.next().filter(|role| !role.is_empty());
        let session = names.next();
        Self {
            arn: arn.to_owned(),
            account: account.map(str::to_owned),
            role: role.map(str::to_owned),
            session: session.map(str::to_owned),
            kind: session.map_or(PrincipalKind::Other, kind),
        }
    }
}

fn kind(session: &str) -> PrincipalKind {
    let digits = |text: &str| text.len() >= 16 && text.bytes().all(|byte| byte.is_ascii_digit());
    let instance = |id: &str| id.len() >= 8 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    if session.strip_prefix("i-").is_some_and(instance) {
        PrincipalKind::NodeCredentials { instance: session.to_owned() }
    } else if session.starts_with("eks-") {
        PrincipalKind::PodIdentity
    } else if digits(session) {
        PrincipalKind::WebIdentity
    } else {
        PrincipalKind::RoleSession
    }
}
