use serde_json::{Value, json};

use super::*;
use crate::{
    checks::testing::{Account, assert_rows},
    outcome::Status,
};

fn condition(kind: &str, status: &str, reason: &str, message: &str, since: &str) -> Value {
    let since = format!("2026-11-01T{since}Z");
    json!({"type": kind, "status": status, "reason": reason, "message": message, "since": since})
}

fn claim(name: &str, conditions: &Value) -> Value {
    json!({"meta": {"name": name, "created": "2026-11-01T11:30:00Z"}, "node_pool": "default",
        "conditions": conditions})
}

fn claims(claims: &[Value]) -> Value {
    json!({"facts": {"kubernetes": {"node_claims": {"known": claims}}}})
}

/// As the blog shows it.
fn launch_failed(name: &str) -> Value {
    claim(
        name,
        &json!([
            condition(
                "Initialized",
                "Unknown",
                "AwaitingReconciliation",
                "object is awaiting reconciliation",
                "11:59:00"
            ),
            condition(
                "Launched",
                "Unknown",
                "LaunchFailed",
                "Error getting launch template configs",
                "11:59:00"
            ),
            condition(
                "Registered",
                "Unknown",
                "NodeNotFound",
                "Node not registered with cluster",
                "11:59:00"
            ),
            condition(
                "Ready",
                "Unknown",
                "ReconcilingDependents",
                "Initialized=Unknown, Launched=Unknown, Registered=Unknown",
                "11:59:00"
            )
        ]),
    )
}

fn not_registered(name: &str, launched: &str) -> Value {
    claim(
        name,
        &json!([
            condition("Launched", "True", "Launched", "", launched),
            condition(
                "Registered",
                "Unknown",
                "NodeNotFound",
                "Node not registered with cluster",
                launched
            )
        ]),
    )
}

#[test]
fn rows() {
    let subject = "nodeclaim/a";
    let new = claim(
        "a",
        &json!([condition(
            "Launched",
            "Unknown",
            "AwaitingReconciliation",
            "object is awaiting reconciliation",
            "11:58:00"
        )]),
    );
    let old = claim(
        "a",
        &json!([condition(
            "Launched",
            "Unknown",
            "AwaitingReconciliation",
            "object is awaiting reconciliation",
            "11:50:00"
        )]),
    );
    let smaller = claim(
        "a",
        &json!([
            condition("Launched", "True", "", "", "11:00:00"),
            condition("Registered", "True", "", "", "11:00:00"),
            condition(
                "ConsistentStateFound",
                "False",
                "ConsistencyCheckFailed",
                "Consistency Check Failed",
                "11:00:00"
            )
        ]),
    );
    let mut leaving = not_registered("a", "11:00:00");
    leaving["meta"]["deleting"] = json!("2026-11-01T11:59:00Z");
    assert_rows(
        Account::KarpenterCluster,
        &CHECK,
        &[
            ("ready", json!({}), &[(Status::Pass, "demo")]),
            ("launch failed", claims(&[launch_failed("a")]), &[(Status::Fail, subject)]),
            ("new", claims(&[new]), &[(Status::Pass, "demo")]),
            ("nobody looks at it", claims(&[old]), &[(Status::Fail, subject)]),
            ("starting", claims(&[not_registered("a", "11:58:00")]), &[(Status::Pass, "demo")]),
            ("late", claims(&[not_registered("a", "11:52:00")]), &[(Status::Warn, subject)]),
            ("given up", claims(&[not_registered("a", "11:44:00")]), &[(Status::Fail, subject)]),
            ("smaller", claims(&[smaller]), &[(Status::Warn, subject)]),
            ("being deleted", claims(&[leaving]), &[(Status::Skipped, "demo")]),
            ("none", claims(&[]), &[(Status::Skipped, "demo")]),
        ],
    );
    let pass = &[(Status::Pass, "demo")];
    assert_rows(Account::AutoModeCluster, &CHECK, &[("Auto Mode", json!({}), pass)]);
}

#[test]
fn many_with_one_fault_are_one_finding() {
    let mut all: Vec<_> = (0..3_000).map(|n| launch_failed(&format!("a{n:04}"))).collect();
    all.extend((0..2_000).map(|n| not_registered(&format!("b{n:04}"), "11:30:00")));
    let found = Account::KarpenterCluster.judge(&CHECK, &claims(&all));
    let subjects: Vec<_> = found.iter().map(|outcome| outcome.subject.as_str()).collect();
    assert_eq!(subjects, ["nodeclaim/a0000", "nodeclaim/b0000"]);
    assert!(found[0].seen.contains("a0003 and 2996 more"), "{}", found[0].seen);
    let ids: Vec<_> = found.iter().map(|outcome| outcome.errors[0].id.as_str()).collect();
    assert_eq!(ids, ["launch-template-configs", "node-not-registered"]);
}

/// Of each NodeClaim AWS says another id.
#[test]
fn faults_that_differ_by_ids_are_one() {
    let denied = |n: usize, action: &str| {
        let mut claim = launch_failed(&format!("a{n:03}"));
        claim["conditions"][1]["message"] = json!(format!(
            "creating instance, api error Unauthorized: {action}, RequestID: \
             4f8e1c2a-0000-4000-8000-{n:012}, instance i-{n:017}"
        ));
        claim
    };
    let all: Vec<_> = (0..40).map(|n| denied(n, "ec2:CreateFleet")).collect();
    let found = Account::KarpenterCluster.judge(&CHECK, &claims(&all));
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].seen.contains("a003 and 36 more"), "{}", found[0].seen);
    let all: Vec<_> = (0..40).map(|n| denied(n, &format!("other{n}"))).collect();
    let found = Account::KarpenterCluster.judge(&CHECK, &claims(&all));
    assert_eq!(found.len(), FAULTS);
    assert!(found[0].seen.contains("34 more NodeClaims have other faults"), "{}", found[0].seen);
}
