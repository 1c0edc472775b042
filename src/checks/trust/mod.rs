//! Whether a role lets a service in, decided by the role's trust policy.

mod mend;
mod perimeter;

pub use mend::with_statement;
pub use perimeter::exempt;

use super::{Context, Stop, permissions::Control};
use crate::{
    facts::{Fact, arn, iam::Role, organizations::Organization},
    iam::{Decision, Entry, Layer, NamedPolicy, Policy, PolicyKind, Principal, Request, trust},
};

/// Keys that a service may send when it assumes a role. Which it sends, and with what, is not
/// documented for every service.
const PERHAPS_SENT: &[&str] =
    &["aws:RequestedRegion", "aws:TagKeys", "sts:RoleSessionName", "sts:TransitiveTagKeys"];

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

/// Of the tags that EKS Pod Identity gives a session, those that differ from pod to pod
/// (facts/eks.md, "Session tag names").
const TAGS_OF_A_POD: [&str; 2] = ["kubernetes-pod-name", "kubernetes-pod-uid"];

/// An action that a trust policy does not allow.
#[derive(Debug)]
pub struct Refused<'a> {
    pub action: &'a str,
    pub decision: Decision,
}

impl Refused<'_> {
    pub fn by_organization(&self) -> bool {
        is_by_organization(&self.decision)
    }
}

/// The call that gave the statement that decides, and where in its answer that stands.
pub fn read(decision: &Decision) -> (&'static str, &'static str) {
    match is_by_organization(decision) {
        true => ("organizations:DescribePolicy", "Policy.Content"),
        false => ("iam:GetRole", "AssumeRolePolicyDocument"),
    }
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

/// A trust policy, and what an organisation adds to it.
pub struct Trust<'a> {
    policy: NamedPolicy,
    control: Control,
    role: &'a Role,
}

impl<'a> Trust<'a> {
    pub fn of(cx: &Context<'_>, role: &'a Role) -> Result<Self, Stop> {
        Self::read(&cx.facts.organization, role, &role.trust)
    }

    fn read(organization: &Fact<Organization>, role: &'a Role, text: &str) -> Result<Self, Stop> {
        let policy = Policy::parse_as(PolicyKind::Trust, text).map_err(|error| {
            Stop::unknown(format!("the trust policy of {} cannot be read: {error}", role.name))
        })?;
        let control = Control::of(organization, &role.arn);
        Ok(Self { policy: NamedPolicy::new("trust", policy), control, role })
    }

    pub fn policy(&self) -> &Policy {
        &self.policy.policy
    }

    /// Whether a service, or the token of an identity provider, may assume the role. A policy of
    /// the organisation that was not read may take it away.
    pub fn decide(&self, request: &Request) -> Result<Decision, Stop> {
        let request = self.on_role(request.clone());
        let decision = trust::decide_under(&self.control.resource, &self.policy, &request);
        match &self.control.unread {
            Some(unread) if decision.is_allowed() => Err(Stop::Unknown(unread.clone())),
            _ => Ok(decision),
        }
    }

    /// The request with the keys that follow from the role.
    fn on_role(&self, request: Request) -> Request {
        let account = arn::account(&self.role.arn).unwrap_or_default();
        let request = request.with("aws:ResourceAccount", account);
        let request = self.control.context.iter().fold(request, |asked, (key, entry)| {
            asked.with(&key.replace("Principal", "Resource"), entry.clone())
        });
        match &self.role.tags {
            Some(tags) => tags.iter().fold(request, |asked, (key, value)| {
                asked.with(&format!("aws:ResourceTag/{key}"), value.as_str())
            }),
            None => request.unknown_prefix("aws:ResourceTag/"),
        }
    }

    /// The place in the organisation that `aws:SourceOrgID` and `aws:SourceOrgPaths` tell of a
    /// service that acts for the account of the role.
    fn source_of_organization(&self, organization: &Fact<Organization>, asked: Request) -> Request {
        let known = |key: &str| self.control.context.iter().find(|(known, _)| *known == key);
        [("aws:SourceOrgID", "aws:PrincipalOrgID"), ("aws:SourceOrgPaths", "aws:PrincipalOrgPaths")]
            .into_iter()
            .fold(asked, |asked, (source, same)| match known(same) {
                Some((_, entry)) => asked.with(source, entry.clone()),
                None if matches!(organization, Fact::Absent) => asked.with(source, Entry::Absent),
                None => asked.unknown(source),
            })
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
            let decision = self.decide(&trust, action)?;
            match decision {
                Decision::Allowed { .. } => {}
                Decision::Unknown { .. } => unknown = unknown.or(Some((action, decision))),
                _ => refused.push(Refused { action, decision }),
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

    /// A service that acts for a resource of an account says which account, which resource and
    /// which organisation that is; else it says nothing of these. Which of the two it does is not
    /// documented for every service, and often makes no difference.
    fn decide(&self, trust: &Trust<'_>, action: &str) -> Result<Decision, Stop> {
        const ACCOUNT: &str = "aws:SourceAccount";
        let account = arn::account(&self.role.arn).unwrap_or_default();
        let silent = self.request(action);
        let says = silent.clone().with(ACCOUNT, account).unknown("aws:SourceArn");
        let says = trust.source_of_organization(self.organization, says);
        let decision = trust.decide(&self.with_sent(says))?;
        if self.sent.iter().any(|(key, _)| *key == ACCOUNT) {
            return Ok(decision);
        }
        let other = trust.decide(&self.with_sent(silent))?;
        Ok(match (&decision, &other) {
            (Decision::Unknown { .. }, _) => decision,
            (_, Decision::Unknown { .. }) => other,
            (one, two) if one.is_allowed() == two.is_allowed() => decision,
            (Decision::Allowed { by }, _) | (_, Decision::Allowed { by }) => Decision::Unknown {
                keys: vec![ACCOUNT.to_owned()],
                layer: Layer::Trust,
                statement: by.clone(),
            },
            _ => decision,
        })
    }

    fn with_sent(&self, request: Request) -> Request {
        self.sent.iter().fold(request, |request, (key, value)| request.with(key, *value))
    }

    fn request(&self, action: &str) -> Request {
        let service = Principal::Service(self.service.to_owned());
        let request = Request::new(service, action, &self.role.arn).unknown_globals();
        let request = NEVER_SENT.iter().fold(request, |asked, key| asked.with(key, Entry::Absent));
        let request = PERHAPS_SENT.iter().fold(request, |request, key| request.unknown(key));
        let request = request.unknown_prefix("aws:RequestTag/");
        let tag = |(key, _): &(&'a str, &str)| key.strip_prefix("aws:RequestTag/");
        let tags: Vec<&str> = self.sent.iter().filter_map(tag).collect();
        if tags.is_empty() {
            return request;
        }
        let keys = tags.into_iter().chain(TAGS_OF_A_POD).map(str::to_owned);
        request.with("aws:TagKeys", keys.collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests;
