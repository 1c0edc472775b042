//! How the statements of the controller policy differ between two versions.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;

use super::fill::Values;
use super::setup::Setup;
use super::statement::{Statement, statements};
use super::version::KarpenterVersion;

/// One statement that is not the same in both versions. A statement that is in one of them
/// only has all it holds on one side.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct StatementChange {
    pub sid: String,
    pub actions: Sides,
    pub resources: Sides,
    /// Condition operators with their keys: `StringEquals aws:RequestTag/eks:eks-cluster-name`.
    pub conditions: Sides,
    /// The values of conditions that are on both sides: `StringEquals aws:TagKeys = Name`.
    pub values: Sides,
}

/// What is in the one version and not in the other.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Sides {
    pub added: BTreeSet<String>,
    pub dropped: BTreeSet<String>,
}

impl StatementChange {
    /// Whether something that the older statement allowed is allowed by it no more.
    pub fn tightens(&self) -> bool {
        !(self.actions.dropped.is_empty()
            && self.resources.dropped.is_empty()
            && self.conditions.added.is_empty()
            && self.values.dropped.is_empty())
    }

    /// Whether something is allowed by it that the older statement did not allow.
    pub fn widens(&self) -> bool {
        !(self.actions.added.is_empty()
            && self.resources.added.is_empty()
            && self.conditions.dropped.is_empty()
            && self.values.added.is_empty())
    }
}

/// The changed statements, by Sid.
pub fn statement_changes(
    from: KarpenterVersion,
    to: KarpenterVersion,
    setup: &Setup,
) -> Vec<StatementChange> {
    let by_sid = |version| -> BTreeMap<&str, Parts> {
        let names = Values::new(version, setup);
        let parts = |s: &'static Statement| (s.sid.as_str(), Parts::of(s, &names));
        statements(version, setup).into_iter().map(parts).collect()
    };
    let (old, new) = (by_sid(from), by_sid(to));
    let sids: BTreeSet<_> = old.keys().chain(new.keys()).collect();
    let none = Parts::default();
    let changes = sids.into_iter().map(|sid| {
        let (old, new) = (old.get(sid).unwrap_or(&none), new.get(sid).unwrap_or(&none));
        old.change_to(new, sid)
    });
    changes.filter(|change| change.tightens() || change.widens()).collect()
}

/// What a statement holds, as sets.
#[derive(Default)]
struct Parts {
    actions: BTreeSet<String>,
    resources: BTreeSet<String>,
    conditions: BTreeMap<String, BTreeSet<String>>,
}

impl Parts {
    fn of(statement: &Statement, names: &Values) -> Self {
        let mut conditions = BTreeMap::new();
        for (operator, keys) in &statement.condition {
            for (key, values) in keys {
                let key = names.fill(key);
                conditions.insert(format!("{operator} {key}"), texts(&names.fill_json(values)));
            }
        }
        let resources = statement.resources.iter().flat_map(|resource| names.fill_all(resource));
        Self {
            actions: statement.actions.iter().cloned().collect(),
            resources: resources.collect(),
            conditions,
        }
    }

    fn change_to(&self, new: &Self, sid: &str) -> StatementChange {
        let keys = |parts: &Self| parts.conditions.keys().cloned().collect();
        let values = |parts: &Self, other: &Self| -> BTreeSet<String> {
            let shared = parts.conditions.iter().filter(|(k, _)| other.conditions.contains_key(*k));
            shared
                .flat_map(|(k, values)| values.iter().map(move |v| format!("{k} = {v}")))
                .collect()
        };
        StatementChange {
            sid: sid.to_owned(),
            actions: sides(&self.actions, &new.actions),
            resources: sides(&self.resources, &new.resources),
            conditions: sides(&keys(self), &keys(new)),
            values: sides(&values(self, new), &values(new, self)),
        }
    }
}

fn sides(old: &BTreeSet<String>, new: &BTreeSet<String>) -> Sides {
    let minus = |a: &BTreeSet<String>, b: &BTreeSet<String>| a.difference(b).cloned().collect();
    Sides { added: minus(new, old), dropped: minus(old, new) }
}

fn texts(values: &Value) -> BTreeSet<String> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    match values {
        Value::Array(items) => items.iter().filter_map(text).collect(),
        one => text(one).into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(from: &str, to: &str) -> Vec<StatementChange> {
        let setup = Setup::new("aws", "eu-west-1", "111122223333", "prod");
        statement_changes(from.parse().unwrap(), to.parse().unwrap(), &setup)
    }

    #[test]
    fn versions_with_one_template_do_not_differ() {
        for (from, to) in
            [("0.34.0", "0.37.8"), ("1.1.0", "1.2.8"), ("1.3.0", "1.6.8"), ("1.13.0", "1.14.1")]
        {
            assert_eq!(changes(from, to), [], "{from} {to}");
        }
    }

    /// As in the printed policy: with the names of the set-up, and no placeholder of the data.
    #[test]
    fn names_are_filled_in() {
        let setup = Setup::new("aws-cn", "cn-north-1", "111122223333", "prod").with_every_feature();
        for (from, to) in [("0.32.0", "1.14.1"), ("1.14.1", "0.32.0"), ("1.6.0", "1.14.1")] {
            let changes = statement_changes(from.parse().unwrap(), to.parse().unwrap(), &setup);
            let text = serde_json::to_string(&changes).unwrap();
            assert!(text.contains("arn:aws-cn:"), "{from} {to}: {text}");
            for left in ["${partition}", "${region}", "${account}", "${cluster}", "${ami_"] {
                assert!(!text.contains(left), "{from} {to}: {text}");
            }
        }
    }

    #[test]
    fn tightened_and_widened_are_told_apart() {
        for (from, to, sid, tightens, widens) in [
            ("0.37.8", "1.0.0", "AllowScopedEC2InstanceActionsWithTags", true, false),
            ("0.37.8", "1.0.0", "AllowInstanceProfileReadActions", true, true),
            ("1.0.14", "1.1.0", "AllowRegionalReadActions", true, false),
            ("1.6.8", "1.7.0", "AllowUnscopedInstanceProfileListAction", false, true),
            ("1.8.8", "1.9.0", "AllowScopedEC2InstanceActionsWithTags", true, false),
            ("1.10.2", "1.11.0", "AllowScopedEC2InstanceAccessActions", false, true),
        ] {
            let changes = changes(from, to);
            let change = changes.iter().find(|change| change.sid == sid);
            let change = change.unwrap_or_else(|| panic!("{sid} changes in {to}"));
            assert_eq!((change.tightens(), change.widens()), (tightens, widens), "{to} {sid}");
        }
    }
}
