//! The parts of objects that every kind has, as far as anything of them is kept.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Deserialize;

use crate::facts::kubernetes::{self as facts, controller::NodeRequirement};

/// An object of any kind with the parts that are wanted.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound = "Spec: Default + Deserialize<'de>, Status: Default + Deserialize<'de>")]
pub struct Object<Spec, Status = Nothing> {
    pub metadata: Meta,
    pub spec: Spec,
    pub status: Status,
}

/// A part that is not wanted.
#[derive(Debug, Default, Deserialize)]
pub struct Nothing {}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Meta {
    pub name: String,
    pub namespace: String,
    pub creation_timestamp: Option<Timestamp>,
    pub deletion_timestamp: Option<Timestamp>,
    pub finalizers: Vec<String>,
    pub labels: BTreeMap<String, String>,
    pub annotations: BTreeMap<String, String>,
}

impl Meta {
    pub fn into_facts(self) -> facts::Meta {
        facts::Meta {
            name: self.name,
            namespace: self.namespace,
            created: self.creation_timestamp,
            deleting: self.deletion_timestamp,
            finalizers: self.finalizers,
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Condition {
    #[serde(rename = "type")]
    pub kind: String,
    pub status: String,
    pub reason: String,
    pub message: String,
    pub last_transition_time: Option<Timestamp>,
}

/// Conditions as facts.
pub fn conditions(conditions: Vec<Condition>) -> Vec<facts::Condition> {
    let of = |condition: Condition| facts::Condition {
        kind: condition.kind,
        status: condition.status,
        reason: condition.reason,
        message: condition.message,
        since: condition.last_transition_time,
    };
    conditions.into_iter().map(of).collect()
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Taint {
    pub key: String,
    pub value: String,
    pub effect: String,
}

/// Taints as facts.
pub fn taints(taints: Vec<Taint>) -> Vec<facts::Taint> {
    let of =
        |taint: Taint| facts::Taint { key: taint.key, value: taint.value, effect: taint.effect };
    taints.into_iter().map(of).collect()
}

/// A quantity is written as a string or, by people, as a number.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Quantity {
    Text(String),
    Number(serde_json::Number),
}

impl Quantity {
    pub fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Number(number) => number.to_string(),
        }
    }
}

/// Quantities by resource as facts.
pub fn quantities(quantities: BTreeMap<String, Quantity>) -> BTreeMap<String, String> {
    quantities.into_iter().map(|(resource, quantity)| (resource, quantity.into_text())).collect()
}

/// A term of a node affinity or of a NodePool's requirements.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Requirement {
    pub key: String,
    pub operator: String,
    pub values: Vec<String>,
}

/// Requirements as facts.
pub fn requirements(requirements: Vec<Requirement>) -> Vec<NodeRequirement> {
    let of = |term: Requirement| NodeRequirement {
        key: term.key,
        operator: term.operator,
        values: term.values,
    };
    requirements.into_iter().map(of).collect()
}
