use serde_json::{Value, json};

use super::*;
use crate::{
    checks::testing::{Account, assert_rows},
    outcome::Status,
};

const NAME: &str = "kube-system/karpenter";

fn node(name: &str, zone: &str, part: &Value) -> Value {
    let mut node = json!({
        "meta": {"name": name},
        "labels": {"kubernetes.io/os": "linux", "topology.kubernetes.io/zone": zone,
                   "eks.amazonaws.com/nodegroup": "system"},
        "allocatable": {"cpu": "1930m", "memory": "7220Mi", "pods": "29"},
    });
    json_patch::merge(&mut node, part);
    node
}

/// Two replicas, of which `placed` run on these nodes; the others find none.
fn cluster(nodes: &[Value], placed: &[&str]) -> Value {
    let mut patch = json!({"facts": {"kubernetes": {
        "nodes": {"known": nodes},
        "workloads": {"pods": {"known": {"node_use": null}}},
    }}});
    let pod = |i: usize| {
        json!({"meta": {"name": format!("karpenter-{i}"), "namespace": "kube-system"},
            "service_account": "karpenter", "node": placed.get(i), "ready": i < placed.len(),
            "unscheduled": if i < placed.len() { Value::Null } else {
                json!("0/1 nodes are available: 1 Insufficient memory.") }})
    };
    patch["facts"]["kubernetes"]["controller_pods"] = json!({"known": [pod(0), pod(1)]});
    patch["facts"]["fargate_profiles"] = json!({"known": []});
    patch
}

/// The same with a Fargate profile for pods of this namespace.
fn with_profile(mut patch: Value, namespace: &str) -> Value {
    patch["facts"]["fargate_profiles"] = json!({"known": [{"name": "karpenter",
        "status": "ACTIVE", "selectors": [{"namespace": namespace}]}]});
    patch
}

fn ready(mut patch: Value, ready: u32, part: &Value) -> Value {
    let saved = Account::KarpenterCluster.patched(&json!({}));
    let deployment = &saved.facts.kubernetes.controllers.value().expect("it is known")[0];
    let mut deployment = serde_json::to_value(deployment).expect("it can be written");
    json_patch::merge(&mut deployment, &json!({"ready_replicas": ready}));
    json_patch::merge(&mut deployment, part);
    patch["facts"]["kubernetes"]["controllers"] = json!({"known": [deployment]});
    patch
}

#[test]
fn rows() {
    let plain = || [node("a", "us-west-2a", &json!({}))];
    let none = json!({});
    let fargate = json!({"labels": {"eks.amazonaws.com/compute-type": "fargate"}});
    let own_label = json!({"labels": {"karpenter.sh/nodepool": "default"}});
    let selects = json!({"node_selector": {"team": "platform"}});
    let denied = json!({"denied": {"action": "list nodes", "message": "forbidden"}});
    let mut no_nodes = ready(cluster(&[], &["a"]), 1, &none);
    no_nodes["facts"]["kubernetes"]["nodes"] = denied;
    let name = |status| [(status, NAME)];
    let mut no_profiles = ready(cluster(&plain(), &["a"]), 1, &none);
    no_profiles["facts"]["fargate_profiles"] =
        json!({"denied": {"action": "eks:ListFargateProfiles", "message": "no"}});
    assert_rows(
        Account::KarpenterCluster,
        &CHECK,
        &[
            ("healthy", json!({}), &name(Status::Pass)),
            ("one node for two", ready(cluster(&plain(), &["a"]), 1, &none), &name(Status::Warn)),
            ("none runs", ready(cluster(&plain(), &[]), 0, &none), &name(Status::Fail)),
            (
                "two in one zone",
                ready(
                    cluster(
                        &[node("a", "us-west-2a", &none), node("b", "us-west-2a", &none)],
                        &["a", "b"],
                    ),
                    2,
                    &none,
                ),
                &name(Status::Warn),
            ),
            (
                "one replica is meant",
                ready(cluster(&plain(), &["a"]), 1, &json!({"replicas": 1})),
                &name(Status::Pass),
            ),
            (
                "on Fargate",
                ready(
                    cluster(&[node("f", "a", &fargate), node("g", "b", &fargate)], &["f", "g"]),
                    2,
                    &none,
                ),
                &name(Status::Pass),
            ),
            (
                "Karpenter's label left on managed nodes",
                ready(cluster(&[node("a", "us-west-2a", &own_label)], &[]), 0, &none),
                &[(Status::Fail, NAME), (Status::Warn, "demo")],
            ),
            (
                "a label that is not read",
                ready(cluster(&plain(), &[]), 0, &selects),
                &name(Status::Unknown),
            ),
            ("nodes not readable", no_nodes, &name(Status::Unknown)),
            (
                "pods older than the Fargate profile",
                with_profile(ready(cluster(&plain(), &["a"]), 1, &none), "kube-system"),
                &name(Status::Warn),
            ),
            ("profiles not readable", no_profiles, &name(Status::Unknown)),
            ("left alone", json!({"scope": {"no_kube": true}}), &[(Status::Skipped, "demo")]),
        ],
    );
    let rows = [("EKS runs it", json!({}), &[(Status::Skipped, "demo")][..])];
    assert_rows(Account::AutoModeCluster, &CHECK, &rows);
}

#[test]
fn before_an_install_the_chart_is_judged() {
    let before = |nodes: &[Value]| {
        let mut patch = cluster(nodes, &[]);
        patch["scope"] = json!({"stage": "before"});
        patch["facts"]["kubernetes"]["controllers"] = json!({"known": []});
        patch["facts"]["kubernetes"]["controller_pods"] = json!({"known": []});
        patch
    };
    let none = json!({});
    let fargate = json!({"labels": {"eks.amazonaws.com/compute-type": "fargate"}});
    let two = [node("a", "us-west-2a", &none), node("b", "us-west-2b", &none)];
    let name = |status| [(status, NAME)];
    assert_rows(
        Account::KarpenterCluster,
        &CHECK,
        &[
            ("two nodes in two zones", before(&two), &name(Status::Pass)),
            ("one node", before(&two[..1]), &name(Status::Warn)),
            ("none", before(&[]), &name(Status::Warn)),
            ("Fargate for others", before(&[node("f", "a", &fargate)]), &name(Status::Warn)),
            ("Fargate for others", with_profile(before(&[]), "shop"), &name(Status::Warn)),
            ("Fargate", with_profile(before(&[]), "kube-*"), &name(Status::Pass)),
        ],
    );
}

#[test]
fn each_node_says_why_it_takes_none() {
    let (small, taint) = (
        json!({"allocatable": {"memory": "900Mi"}}),
        json!({"taints": [{"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}]}),
    );
    let addons =
        json!({"taints": [{"key": "CriticalAddonsOnly", "value": "true", "effect": "NoSchedule"}]});
    for (part, seen) in [
        (json!({}), "a can take one."),
        (small, "1 short of memory"),
        (json!({"allocatable": {"cpu": "500m"}}), "1 short of CPU"),
        (json!({"allocatable": {"pods": "0"}}), "1 short of pods"),
        (taint, "1 tainted with dedicated:NoSchedule"),
        (addons, "a can take one."),
        (json!({"cordoned": true}), "1 cordoned or being deleted"),
        (json!({"labels": {"kubernetes.io/os": "windows"}}), "1 left out by its node selector"),
        (
            json!({"conditions": [{"type": "Ready", "status": "Unknown", "since": null}]}),
            "1 not Ready",
        ),
    ] {
        let patch = ready(cluster(&[node("a", "us-west-2a", &part)], &[]), 0, &json!({}));
        let found = Account::KarpenterCluster.judge(&CHECK, &patch).remove(0);
        assert!(found.seen.contains(seen), "{seen}: {}", found.seen);
    }
}

#[test]
fn what_is_used_is_not_free() {
    let mut patch = ready(cluster(&[node("a", "us-west-2a", &json!({}))], &[]), 0, &json!({}));
    patch["facts"]["kubernetes"]["workloads"]["pods"]["known"]["node_use"] =
        json!({"a": {"pods": 9, "cpu": 1000, "memory": 0}});
    let found = Account::KarpenterCluster.judge(&CHECK, &patch).remove(0);
    assert!(found.seen.contains("1 short of CPU"), "{}", found.seen);
}
