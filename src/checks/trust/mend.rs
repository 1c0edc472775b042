//! How to let a service in that a trust policy refuses.

use serde_json::{Value, json};

use super::Assumption;
use crate::{checks::remedies, outcome::Remedy};

impl Assumption<'_> {
    /// How to let the service in: the present trust policy with what is missing added, or where
    /// that is not enough, one that replaces it.
    pub fn mend(&self) -> Remedy {
        let refused = self.refused().unwrap_or_default();
        if let Some(first) = refused.first()
            && refused.iter().all(super::Refused::by_organization)
        {
            return super::exempt(self.organization, self.role, &first.decision, None);
        }
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
        with_statement(&self.role.trust, &remedies::service_trust(self.service, self.actions))
    }

    /// The present policy, its statements as a list.
    fn present(&self) -> Option<Value> {
        as_list(&self.role.trust)
    }
}

/// A trust policy with the statements of another added to its own.
pub fn with_statement(present: &str, more: &Value) -> Option<Value> {
    let mut trust = as_list(present)?;
    let added = more["Statement"].as_array()?.clone();
    trust["Statement"].as_array_mut()?.extend(added);
    Some(trust)
}

/// A policy with its statements as a list.
fn as_list(text: &str) -> Option<Value> {
    let mut policy: Value = serde_json::from_str(text).ok()?;
    let statement = policy.get_mut("Statement")?;
    if statement.is_object() {
        *statement = Value::Array(vec![statement.take()]);
    }
    Some(policy)
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
    use serde_json::json;

    use super::*;
    use crate::{
        checks::trust::tests::{allow, assumption, role, trust},
        outcome::Step,
    };

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
