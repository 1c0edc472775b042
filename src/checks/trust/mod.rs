//! Whether a role lets a service in, decided by the role's trust policy.

mod mend;

pub use mend::with_statement;

use super::{Context, Stop, permissions::Control};
use crate::{
    facts::{Fact, iam::Role, organizations::Organization},
    iam::{Decision, Entry, Layer, NamedPolicy, Policy, PolicyKind, Principal, Request, trust},
    outcome::Remedy,
};

/// Keys that a service may send when it assumes a role. Which it sends, and with what, is not
/// documented for every service.
const PERHAPS_SENT: &[&str] = &[
    "aws:RequestedRegion",
    "aws:SourceAccount",
    "aws:SourceArn",
    "aws:SourceOrgID",
    "aws:SourceOrgPaths",
    "aws:TagKeys",
    "sts:RoleSessionName",
    "sts:TransitiveTagKeys",
];

/// Keys that no request of a service has: it belongs to no organisation, and comes through no VPC
/// endpoint of yours.
const NEVER_SENT: &[&str] =
    &["aws:PrincipalOrgID", "aws:PrincipalOrgPaths", "aws:SourceVpc", "aws:SourceVpce"];

/// A service that has to assume a role.
pub struct Assumption<'a> {
    pub role: &'a Role,
    /// Its resource control policies bear on who may assume a role, as far as they were read.
    pub organization: &'a Fact<Organization>,
    /// Such as `eks.amazonaws.com`.
    pub service: &'a str,
    /// What the service has to be allowed, such as `sts:AssumeRole`.
    pub actions: &'a [&'a str],
    /// Condition keys that the service is known to send, with their values.
    pub sent: &'a [(&'a str, &'a str)],
}

/// An action that a trust policy does not allow.
#[derive(Debug)]
pub struct Refused<'a> {
    pub action: &'a str,
    /// The statement that decides, in words.
    pub why: String,
    /// Whether that is the organisation's.
    pub by_organization: bool,
}

/// Whose policy refuses: `The trust policy of R`.
pub fn culprit(role: &Role, by_organization: bool) -> String {
    match by_organization {
        true => format!("A resource control policy of the organisation, for {},", role.name),
        false => format!("The trust policy of {}", role.name),
    }
}

/// Whether a resource control policy decides.
pub fn is_by_organization(decision: &Decision) -> bool {
    matches!(decision, Decision::Denied { layer: Layer::ResourceControl, .. })
}

/// What to do where the organisation refuses: nothing in the account helps.
pub fn exempt(role: &Role) -> Remedy {
    Remedy::new(format!(
        "No trust policy mends it. Have the owners of the organisation take {} out of what the \
         statement denies, or let services and identity providers through it: their requests carry \
         no aws:PrincipalOrgID.",
        role.arn
    ))
}

/// A trust policy, and what an organisation adds to it.
pub struct Trust {
    policy: NamedPolicy,
    control: Control,
}

impl Trust {
    pub fn of(cx: &Context<'_>, role: &Role) -> Result<Self, Stop> {
        Self::read(&cx.facts.organization, role, &role.trust)
    }

    fn read(organization: &Fact<Organization>, role: &Role, text: &str) -> Result<Self, Stop> {
        let policy = Policy::parse_as(PolicyKind::Trust, text).map_err(|error| {
            Stop::unknown(format!("the trust policy of {} cannot be read: {error}", role.name))
        })?;
        let control = Control::of(organization, &role.arn);
        Ok(Self { policy: NamedPolicy::new("trust", policy), control })
    }

    pub fn policy(&self) -> &Policy {
        &self.policy.policy
    }

    /// Whether a service, or the token of an identity provider, may assume the role. A policy of
    /// the organisation that was not read may take it away.
    pub fn decide(&self, request: &Request) -> Result<Decision, Stop> {
        let decision = trust::decide_under(&self.control.resource, &self.policy, request);
        match &self.control.unread {
            Some(unread) if decision.is_allowed() => Err(Stop::Unknown(unread.clone())),
            _ => Ok(decision),
        }
    }
}

impl<'a> Assumption<'a> {
    /// The actions that the trust policy refuses for certain; none if it allows them all.
    pub fn refused(&self) -> Result<Vec<Refused<'a>>, Stop> {
        self.refused_by(&self.role.trust)
    }

    fn refused_by(&self, trust: &str) -> Result<Vec<Refused<'a>>, Stop> {
        let name = &self.role.name;
        let trust = Trust::read(self.organization, self.role, trust)?;
        let mut refused = Vec::new();
        let mut unknown = None;
        for action in self.actions.iter().copied() {
            let decision = trust.decide(&self.request(action))?;
            match decision {
                Decision::Allowed { .. } => {}
                Decision::Unknown { .. } => unknown = unknown.or(Some((action, decision))),
                _ => refused.push(Refused {
                    action,
                    why: decision.to_string(),
                    by_organization: is_by_organization(&decision),
                }),
            }
        }
        match unknown {
            Some((action, decision)) if refused.is_empty() => Err(Stop::unknown(format!(
                "whether {} may call {action} on {name} {decision}",
                self.service
            ))),
            _ => Ok(refused),
        }
    }

    fn request(&self, action: &str) -> Request {
        let service = Principal::Service(self.service.to_owned());
        let request = Request::new(service, action, &self.role.arn).unknown_globals();
        let request = NEVER_SENT.iter().fold(request, |asked, key| asked.with(key, Entry::Absent));
        let request = PERHAPS_SENT.iter().fold(request, |request, key| request.unknown(key));
        let request = request.unknown_prefix("aws:RequestTag/");
        self.sent.iter().fold(request, |request, (key, value)| request.with(key, *value))
    }
}

#[cfg(test)]
mod tests;
