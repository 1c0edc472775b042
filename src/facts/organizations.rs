//! The organisation that the account belongs to, and its policies (Organizations).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Fact;

/// `organizations:DescribeOrganization`, and the policies that bear on one account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Organization {
    /// Such as `o-a1b2c3d4e5`; empty where nothing but its policies is known, of files.
    pub id: String,
    /// The account that owns the organisation: none of its policies limits that one.
    pub management_account: String,
    /// The account that `levels` lead to.
    pub account: String,
    /// From the root down to the account. Only the management account, and those that it
    /// delegates this to, may read them.
    #[serde(default)]
    pub levels: Fact<Vec<Level>>,
    /// Documents, as JSON text, of the policies that are attached at any level, by id.
    #[serde(default)]
    pub policies: BTreeMap<String, Fact<String>>,
}

/// The root, an organisational unit, or the account, and the policies that are attached there.
/// Without any, policies of that kind are not switched on in the organisation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Level {
    /// Such as `r-ab12`, `ou-ab12-c3d4e5f6` or the account's id.
    pub id: String,
    pub service_control: Fact<Vec<Attached>>,
    pub resource_control: Fact<Vec<Attached>>,
}

/// A policy, as it is attached.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Attached {
    /// Such as `p-a1b2c3d4`.
    pub id: String,
    pub name: String,
}

impl Organization {
    pub fn is_management_account(&self) -> bool {
        self.account == self.management_account
    }

    /// Whether it is known from files only, so that no command can name a part of it.
    pub fn is_of_files(&self) -> bool {
        self.id.is_empty()
    }

    /// `the organisation o-a1b2c3d4e5`.
    pub fn words(&self) -> String {
        format!("the organisation {}", self.id).trim_end().to_owned()
    }
}
