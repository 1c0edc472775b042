//! Accounts of an organisation, judged over HTTP.

use crate::{
    cli::Tool,
    emulator::Account,
    report::{Report, text},
};

const CHECK: &str = "organization-policies";

fn report(seeds: &'static [&'static str]) -> Report {
    Tool::check(&Account::seeded(seeds, "us-west-2")).report()
}

fn note(report: &Report) -> String {
    let notes = report.value["target"]["notes"].as_array().unwrap().iter();
    let mut notes = notes.map(|note| note.as_str().unwrap());
    notes.find(|note| note.contains("SCPs and RCPs")).unwrap_or_default().to_owned()
}

#[test]
fn policies_that_are_read_are_judged_with_their_conditions() {
    let report = report(&["getting-started", "organization"]);
    assert_eq!((report.code, report.count("fail")), (0, 0), "{}", report.table());
    assert!(report.checks("pass").contains(CHECK), "{}", report.table());
    assert!(note(&report).contains("at 3 levels"), "{}", note(&report));
    let calls = report.value["effort"]["calls"].as_u64().unwrap();
    eprintln!("{calls} calls in an organisation whose policies are read");
    assert!(calls <= 80, "{calls} calls");
}

#[test]
fn a_service_control_policy_is_named_as_the_cause() {
    let report = report(&["getting-started", "organization-denying"]);
    assert_eq!(report.code, 1, "{}", report.table());
    for check in [CHECK, "controller-permissions"] {
        assert!(report.checks("fail").contains(check), "{}", report.table());
    }
    let outcome = report.of_status("fail").find(|o| text(o, "check") == CHECK).unwrap();
    let seen = text(outcome, "seen");
    assert!(seen.starts_with("The service control policy Guardrails (p-"), "{seen}");
    assert!(seen.contains("ec2:CreateLaunchTemplate from demo-karpenter"), "{seen}");
    let remedy = outcome["remedy"].to_string();
    assert!(remedy.contains("aws organizations update-policy --policy-id p-"), "{remedy}");
    assert!(remedy.contains("role/demo-karpenter"), "{remedy}");
}

#[test]
fn a_member_that_may_not_read_them_is_told_so() {
    let report = report(&["getting-started", "organization-hidden"]);
    assert_eq!((report.code, report.count("unknown")), (0, 0), "{}", report.table());
    assert!(report.checks("skipped").contains(CHECK), "{}", report.table());
    assert!(note(&report).contains("judged without"), "{}", note(&report));
}

#[test]
fn an_account_of_its_own_has_none() {
    let report = report(&["getting-started"]);
    assert!(report.checks("skipped").contains(CHECK), "{}", report.table());
    assert_eq!(note(&report), "");
}
