//! From where on something is too little, where the user says so.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the user demands beyond what a node needs. Saved with the facts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Thresholds {
    /// Free IPv4 addresses that each subnet for nodes shall have; fewer are a warning. Below what
    /// one node needs, it is taken instead of that.
    pub free_addresses: Option<u32>,
}

impl Thresholds {
    /// These, and `other`'s where these say nothing.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self { free_addresses: self.free_addresses.or(other.free_addresses) }
    }
}
