//! Whether a role lets a service in, decided by the role's trust policy.

mod mend;

use super::Stop;
use crate::{
    facts::iam::Role,
    iam::{Decision, NamedPolicy, Policy, PolicyKind, Principal, Request, trust},
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

/// A service that has to assume a role.
pub struct Assumption<'a> {
    pub role: &'a Role,
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
}

impl<'a> Assumption<'a> {
    /// The actions that the trust policy refuses for certain; none if it allows them all.
    pub fn refused(&self) -> Result<Vec<Refused<'a>>, Stop> {
        self.refused_by(&self.role.trust)
    }

    fn refused_by(&self, trust: &str) -> Result<Vec<Refused<'a>>, Stop> {
        let name = &self.role.name;
        let policy = Policy::parse_as(PolicyKind::Trust, trust).map_err(|error| {
            Stop::unknown(format!("the trust policy of {name} cannot be read: {error}"))
        })?;
        let policy = NamedPolicy::new("trust", policy);
        let mut refused = Vec::new();
        let mut unknown = None;
        for action in self.actions.iter().copied() {
            let decision = trust::decide(&policy, &self.request(action));
            match decision {
                Decision::Allowed { .. } => {}
                Decision::Unknown { .. } => unknown = unknown.or(Some((action, decision))),
                _ => refused.push(Refused { action, why: decision.to_string() }),
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
        let request = PERHAPS_SENT.iter().fold(request, |request, key| request.unknown(key));
        let request = request.unknown_prefix("aws:RequestTag/");
        self.sent.iter().fold(request, |request, (key, value)| request.with(key, *value))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const ACCOUNT: &str = "111122223333";

    pub(super) fn role(trust: &Value) -> Role {
        Role {
            name: "r".to_owned(),
            arn: format!("arn:aws:iam::{ACCOUNT}:role/r"),
            path: "/".to_owned(),
            created: None,
            trust: trust.to_string(),
            boundary: None,
        }
    }

    pub(super) fn assumption(role: &Role) -> Assumption<'_> {
        Assumption {
            role,
            service: "eks.amazonaws.com",
            actions: &["sts:AssumeRole", "sts:TagSession"],
            sent: &[("aws:SourceAccount", ACCOUNT)],
        }
    }

    pub(super) fn allow(action: &Value, rest: &Value) -> Value {
        let mut statement = json!({
            "Effect": "Allow", "Principal": {"Service": "eks.amazonaws.com"}, "Action": action});
        json_patch::merge(&mut statement, rest);
        statement
    }

    pub(super) fn trust(statement: &Value) -> Value {
        json!({"Version": "2012-10-17", "Statement": statement})
    }

    /// `None` is unknown.
    type Expected<'a> = Option<&'a [&'a str]>;

    #[test]
    fn decides_by_the_document() {
        let both = json!(["sts:AssumeRole", "sts:TagSession"]);
        let plain = allow(&both, &json!({}));
        let rows: &[(&str, Value, Expected<'_>)] = &[
            ("a list", json!([plain]), Some(&[])),
            ("one statement", plain.clone(), Some(&[])),
            ("one action", allow(&json!("sts:AssumeRole"), &json!({})), Some(&["sts:TagSession"])),
            (
                "an action a statement",
                json!([
                    allow(&json!("sts:AssumeRole"), &json!({})),
                    allow(&json!("sts:TagSession"), &json!({}))
                ]),
                Some(&[]),
            ),
            ("a wildcard", allow(&json!("sts:*"), &json!({})), Some(&[])),
            (
                "all but another",
                allow(&both, &json!({"Action": null, "NotAction": "sts:SetSourceIdentity"})),
                Some(&[]),
            ),
            (
                "all but one",
                allow(&both, &json!({"Action": null, "NotAction": "sts:TagSession"})),
                Some(&["sts:TagSession"]),
            ),
            (
                "services in a list",
                allow(
                    &both,
                    &json!({"Principal": {"Service": ["ec2.amazonaws.com", "eks.amazonaws.com"]}}),
                ),
                Some(&[]),
            ),
            (
                "another service with the same beginning",
                allow(&both, &json!({"Principal": {"Service": "eks.amazonaws.com.evil"}})),
                Some(&["sts:AssumeRole", "sts:TagSession"]),
            ),
            (
                "a deny",
                json!([plain, {"Effect": "Deny", "Principal": "*", "Action": "sts:TagSession"}]),
                Some(&["sts:TagSession"]),
            ),
            (
                "this account",
                allow(
                    &both,
                    &json!({"Condition": {"StringEquals": {"aws:SourceAccount": ACCOUNT}}}),
                ),
                Some(&[]),
            ),
            (
                "another account",
                allow(
                    &both,
                    &json!({"Condition": {"StringEquals": {"aws:SourceAccount": "444455556666"}}}),
                ),
                Some(&["sts:AssumeRole", "sts:TagSession"]),
            ),
            (
                "a key that nobody knows",
                allow(&both, &json!({"Condition": {"StringEquals": {"aws:SourceOrgID": "o-1"}}})),
                None,
            ),
            (
                "certain of one action, not of the other",
                allow(
                    &json!("sts:AssumeRole"),
                    &json!({"Condition": {"StringEquals": {"aws:SourceOrgID": "o-1"}}}),
                ),
                Some(&["sts:TagSession"]),
            ),
            ("no document", json!("x"), None),
        ];
        for (name, statement, expected) in rows {
            let role = role(&trust(statement));
            let refused = assumption(&role).refused();
            let actions = refused
                .as_ref()
                .ok()
                .map(|refused| refused.iter().map(|refused| refused.action).collect::<Vec<_>>());
            assert_eq!(actions.as_deref(), *expected, "{name}: {refused:?}");
        }
    }
}
