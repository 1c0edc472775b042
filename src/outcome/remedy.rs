//! How a finding is mended.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How to mend a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Remedy {
    /// What to do, in words.
    pub words: String,
    /// Steps in order, with the real names filled in.
    pub steps: Vec<Step>,
    /// The same as Terraform, where resources can stand for all of the steps that change AWS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terraform: Option<String>,
}

impl Remedy {
    pub fn new(words: impl Into<String>) -> Self {
        Self { words: words.into(), steps: Vec::new(), terraform: None }
    }

    /// Adds a shell command.
    #[must_use]
    pub fn run(mut self, command: impl Into<String>) -> Self {
        self.steps.push(Step::Command { command: command.into() });
        self
    }

    /// Adds a JSON document that a command of this remedy refers to by `file`.
    #[must_use]
    pub fn document(mut self, file: impl Into<String>, document: &serde_json::Value) -> Self {
        let document = serde_json::to_string_pretty(document).unwrap_or_default();
        self.steps.push(Step::Document { file: file.into(), document });
        self
    }
}

/// One step of a remedy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Step {
    /// A shell command, ready to run.
    Command { command: String },
    /// A JSON document to save under `file`, used by the next command.
    Document { file: String, document: String },
}
