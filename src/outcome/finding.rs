//! A verdict, and what it rests on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Remedy;

/// A verdict on one subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub status: FindingStatus,
    /// What was seen, in one or two sentences with the real names.
    pub seen: String,
    /// What will happen, in words; empty for a pass.
    pub effect: String,
    /// Ids of the documented errors that the user would meet.
    pub errors: Vec<&'static str>,
    /// Of these errors, other words than those of the catalogue, for one that has several.
    pub wordings: Vec<(&'static str, &'static str)>,
    pub evidence: Vec<Evidence>,
    pub remedy: Option<Remedy>,
}

/// The three statuses that a judgement can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingStatus {
    Pass,
    Warn,
    Fail,
}

impl Finding {
    /// All is well with the subject.
    pub fn pass(seen: impl Into<String>) -> Self {
        Self::new(FindingStatus::Pass, seen, String::new())
    }

    /// It will hurt under the conditions that `effect` names.
    pub fn warn(seen: impl Into<String>, effect: impl Into<String>) -> Self {
        Self::new(FindingStatus::Warn, seen, effect)
    }

    /// It will stop something that `effect` names.
    pub fn fail(seen: impl Into<String>, effect: impl Into<String>) -> Self {
        Self::new(FindingStatus::Fail, seen, effect)
    }

    fn new(status: FindingStatus, seen: impl Into<String>, effect: impl Into<String>) -> Self {
        Self {
            status,
            seen: seen.into(),
            effect: effect.into(),
            errors: Vec::new(),
            wordings: Vec::new(),
            evidence: Vec::new(),
            remedy: None,
        }
    }

    /// Names the documented errors that the user would meet, the likeliest first.
    #[must_use]
    pub fn errors(mut self, ids: &[&'static str]) -> Self {
        self.errors.extend_from_slice(ids);
        self
    }

    /// Names documented errors in the words that the user would meet, each once.
    #[must_use]
    pub fn worded(
        mut self,
        errors: impl IntoIterator<Item = (&'static str, &'static str)>,
    ) -> Self {
        for (id, words) in errors {
            if !self.errors.contains(&id) {
                self.errors.push(id);
                self.wordings.push((id, words));
            }
        }
        self
    }

    /// Adds a value that the verdict rests on.
    #[must_use]
    pub fn evidence(
        mut self,
        api: impl Into<String>,
        path: impl Into<String>,
        value: impl Into<String>,
    ) -> Self {
        self.evidence.push(Evidence { api: api.into(), path: path.into(), value: value.into() });
        self
    }

    #[must_use]
    pub fn mend(mut self, remedy: Remedy) -> Self {
        self.remedy = Some(remedy);
        self
    }
}

/// A value that a verdict rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// The API that gave it, such as `iam:GetRole`.
    pub api: String,
    /// Where in its answer.
    pub path: String,
    pub value: String,
}
