//! A case: where it was reported, what is wrong with the account, what must be found.

use std::{collections::BTreeSet, fs};

use serde::Deserialize;

use super::{account::Base, edit::Edit};
use crate::emulator;

/// Check, status and subject.
pub type Problem = (String, String, String);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    case: Vec<Case>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    pub id: String,
    /// Where it was reported.
    pub source: String,
    /// What is wrong, in our own words.
    pub what: String,
    /// The report does not establish its cause.
    #[serde(default)]
    pub weak: bool,
    /// Why no API shows it.
    pub not_detectable: Option<String>,
    /// What must be there before it can be found.
    pub awaits: Option<String>,
    #[serde(default)]
    pub account: Base,
    #[serde(default)]
    pub edits: Vec<Edit>,
    #[serde(default)]
    pub finds: Vec<Found>,
    /// The account with something else that does not matter: the same must be found.
    #[serde(default)]
    pub alike: Vec<Sibling>,
    /// The broken account with what matters put right, each in its own way: nothing is found.
    #[serde(default)]
    pub mended: Vec<Sibling>,
    /// Why it cannot be told of another partition.
    pub one_partition: Option<String>,
    /// Why it cannot be told of another region, and so of another partition.
    pub one_region: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sibling {
    pub what: String,
    pub edits: Vec<Edit>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Found {
    pub check: String,
    pub status: String,
    pub subject: String,
}

impl Case {
    /// Whether the tool finds it.
    pub fn is_detected(&self) -> bool {
        self.not_detectable.is_none() && self.awaits.is_none()
    }

    pub fn expected(&self) -> BTreeSet<Problem> {
        let found = self.finds.iter();
        found.map(|f| (f.check.clone(), f.status.clone(), f.subject.clone())).collect()
    }
}

/// Every case, by file and in its order.
pub fn all() -> Vec<Case> {
    of_folder("tests/cases")
}

/// Kinds beyond the reports; the healthy account is what mends them.
pub fn kinds() -> Vec<Case> {
    of_folder("tests/cases/kinds")
}

fn of_folder(folder: &str) -> Vec<Case> {
    let folder = emulator::root().join(folder);
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    let toml = paths.into_iter().filter(|path| path.extension().is_some_and(|e| e == "toml"));
    let read = |path: std::path::PathBuf| {
        let file: File = toml::from_str(&fs::read_to_string(&path).unwrap())
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        file.case
    };
    toml.flat_map(read).collect()
}
