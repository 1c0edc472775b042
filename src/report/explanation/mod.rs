//! The answer of `explain`: the documented errors of a text, and with an account at hand which
//! cause it is.

mod causes;
mod denial;
pub(super) mod error;
pub mod human;
pub mod json;
mod network;
mod nothing;
mod rows;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::Serialize;

use super::Report;
use crate::{
    checks::{
        causes::{Verdict, verdicts},
        named::Named,
    },
    errors::{self, Counted, DecodedMessage, Denial, DocumentedError, Group, NetworkFault, Seen},
};

/// The version of the JSON answer (`schema/explanation.v1.json`).
pub const SCHEMA_VERSION: u32 = 1;

/// What a text shows, or what an id stands for.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Explanation {
    /// The version of this format.
    #[schemars(extend("const" = SCHEMA_VERSION))]
    pub schema_version: u32,
    /// The version of karpenter-preflight that answered.
    pub tool_version: String,
    /// How much was read; absent where an id was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<Input>,
    /// The documented errors, the most telling first.
    pub errors: Vec<ShownError>,
    /// The denied calls, in the order of the input.
    pub denials: Vec<ShownDenial>,
    /// The failed connections, in the order of the input.
    pub network: Vec<Counted<NetworkFault>>,
    /// How many more denied calls and failed connections there are, of kinds beyond those
    /// listed.
    pub unlisted: u64,
    /// Where nothing was recognised: documented errors that the text resembles.
    pub nearest: Vec<Near>,
    /// What the checks say that the causes name, as `check` reports it; only with an account
    /// or saved facts at hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<Report>,
    /// What the process exits with (`docs/exit-codes.md`).
    pub exit_code: u8,
}

/// How much was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Input {
    pub lines: u64,
    pub bytes: u64,
}

/// A documented error and where the input shows it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ShownError {
    pub entry: &'static DocumentedError,
    /// Absent where an id was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seen: Option<Seen>,
    /// Errors of the same input that are, as far as is known, consequences of this one.
    pub follow_ups: Vec<FollowUp>,
    /// One for each cause of the entry, in their order; only where `report` is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub verdicts: Vec<Verdict>,
}

/// An error that is the mere consequence of another.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FollowUp {
    pub id: &'static str,
    pub title: &'static str,
    pub seen: Seen,
}

/// A denied call.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ShownDenial {
    #[serde(flatten)]
    pub counted: Counted<Denial>,
    /// What its encoded message says, with `--decode`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decoded: Option<Decoding>,
}

/// What came of decoding a message.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decoding {
    Message(DecodedMessage),
    /// Why it could not be decoded.
    Failed(String),
}

/// A documented error that a text resembles.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Near {
    pub id: &'static str,
    pub title: &'static str,
    pub quote: &'static str,
    /// From 0 (nothing in common) to 1 (the same).
    pub likeness: f64,
}

impl Explanation {
    /// The answer to a text.
    pub fn of_text(found: errors::Explanation) -> Self {
        let denials = found.denials.into_iter();
        Self {
            input: Some(Input { lines: found.lines, bytes: found.bytes }),
            errors: found.groups.into_iter().map(ShownError::of_group).collect(),
            denials: denials.map(|counted| ShownDenial { counted, decoded: None }).collect(),
            network: found.network,
            unlisted: found.unlisted,
            nearest: found.nearest.into_iter().map(near).collect(),
            ..Self::empty()
        }
    }

    /// The answer to the id of an entry.
    pub fn of_entry(entry: &'static DocumentedError) -> Self {
        let error = ShownError { entry, seen: None, follow_ups: Vec::new(), verdicts: Vec::new() };
        Self { errors: vec![error], ..Self::empty() }
    }

    fn empty() -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            input: None,
            errors: Vec::new(),
            denials: Vec::new(),
            network: Vec::new(),
            unlisted: 0,
            nearest: Vec::new(),
            report: None,
            exit_code: 0,
        }
    }

    /// Whether nothing at all was recognised.
    pub fn is_empty(&self) -> bool {
        self.errors.is_empty() && self.denials.is_empty() && self.network.is_empty()
    }

    /// The entries of the errors, without those of mere consequences.
    pub fn entries(&self) -> Vec<&'static DocumentedError> {
        self.errors.iter().map(|error| error.entry).collect()
    }

    /// Adds what the checks of the causes say.
    pub fn judge(&mut self, report: Report) {
        let target = &report.target;
        let roles = target.controller_roles.iter().chain(&target.node_roles);
        let roles: Vec<_> = roles.map(|role| role.value.as_str()).collect();
        for error in &mut self.errors {
            let text = error.seen.as_ref().map(|seen| seen.sample.as_str());
            let named = text.map(|text| Named::of(text, &roles));
            error.verdicts = verdicts(error.entry, &report.outcomes, named.as_ref());
        }
        self.report = Some(report);
    }
}

impl ShownError {
    fn of_group(group: Group) -> Self {
        let follow_ups = group.follow_ups.into_iter();
        let follow_up = |group: Group| FollowUp {
            id: &group.entry.id,
            title: &group.entry.title,
            seen: group.seen,
        };
        Self {
            entry: group.entry,
            seen: Some(group.seen),
            follow_ups: follow_ups.map(follow_up).collect(),
            verdicts: Vec::new(),
        }
    }
}

fn near(near: errors::Near) -> Near {
    let entry = near.entry;
    Near { id: &entry.id, title: &entry.title, quote: &entry.quote, likeness: near.likeness }
}
