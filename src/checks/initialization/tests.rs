use serde_json::{Value, json};

use super::*;
use crate::{
    checks::testing::{Account, assert_rows},
    outcome::{Status, Step},
};

const NODE: &str = "ip-10-0-1-50.us-west-2.compute.internal";

fn claim(name: &str, since: &str, initialized: &Value) -> Value {
    json!({
        "meta": {"name": name}, "node_pool": "gpu", "node": NODE,
        "requests": {"cpu": "1", "nvidia.com/gpu": "1"},
        "conditions": [
            {"type": "Registered", "status": "True", "since": since},
            initialized,
        ],
    })
}

fn waiting(reason: &str, message: &str) -> Value {
    json!({"type": "Initialized", "status": "Unknown", "reason": reason, "message": message,
           "since": null})
}

fn claims(claims: &[Value]) -> Value {
    json!({"facts": {"kubernetes": {"node_claims": {"known": claims}}}})
}

fn one(reason: &str, message: &str) -> Value {
    claims(&[claim("gpu-1", "2026-01-10T09:30:00Z", &waiting(reason, message))])
}

const NO_GPU: (&str, &str) =
    ("ResourceNotRegistered", "Resource \"nvidia.com/gpu\" was requested but not registered");

#[test]
fn rows() {
    let now = Account::KarpenterCluster.patched(&json!({})).collected_at;
    let just = (now - SignedDuration::from_mins(2)).to_string();
    let young = claims(&[claim("gpu-1", &just, &waiting(NO_GPU.0, NO_GPU.1))]);
    let two: Vec<_> = (0..300)
        .map(|i| {
            let reason =
                if i % 2 == 0 { NO_GPU } else { ("NodeNotReady", "Node status is NotReady") };
            claim(&format!("gpu-{i}"), "2026-01-10T09:30:00Z", &waiting(reason.0, reason.1))
        })
        .collect();
    let denied = json!({"denied": {"action": "list nodeclaims", "message": "forbidden"}});
    let fail = &[(Status::Fail, "nodepool/gpu")][..];
    assert_rows(
        Account::KarpenterCluster,
        &CHECK,
        &[
            ("healthy", json!({}), &[(Status::Pass, "demo")]),
            ("no device plug-in", one(NO_GPU.0, NO_GPU.1), fail),
            ("joined just now", young, &[(Status::Pass, "demo")]),
            (
                "a taint",
                one(
                    "StartupTaintsExist",
                    "StartupTaint \"example.com/agent:NoExecute\" still exists",
                ),
                fail,
            ),
            ("not Ready", one("NodeNotReady", "Node status is NotReady"), fail),
            ("no reason given", one("", ""), fail),
            (
                "hundreds for two reasons",
                claims(&two),
                &[(Status::Fail, "nodepool/gpu"), (Status::Fail, "nodepool/gpu")],
            ),
            ("no NodeClaim", claims(&[]), &[(Status::Skipped, "demo")]),
            (
                "not readable",
                json!({"facts": {"kubernetes": {"node_claims": denied}}}),
                &[(Status::Unknown, "demo")],
            ),
            ("left alone", json!({"scope": {"no_kube": true}}), &[(Status::Skipped, "demo")]),
        ],
    );
    assert_rows(
        Account::AutoModeCluster,
        &CHECK,
        &[("healthy", json!({}), &[(Status::Pass, "demo")])],
    );
}

#[test]
fn interfaces_for_pods_that_the_type_does_not_get() {
    let mut patch =
        one("ResourceNotRegistered", "Resource \"vpc.amazonaws.com/pod-eni\" was requested");
    patch["facts"]["kubernetes"]["cni"] = json!({"known": {"pod_eni": true}});
    let found = Account::KarpenterCluster.judge(&CHECK, &patch).remove(0);
    assert!(found.seen.contains("although the VPC CNI has ENABLE_POD_ENI=true"), "{}", found.seen);
    assert_eq!(found.errors[0].id, "pod-eni-unsupported");
    let steps = serde_json::to_string(&found.remedy.unwrap().steps).unwrap();
    assert!(!steps.contains("set env") && steps.contains("involvedObject.name=ip-10"), "{steps}");
}

#[test]
fn the_daemon_set_that_is_missing_is_named() {
    for (patch, seen, command) in [
        (one(NO_GPU.0, NO_GPU.1), "no DaemonSet here looks like it", "kubectl describe node ip-10"),
        (one("", ""), "do not offer nvidia.com/gpu", "kubectl describe node ip-10"),
        (
            one("ResourceNotRegistered", "Resource \"vpc.amazonaws.com/pod-eni\" was requested"),
            "ENABLE_POD_ENI=true",
            "kubectl set env daemonset aws-node",
        ),
        (
            one(
                "StartupTaintsExist",
                "StartupTaint \"ebs.csi.aws.com/agent-not-ready:NoExecute\" still",
            ),
            "kube-system/ebs-csi-node has 3 of 3 pods ready",
            "kubectl get pods --namespace kube-system",
        ),
    ] {
        let found = Account::KarpenterCluster.judge(&CHECK, &patch).remove(0);
        assert!(found.seen.contains(seen), "{}", found.seen);
        let steps = found.remedy.expect("it is mended").steps;
        let Step::Command { command: first } = &steps[0] else { panic!("{steps:?}") };
        assert!(first.contains(command), "{first}");
    }
}
