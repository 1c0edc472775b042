//! Label selectors of objects.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::collect::kubernetes::wire::Requirement;

/// What labels must be like; an empty one takes all.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Selector {
    match_labels: BTreeMap<String, String>,
    match_expressions: Vec<Requirement>,
}

impl Selector {
    pub fn takes(&self, labels: &BTreeMap<String, String>) -> bool {
        let all = self.match_labels.iter().all(|(key, value)| labels.get(key) == Some(value));
        all && self.match_expressions.iter().all(|wanted| holds(wanted, labels))
    }
}

fn holds(wanted: &Requirement, labels: &BTreeMap<String, String>) -> bool {
    let value = labels.get(&wanted.key);
    let listed = || value.is_some_and(|value| wanted.values.contains(value));
    match wanted.operator.as_str() {
        "In" => listed(),
        "NotIn" => !listed(),
        "Exists" => value.is_some(),
        "DoesNotExist" => value.is_none(),
        _ => false,
    }
}
