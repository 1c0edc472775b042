//! Accounts that are right: nothing may be found wrong with them.

use std::{collections::BTreeSet, fs};

use karpenter_preflight::requirements::{kubernetes, versions};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    account::{Base, judge, problems, table},
    edit::{self, Edit},
};
use crate::emulator;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    account: Vec<Correct>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Correct {
    what: String,
    base: Base,
    #[serde(default)]
    edits: Vec<Edit>,
    /// Checks that may warn.
    #[serde(default)]
    warns: BTreeSet<String>,
}

fn all() -> Vec<Correct> {
    let path = emulator::root().join("tests/cases/correct/installs.toml");
    let file: File = toml::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    file.account
}

fn assert_right(what: &str, facts: &Value, warns: &BTreeSet<String>) {
    let outcomes = judge(facts);
    let wrong: Vec<_> = problems(&outcomes)
        .into_iter()
        .filter(|(check, status, _)| status == "fail" || !warns.contains(check))
        .collect();
    assert!(wrong.is_empty(), "{what}: {wrong:?}\n{}", table(&outcomes));
}

#[test]
fn what_installers_leave_is_right() {
    for Correct { what, base, edits, warns } in all() {
        let mut facts = base.facts();
        edit::apply(&edits, &mut facts);
        assert_right(&what, &facts, &warns);
    }
}

/// The guide's account with each release, its own policy, and every Kubernetes version that it is
/// meant for.
#[test]
fn the_guide_is_right_with_each_release() {
    for minor in versions::minors() {
        let version = minor.newest.to_string();
        let range = kubernetes::range(minor.newest);
        for kubernetes in [range.min, range.max] {
            let mut facts = Base::Karpenter.facts();
            facts["scope"]["karpenter_version"] = json!(version);
            facts["facts"]["cluster"]["known"]["version"] = json!(kubernetes.to_string());
            edit::policy_of(&mut facts, &version);
            with_images(&mut facts, &kubernetes.to_string());
            let what = format!("Karpenter {version} on Kubernetes {kubernetes}");
            assert_right(&what, &facts, &BTreeSet::new());
        }
    }
}

/// AWS publishes images for the Kubernetes version.
fn with_images(facts: &mut Value, kubernetes: &str) {
    for architecture in ["x86_64", "arm64"] {
        let name = format!(
            "/aws/service/eks/optimized-ami/{kubernetes}/amazon-linux-2023/{architecture}/standard/\
             recommended/image_id"
        );
        facts["facts"]["image_parameters"][name] = json!({"known": {"image_id": "ami-1"}});
    }
}
