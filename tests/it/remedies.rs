//! What the remedies of all cases tell people to run is what the programs take.

use std::{
    io::Write,
    process::{Command, Stdio},
};

use karpenter_preflight::{
    checks::{self, Context},
    outcome::{ExitCode, Outcome},
    report::{Report, fix_script},
    target::{resolve::resolve, saved::Saved},
};
use serde_json::{Value, json};

use crate::{cases, emulator, terraform::Terraform};

/// The fix script and the remedies of an account.
fn remedies(name: &str, facts: &Value) -> Value {
    let saved: Saved = serde_json::from_value(facts.clone()).unwrap();
    let target = resolve(&saved.scope, &saved.facts);
    let outcomes = checks::run::run(checks::ALL, &Context::new(&target, &saved));
    let remedies: Vec<_> = outcomes.iter().filter_map(|o: &Outcome| o.remedy.as_ref()).collect();
    let remedies = json!(remedies);
    let report = Report::new(&saved, &target, outcomes, ExitCode::Findings);
    let mut script = Vec::new();
    fix_script::write(&report, "karpenter-preflight check --cluster demo", &mut script).unwrap();
    json!({"name": name, "script": String::from_utf8(script).unwrap(), "remedies": remedies})
}

#[test]
fn the_programs_take_what_remedies_say() {
    let reports: Vec<_> =
        cases::accounts().iter().map(|(name, facts)| remedies(name, facts)).collect();
    let mut lint = Command::new(emulator::root().join("tests/emulator/lint_remedies.sh"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    lint.stdin.take().unwrap().write_all(json!(reports).to_string().as_bytes()).unwrap();
    let output = lint.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
}

/// The resources of all cases, each address once, held against the real Terraform.
#[test]
fn terraform_takes_what_remedies_say() {
    let mut blocks = std::collections::BTreeMap::new();
    let mut kinds = std::collections::BTreeSet::new();
    for (_, facts) in cases::accounts() {
        let saved: Saved = serde_json::from_value(facts.clone()).unwrap();
        let target = resolve(&saved.scope, &saved.facts);
        let outcomes = checks::run::run(checks::ALL, &Context::new(&target, &saved));
        let report = Report::new(&saved, &target, outcomes, ExitCode::Findings);
        let remedies = report.outcomes.iter().filter_map(|outcome| outcome.remedy.as_ref());
        for text in remedies.filter_map(|remedy| remedy.terraform.as_ref()) {
            for block in text.trim_end().split("\n\n") {
                let address = block.lines().next().unwrap().to_owned();
                kinds.insert(address.split('"').nth(1).unwrap().to_owned());
                blocks.insert(address, format!("{block}\n"));
            }
        }
    }
    for kind in [
        "aws_cloudwatch_event_rule",
        "aws_ec2_instance_metadata_defaults",
        "aws_ec2_tag",
        "aws_eks_access_entry",
        "aws_iam_role_policy",
        "aws_sqs_queue",
    ] {
        assert!(kinds.contains(kind), "no {kind} among {kinds:?}");
    }
    let Some(terraform) = Terraform::here() else { return };
    terraform.write("main.tf", &blocks.into_values().collect::<Vec<_>>().join("\n"));
    terraform.run(&["init", "-input=false"]);
    terraform.run(&["fmt", "-check", "-diff"]);
    terraform.run(&["validate"]);
}
