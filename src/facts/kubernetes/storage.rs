//! How claims for volumes come to their volumes.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::workloads::Named;
use crate::facts::Fact;

/// Everything about volumes that claims wait for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Storage {
    pub classes: Fact<Vec<StorageClass>>,
    pub claims: Fact<Claims>,
}

/// What makes volumes, and when.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StorageClass {
    pub name: String,
    pub provisioner: String,
    /// Whether claims get it that name no class.
    pub is_default: bool,
    /// The volume is made at once, in whatever zone, and not where its first pod goes.
    pub immediate: bool,
}

/// The PersistentVolumeClaims, folded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Claims {
    /// How many there are of each class that is named, whatever came of them.
    pub by_class: BTreeMap<String, u32>,
    /// Those that have no volume yet.
    pub waiting: Vec<Waiting>,
    /// Those whose volume is gone.
    pub lost: Named,
}

/// The claims of one class that have no volume yet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Waiting {
    /// Empty where a claim wants a volume of no class; `None` where it leaves the class open.
    pub class: Option<String>,
    pub claims: Named,
    pub oldest: Option<Timestamp>,
}
