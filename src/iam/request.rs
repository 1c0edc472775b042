//! One question: may this principal do this action on this resource, given this context?

use crate::iam::context::{Context, Entry};
use crate::iam::globals;
use crate::iam::principal::Principal;

/// A request as AWS would judge it. An API call that touches several resources is several
/// requests, one for each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    principal: Principal,
    action: String,
    action_lower: String,
    resource: String,
    resource_account: Option<String>,
    context: Context,
}

impl Request {
    /// `action` reads `service:Name`; `resource` is an ARN, or `*` for an action that has no
    /// resource. The keys that follow from the principal (`aws:PrincipalArn`,
    /// `aws:PrincipalAccount`, `aws:PrincipalType`, …) are filled in.
    pub fn new(principal: Principal, action: &str, resource: &str) -> Request {
        let mut context = Context::new();
        globals::describe(&principal, &mut context);
        Request {
            principal,
            action: action.to_owned(),
            action_lower: action.to_ascii_lowercase(),
            resource: resource.to_owned(),
            resource_account: None,
            context,
        }
    }

    /// Sets a condition key: `.with("aws:RequestTag/team", "a")`, `.with("aws:TagKeys", ["a"])`.
    pub fn with(mut self, key: &str, entry: impl Into<Entry>) -> Request {
        self.context.set(key, entry.into());
        self
    }

    /// Declares that nobody knows whether `key` is sent, nor with which value.
    pub fn unknown(mut self, key: &str) -> Request {
        self.context.set(key, Entry::Unknown);
        self
    }

    /// Declares unknown every key with this beginning that is not set itself.
    pub fn unknown_prefix(mut self, prefix: &str) -> Request {
        self.context.unknown_prefix(prefix);
        self
    }

    /// Takes [`Request::unknown_prefix`] back: of the keys with this beginning, those that are set
    /// are sent, and no other.
    pub fn known_prefix(mut self, prefix: &str) -> Request {
        self.context.known_prefix(prefix);
        self
    }

    /// Declares unknown the global keys that depend on the network, the organisation or the
    /// moment (`aws:SourceIp`, `aws:SourceVpce`, `aws:PrincipalOrgID`, `aws:CurrentTime`, …)
    /// and are not set. `aws:SecureTransport` is taken to be true.
    pub fn unknown_globals(mut self) -> Request {
        globals::forget(&mut self.context);
        self
    }

    /// The account that owns the resource, where it is another than the principal's.
    pub fn in_account(mut self, account: &str) -> Request {
        self.resource_account = Some(account.to_owned());
        self
    }

    pub fn principal(&self) -> &Principal {
        &self.principal
    }

    pub fn action(&self) -> &str {
        &self.action
    }

    pub fn resource(&self) -> &str {
        &self.resource
    }

    pub fn context(&self) -> &Context {
        &self.context
    }

    pub(crate) fn action_lower(&self) -> &str {
        &self.action_lower
    }

    /// Whether principal and resource belong to one account.
    pub(crate) fn same_account(&self) -> bool {
        match (&self.resource_account, self.principal.account()) {
            (Some(owner), Some(own)) => owner == own,
            _ => true,
        }
    }
}
