//! From where on something is too little, where the user says so.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de::Error};

/// What the user demands beyond what a node needs. Saved with the facts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Thresholds {
    /// Free IPv4 addresses that each subnet for nodes shall have; fewer are a warning. Below what
    /// one node needs, it is taken instead of that.
    pub free_addresses: Option<u32>,
    /// Share of each quota, in percent, that shall be left; less is a warning. Without it, of
    /// vCPUs a fifth and room for eight nodes, of instance profiles a tenth.
    #[serde(deserialize_with = "percent")]
    #[schemars(range(min = 0, max = 100))]
    pub quota_headroom: Option<u8>,
}

fn percent<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u8>, D::Error> {
    let share = Option::<u8>::deserialize(from)?;
    match share {
        Some(101..) => Err(D::Error::custom("write a share in percent, 0 to 100")),
        share => Ok(share),
    }
}

impl Thresholds {
    /// These, and `other`'s where these say nothing.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            free_addresses: self.free_addresses.or(other.free_addresses),
            quota_headroom: self.quota_headroom.or(other.quota_headroom),
        }
    }
}
