//! The facts file: what was asked, what was read, and what reading it took.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Scope;
use crate::facts::Facts;

/// The version of the facts file that this build writes, and the newest it reads.
pub const SCHEMA_VERSION: u32 = 1;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saved {
    pub schema_version: u32,
    /// The version of karpenter-preflight that wrote it.
    pub tool_version: String,
    pub collected_at: Timestamp,
    pub scope: Scope,
    pub effort: Effort,
    pub facts: Facts,
}

/// What reading the facts took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Effort {
    /// API calls; a retry is not counted again.
    pub calls: usize,
    pub milliseconds: u64,
}

/// Why a facts file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("it is not a facts file of karpenter-preflight: {0}")]
    NotFacts(#[from] serde_json::Error),
    #[error("it is not a facts file of karpenter-preflight: it holds no facts")]
    NoFacts,
    #[error(
        "it has schema version {found}, and this build reads up to {SCHEMA_VERSION}: use the \
         karpenter-preflight that wrote it ({tool_version}) or a newer one"
    )]
    TooNew { found: u32, tool_version: String },
}

impl Saved {
    /// Reads a facts file; a newer schema than this build knows is refused.
    pub fn load(text: &str) -> Result<Self, LoadError> {
        #[derive(Deserialize)]
        struct Head {
            schema_version: u32,
            #[serde(default)]
            tool_version: String,
            #[serde(default)]
            facts: serde_json::Value,
        }
        // Editors on Windows put a byte order mark first.
        let text = text.trim_start_matches('\u{feff}');
        let head: Head = serde_json::from_str(text)?;
        if head.schema_version > SCHEMA_VERSION {
            return Err(LoadError::TooNew {
                found: head.schema_version,
                tool_version: head.tool_version,
            });
        }
        if head.schema_version == 0 || !head.facts.is_object() {
            return Err(LoadError::NoFacts);
        }
        Ok(serde_json::from_str(text)?)
    }

    /// The file's text: stable, with one trailing newline.
    pub fn to_text(&self) -> Result<String, serde_json::Error> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }
}
