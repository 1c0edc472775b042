//! What the evaluator says, in a form for programs and in words for people.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::iam::globals::NOT_KNOWN_YET;
use crate::iam::layers::Layer;
use crate::iam::nearest::Nearest;

/// The answer to a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "decision", rename_all = "camelCase")]
pub enum Decision {
    Allowed {
        by: StatementRef,
    },
    /// A `Deny` statement applies.
    Denied {
        layer: Layer,
        statement: StatementRef,
    },
    /// Nothing in `layer` allows it.
    NotAllowed {
        layer: Layer,
        /// The statement that comes closest to allowing it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        nearest: Option<Nearest>,
    },
    /// It depends on values that nobody knows.
    Unknown {
        /// Condition keys, sorted.
        keys: Vec<String>,
        /// The first statement of which it depends whether it applies.
        layer: Layer,
        statement: StatementRef,
    },
}

/// A statement, named so that a person finds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StatementRef {
    pub policy: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sid: Option<String>,
    /// Its place in the document, from 0.
    pub index: usize,
}

impl Decision {
    pub fn is_allowed(&self) -> bool {
        matches!(self, Decision::Allowed { .. })
    }

    /// Denied or not allowed, for certain.
    pub fn is_refused(&self) -> bool {
        matches!(self, Decision::Denied { .. } | Decision::NotAllowed { .. })
    }
}

impl fmt::Display for StatementRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.sid {
            Some(sid) => write!(f, "statement {sid} of policy {}", self.policy),
            None => write!(f, "Statement[{}] of policy {}", self.index, self.policy),
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Decision::Allowed { by } => write!(f, "allowed by {by}"),
            Decision::Denied { layer, statement } => {
                write!(f, "denied by {statement} ({layer})")
            }
            Decision::NotAllowed { nearest: Some(nearest), .. } => nearest.fmt(f),
            Decision::NotAllowed { layer, nearest: None } => {
                write!(f, "no {layer} has a statement for it")
            }
            Decision::Unknown { keys, layer, statement } => {
                write!(f, "depends on {statement} ({layer}), which turns on ")?;
                let word = |key: &String| match key.as_str() {
                    NOT_KNOWN_YET => "what is not known yet".to_owned(),
                    key => key.to_owned(),
                };
                f.write_str(&enumerate(&keys.iter().map(word).collect::<Vec<_>>(), "and"))
            }
        }
    }
}

/// `a`, `a or b`, `a, b or c`; after four, the number of the rest.
pub(crate) fn enumerate<T: AsRef<str>>(items: &[T], last: &str) -> String {
    const SHOWN: usize = 4;
    let text = |items: &[T]| items.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ");
    match items {
        [] => "nothing".to_owned(),
        [one] => one.as_ref().to_owned(),
        [first @ .., end] if first.len() < SHOWN => {
            format!("{} {last} {}", text(first), end.as_ref())
        }
        many => format!("{} {last} {} more", text(&many[..SHOWN]), many.len() - SHOWN),
    }
}
