//! Whether a role lets a service in, decided by the role's trust policy.

use serde_json::{Value, json};

use super::{Stop, remedies};
use crate::{
    facts::iam::Role,
    iam::{Decision, NamedPolicy, Policy, PolicyKind, Principal, Request, trust},
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

    /// How to let the service in: the present trust policy with what is missing added, or where
    /// that is not enough, one that replaces it.
    pub fn mend(&self) -> Remedy {
        let name = &self.role.name;
        let what = format!("Let {} call {} on {name}.", self.service, self.actions.join(" and "));
        let kept = [self.with_actions_added(), self.with_statement_added()]
            .into_iter()
            .flatten()
            .find(|trust| self.refused_by(&trust.to_string()).is_ok_and(|left| left.is_empty()));
        let (words, trust) = match kept {
            Some(trust) => ("The document is the present trust policy with that added.", trust),
            None => (
                "No addition to the present trust policy would do: the document replaces it, so \
                 look first at what else it is for.",
                remedies::service_trust(self.service, self.actions),
            ),
        };
        remedies::replace_trust(Remedy::new(format!("{what} {words}")), name, &trust)
    }

    /// The present policy, with the actions added to the statement that allows the service some
    /// already.
    fn with_actions_added(&self) -> Option<Value> {
        let mut trust = self.present()?;
        let statement = trust["Statement"].as_array_mut()?.iter_mut().find(|statement| {
            statement["Effect"] == "Allow"
                && members(&statement["Principal"]["Service"]).any(|s| s == self.service)
                && statement.get("Action").is_some()
        })?;
        let mut actions: Vec<_> = members(&statement["Action"]).cloned().collect();
        for action in self.actions {
            if !actions.iter().any(|a| a.as_str().is_some_and(|a| a.eq_ignore_ascii_case(action))) {
                actions.push(json!(action));
            }
        }
        statement["Action"] = Value::Array(actions);
        Some(trust)
    }

    fn with_statement_added(&self) -> Option<Value> {
        let mut trust = self.present()?;
        let mut standard = remedies::service_trust(self.service, self.actions);
        let added = standard["Statement"].as_array_mut()?.pop()?;
        trust["Statement"].as_array_mut()?.push(added);
        Some(trust)
    }

    /// The present policy, its statements as a list.
    fn present(&self) -> Option<Value> {
        let mut trust: Value = serde_json::from_str(&self.role.trust).ok()?;
        let statement = trust.get_mut("Statement")?;
        if statement.is_object() {
            *statement = Value::Array(vec![statement.take()]);
        }
        Some(trust)
    }
}

/// The members of a list, or the one value that stands for a list.
fn members(value: &Value) -> impl Iterator<Item = &Value> {
    match value {
        Value::Array(members) => members.iter(),
        Value::Null => [].iter(),
        one => std::slice::from_ref(one).iter(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Step;

    const ACCOUNT: &str = "111122223333";

    fn role(trust: &Value) -> Role {
        Role {
            name: "r".to_owned(),
            arn: format!("arn:aws:iam::{ACCOUNT}:role/r"),
            path: "/".to_owned(),
            created: None,
            trust: trust.to_string(),
            boundary: None,
        }
    }

    fn assumption(role: &Role) -> Assumption<'_> {
        Assumption {
            role,
            service: "eks.amazonaws.com",
            actions: &["sts:AssumeRole", "sts:TagSession"],
            sent: &[("aws:SourceAccount", ACCOUNT)],
        }
    }

    fn allow(action: &Value, rest: &Value) -> Value {
        let mut statement = json!({
            "Effect": "Allow", "Principal": {"Service": "eks.amazonaws.com"}, "Action": action});
        json_patch::merge(&mut statement, rest);
        statement
    }

    fn trust(statement: &Value) -> Value {
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

    #[test]
    fn mends_by_addition_where_that_will_do() {
        let one = allow(&json!("sts:AssumeRole"), &json!({}));
        let both = allow(&json!(["sts:AssumeRole", "sts:TagSession"]), &json!({}));
        let ec2 = allow(
            &json!("sts:AssumeRole"),
            &json!({"Principal": {"Service": "ec2.amazonaws.com"}}),
        );
        let elsewhere = allow(
            &json!("sts:AssumeRole"),
            &json!({"Condition": {"StringEquals": {"aws:SourceAccount": "444455556666"}}}),
        );
        let deny = json!({"Effect": "Deny", "Principal": "*", "Action": "sts:TagSession"});
        for (name, present, expected) in [
            ("an action more", json!([ec2, one]), json!([ec2, both])),
            ("a bare statement", one.clone(), json!([both])),
            ("a statement more", json!([ec2]), json!([ec2, both])),
            ("beside a condition", json!([elsewhere]), json!([elsewhere, both])),
            ("instead of a deny", json!([one, deny]), json!([both])),
        ] {
            let role = role(&trust(&present));
            let remedy = assumption(&role).mend();
            let [Step::Document { document, file }, Step::Command { command }] =
                remedy.steps.as_slice()
            else {
                panic!("{name}: {remedy:#?}")
            };
            let document: Value = serde_json::from_str(document).unwrap();
            assert_eq!(document["Statement"], expected, "{name}");
            assert!(command.ends_with(&format!("file://{file}")), "{command}");
        }
    }
}
