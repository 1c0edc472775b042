use serde_json::{Value, json};

use super::*;
use crate::{
    checks::testing::{Account, assert_rows},
    outcome::Status,
};

const NODE: &str = "ip-10-0-1-50.us-west-2.compute.internal";

fn meta(name: &str, deleting: &str, finalizer: &str) -> Value {
    json!({"name": name, "deleting": format!("2026-11-01T{deleting}Z"), "finalizers": [finalizer]})
}

fn kubernetes(change: &Value) -> Value {
    json!({"facts": {"kubernetes": change}})
}

fn node(deleting: &str, finalizer: &str, taints: &Value) -> Value {
    kubernetes(&json!({"nodes": {"known": [
        {"meta": meta(NODE, deleting, finalizer), "taints": taints}]}}))
}

fn claim(conditions: &[(&str, &str)]) -> Value {
    let conditions = conditions.iter().map(
        |(kind, status)| json!({"type": kind, "status": status, "since": "2026-11-01T10:01:00Z"}),
    );
    let conditions: Vec<_> = conditions.collect();
    kubernetes(&json!({"node_claims": {"known": [{"meta": meta("c", "10:00:00", FINALIZER),
        "node": NODE, "conditions": conditions}]}}))
}

fn class(claims: &Value) -> Value {
    kubernetes(&json!({
        "ec2_node_classes": {"known": [
            {"meta": meta("default", "10:00:00", "karpenter.k8s.aws/termination")}]},
        "node_claims": {"known": claims}}))
}

fn and(mut patch: Value, more: &Value) -> Value {
    json_patch::merge(&mut patch, more);
    patch
}

#[test]
fn rows() {
    let node_subject = format!("node/{NODE}");
    let warn: &[(Status, &str)] = &[(Status::Warn, &node_subject)];
    let fail: &[(Status, &str)] = &[(Status::Fail, &node_subject)];
    let pass: &[(Status, &str)] = &[(Status::Pass, "demo")];
    let no_karpenter = kubernetes(&json!({"controllers": {"known": []}}));
    let denied = json!({"denied": {"action": "list nodes", "message": "forbidden"}});
    assert_rows(
        Account::KarpenterCluster,
        &CHECK,
        &[
            ("nothing", json!({}), pass),
            ("for a while", node("11:45:00", FINALIZER, &json!([])), pass),
            ("for long", node("10:00:00", FINALIZER, &json!([])), warn),
            ("no Karpenter", and(node("10:00:00", FINALIZER, &json!([])), &no_karpenter), fail),
            ("draining", claim(&[("Drained", "False")]), &[(Status::Warn, "nodeclaim/c")]),
            ("a node class", class(&json!([])), &[(Status::Warn, "ec2nodeclass/default")]),
            (
                "not readable",
                kubernetes(&json!({"nodes": denied})),
                &[(Status::Unknown, "nodes and NodeClaims")],
            ),
            ("not asked", json!({"scope": {"no_kube": true}}), &[(Status::Skipped, "demo")]),
        ],
    );
    assert_rows(Account::AutoModeCluster, &CHECK, &[("Auto Mode", json!({}), pass)]);
}

fn seen(patch: &Value) -> String {
    Account::KarpenterCluster.judge(&CHECK, patch).remove(0).seen
}

#[test]
fn the_step_is_told() {
    let taint = json!([{"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}]);
    for (patch, words) in [
        (node("10:00:00", FINALIZER, &json!([])), "lacks its taint"),
        (node("10:00:00", FINALIZER, &taint), "still being evicted"),
        (node("10:00:00", "example.com/x", &taint), "not Karpenter's"),
        (claim(&[("Drained", "Unknown")]), "still being evicted"),
        (claim(&[("Drained", "True"), ("VolumesDetached", "Unknown")]), "volumes"),
        (claim(&[("Drained", "True"), ("VolumesDetached", "True")]), "not yet terminated"),
        (claim(&[("Drained", "True"), ("VolumesDetached", "False")]), "not yet terminated"),
        (class(&json!([])), "instance profiles"),
        (
            class(&json!([{"meta": {"name": "c1"}, "node_class": {"kind": "EC2NodeClass",
                "name": "default"}}])),
            "waits for the NodeClaims c1",
        ),
    ] {
        assert!(seen(&patch).contains(words), "{}", seen(&patch));
    }
    assert!(seen(&node("10:00:00", FINALIZER, &taint)).contains("up to 2 hours"));
}

#[test]
fn thousands_are_counted() {
    let nodes: Vec<_> = (0..5_000)
        .map(|n| json!({"meta": meta(&format!("n{n:04}"), "10:00:00", FINALIZER)}))
        .collect();
    let patch = kubernetes(&json!({"nodes": {"known": nodes}}));
    let found = Account::KarpenterCluster.judge(&CHECK, &patch);
    assert_eq!(found.len(), 1);
    assert!(found[0].seen.contains("n0003 and 4996 more"), "{}", found[0].seen);
}
