//! The JSON report, as a test looks at it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// A check and its subject.
pub type Key = (String, String);

/// A report with the exit code of the process that printed it.
#[derive(Debug, Clone)]
pub struct Report {
    pub value: Value,
    pub code: i32,
}

impl Report {
    pub fn new(value: Value, code: i32) -> Self {
        assert_eq!(value["exit_code"], code, "the report and the process disagree");
        Self { value, code }
    }

    pub fn outcomes(&self) -> &[Value] {
        self.value["outcomes"].as_array().unwrap()
    }

    /// Every outcome by check and subject.
    pub fn by_key(&self) -> BTreeMap<Key, &Value> {
        let key = |outcome: &Value| (text(outcome, "check"), text(outcome, "subject"));
        let by_key: BTreeMap<_, _> =
            self.outcomes().iter().map(|outcome| (key(outcome), outcome)).collect();
        assert_eq!(by_key.len(), self.outcomes().len(), "a subject is judged twice");
        by_key
    }

    pub fn of_status<'a>(&'a self, status: &'a str) -> impl Iterator<Item = &'a Value> {
        self.outcomes().iter().filter(move |outcome| outcome["status"] == status)
    }

    /// The checks with an outcome of this status.
    pub fn checks(&self, status: &str) -> BTreeSet<String> {
        self.of_status(status).map(|outcome| text(outcome, "check")).collect()
    }

    /// The documented errors that outcomes of a status quote.
    pub fn errors(&self, status: &str) -> BTreeSet<String> {
        let errors = self.of_status(status).filter_map(|outcome| outcome["errors"].as_array());
        errors.flatten().map(|error| text(error, "id")).collect()
    }

    pub fn count(&self, status: &str) -> u64 {
        self.value["counts"][status].as_u64().unwrap()
    }

    /// The report without what differs from run to run: the time, and how long it took.
    pub fn without_time(&self) -> Value {
        let mut value = self.value.clone();
        value["collected_at"] = Value::Null;
        value["effort"]["milliseconds"] = Value::Null;
        value
    }

    /// Check, subject and status of each outcome, for a message.
    pub fn table(&self) -> String {
        let line = |outcome: &Value| {
            let part = |name| text(outcome, name);
            format!(
                "{:<8} {} · {} · {}",
                part("status"),
                part("check"),
                part("subject"),
                part("seen")
            )
        };
        self.outcomes().iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

pub fn text(value: &Value, field: &str) -> String {
    value[field].as_str().unwrap_or_default().to_owned()
}
