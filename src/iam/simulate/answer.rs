//! One line of output.

use serde::{Deserialize, Serialize};

use crate::iam::decision::{Decision, StatementRef};
use crate::iam::layers::Layer;
use crate::iam::nearest::Nearest;

/// One line of output, but for the id that stands before it.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    pub decision: Word,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layer: Option<Layer>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statement: Option<StatementRef>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<Nearest>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown_keys: Vec<String>,
    /// The decision in words; what is wrong with the line where it is an error.
    #[serde(default)]
    pub message: String,
}

/// The decision as a word.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Word {
    Allowed,
    ImplicitDeny,
    ExplicitDeny,
    Unknown,
    /// The line cannot be read.
    #[default]
    Error,
}

impl From<Decision> for Answer {
    fn from(decision: Decision) -> Answer {
        let message = decision.to_string();
        let rest = Answer { message, ..Answer::default() };
        match decision {
            Decision::Allowed { by } => {
                Answer { decision: Word::Allowed, statement: Some(by), ..rest }
            }
            Decision::Denied { layer, statement } => Answer {
                decision: Word::ExplicitDeny,
                layer: Some(layer),
                statement: Some(statement),
                ..rest
            },
            Decision::NotAllowed { layer, nearest } => {
                Answer { decision: Word::ImplicitDeny, layer: Some(layer), nearest, ..rest }
            }
            Decision::Unknown { keys, layer, statement } => Answer {
                decision: Word::Unknown,
                layer: Some(layer),
                statement: Some(statement),
                unknown_keys: keys,
                ..rest
            },
        }
    }
}
