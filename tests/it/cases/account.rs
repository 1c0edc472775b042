//! The healthy accounts, and what is said of one.

use std::{collections::BTreeSet, fs};

use karpenter_preflight::{
    checks::{self, Context, run},
    outcome::{Outcome, Status},
    target::{resolve::resolve, saved::Saved},
};
use serde::Deserialize;
use serde_json::Value;

use super::case::Problem;
use crate::emulator;

/// A healthy account to begin with (`tests/data/accounts`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Base {
    #[default]
    Karpenter,
    AutoMode,
    /// With the Kubernetes API read too.
    KarpenterCluster,
    AutoModeCluster,
}

impl Base {
    /// The facts file as JSON.
    pub fn facts(self) -> Value {
        let (account, cluster) = match self {
            Self::Karpenter => ("karpenter", None),
            Self::AutoMode => ("auto-mode", None),
            Self::KarpenterCluster => ("karpenter", Some("karpenter-cluster")),
            Self::AutoModeCluster => ("auto-mode", Some("auto-mode-cluster")),
        };
        let mut facts = read(account);
        if let Some(cluster) = cluster {
            json_patch::merge(&mut facts, &read(cluster));
        }
        facts
    }
}

fn read(name: &str) -> Value {
    let path = emulator::data(&format!("accounts/{name}.json"));
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// Everything that is said of an account.
pub fn judge(facts: &Value) -> Vec<Outcome> {
    let saved: Saved = serde_json::from_value(facts.clone()).expect("these are facts");
    let target = resolve(&saved.scope, &saved.facts);
    run::run(checks::ALL, &Context::new(&target, &saved))
}

/// What is wrong with an account.
pub fn problems(outcomes: &[Outcome]) -> BTreeSet<Problem> {
    let wrong = |outcome: &&Outcome| matches!(outcome.status, Status::Fail | Status::Warn);
    let problem = |outcome: &Outcome| {
        (outcome.check.clone(), outcome.status.as_str().to_owned(), outcome.subject.clone())
    };
    outcomes.iter().filter(wrong).map(problem).collect()
}

/// Check, status and subject of each outcome that is no pass, for a message.
pub fn table(outcomes: &[Outcome]) -> String {
    let told = outcomes.iter().filter(|o| !matches!(o.status, Status::Pass | Status::Skipped));
    let line =
        |o: &Outcome| format!("{} {} · {} · {}", o.status.as_str(), o.check, o.subject, o.seen);
    told.map(line).collect::<Vec<_>>().join("\n")
}
