//! The command line from facts files, and where there is nothing to read: no AWS is needed.

mod exit_codes;
mod facts_file;
mod interrupt;
mod selection;
mod terminal;
mod unreachable;

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{cli::Tool, emulator};

/// Every format of `check --output`.
pub const FORMATS: [&str; 9] =
    ["human", "short", "json", "junit", "sarif", "markdown", "github", "prometheus", "html"];

/// A facts file in a folder of its own.
pub struct Facts {
    folder: TempDir,
}

impl Facts {
    /// The healthy Karpenter account, with some values replaced by JSON pointer.
    pub fn with(changes: &[(&str, Value)]) -> Self {
        let healthy = fs::read_to_string(emulator::data("accounts/karpenter.json")).unwrap();
        let mut facts: Value = serde_json::from_str(&healthy).unwrap();
        for (pointer, value) in changes {
            *facts.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer}")) = value.clone();
        }
        Self::of_text(&facts.to_string())
    }

    pub fn healthy() -> Self {
        Self::with(&[])
    }

    fn with_warning() -> Self {
        Self::with(&[("/facts/spot_role", json!("absent"))])
    }

    pub fn with_failure() -> Self {
        Self::with(&[("/facts/discovered_security_groups", json!({"known": []}))])
    }

    pub fn with_unknown() -> Self {
        let denied = json!({"denied": {"action": "iam:GetRole", "message": "not authorized"}});
        Self::with(&[("/facts/spot_role", denied)])
    }

    fn of_text(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("facts.json"), text).unwrap();
        Self { folder }
    }

    /// Where the file is.
    pub fn path(&self) -> String {
        self.folder.path().join("facts.json").to_str().unwrap().to_owned()
    }

    /// `check --facts FILE`.
    pub fn check(&self) -> Tool {
        Tool::new(["check", "--facts", &self.path()])
    }
}
