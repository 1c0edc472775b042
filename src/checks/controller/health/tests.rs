use serde_json::{Value, json};

use super::*;
use crate::{
    checks::testing::{Account, assert_rows},
    outcome::Status,
};

const SUBJECT: &str = "kube-system/karpenter";

/// A Deployment with this many ready replicas of two, and one pod.
fn one(ready: u32, pod: &Value) -> Value {
    let mut whole = json!({"meta": {"name": "karpenter-1", "namespace": "kube-system"},
        "service_account": "karpenter"});
    json_patch::merge(&mut whole, pod);
    json!({"facts": {"kubernetes": {
        "controllers": {"known": [{"meta": {"name": "karpenter", "namespace": "kube-system"},
            "service_account": "karpenter", "replicas": 2, "ready_replicas": ready}]},
        "controller_pods": {"known": [whole]}}}})
}

/// As a controller prints whose queue is not there.
const QUEUE: &str = "Error: panic: AWS.SimpleQueueService.NonExistentQueue: The specified queue \
                     does not exist or you do not have access to it.";
const BACK_OFF: &str = "CrashLoopBackOff: back-off 5m0s restarting failed \
                        container=controller pod=karpenter-1_kube-system(1)";

#[test]
fn rows() {
    let (pass, warn) = (&[(Status::Pass, SUBJECT)][..], &[(Status::Warn, SUBJECT)][..]);
    let (fail, unknown) = (&[(Status::Fail, SUBJECT)][..], &[(Status::Unknown, SUBJECT)][..]);
    let killed = |at: &str| json!({"ready": true, "last_ended": "OOMKilled", "last_ended_at": at});
    let none = json!({"facts": {"kubernetes": {"controllers": {"known": [
        {"meta": {"name": "karpenter", "namespace": "kube-system"}, "replicas": 0}]}}}});
    let crashed = json!({"waiting": BACK_OFF, "last_ended": QUEUE, "restarts": 7});
    let created = |waiting: &str| {
        let waiting = Some(waiting).filter(|waiting| !waiting.is_empty());
        json!({"waiting": waiting, "phase": "Running",
            "meta": {"created": "2026-11-01T11:00:00Z"}})
    };
    let pull = json!({"waiting": "ImagePullBackOff: Back-off pulling image \
        \"public.ecr.aws/karpenter/controller:1.0\""});
    assert_rows(
        Account::KarpenterCluster,
        &CHECK,
        &[
            ("ready", json!({}), pass),
            ("crashed", one(0, &crashed), fail),
            ("one of two crashed", one(1, &crashed), warn),
            ("crashed without a word", one(0, &json!({"waiting": BACK_OFF})), fail),
            ("no image", one(0, &pull), fail),
            ("starting", one(1, &json!({"waiting": "ContainerCreating"})), pass),
            ("starting for long", one(1, &created("ContainerCreating")), warn),
            ("never ready", one(0, &created("")), fail),
            ("no pod for the other", one(1, &json!({"ready": true})), warn),
            ("no node", one(0, &json!({"unscheduled": "0/2 nodes are available"})), unknown),
            ("out of memory today", one(2, &killed("2026-11-01T02:00:00Z")), warn),
            ("out of memory long ago", one(2, &killed("2026-10-01T02:00:00Z")), pass),
            ("scaled to nothing", none, fail),
            (
                "gone, and its nodes are there",
                json!({"facts": {"kubernetes": {"controllers": {"known": []}}}}),
                &[(Status::Fail, "demo")],
            ),
            (
                "never there",
                json!({"facts": {"kubernetes": {
                    "controllers": {"known": []}, "node_claims": {"known": []}}}}),
                &[(Status::Skipped, "demo")],
            ),
        ],
    );
}

#[test]
fn the_end_is_named() {
    for (pod, id) in [
        (json!({"waiting": BACK_OFF, "last_ended": QUEUE}), "non-existent-queue"),
        (json!({"waiting": BACK_OFF, "last_ended": "OOMKilled"}), "oom-killed"),
        (json!({"waiting": BACK_OFF, "last_ended": "Error"}), "controller-crash-loop"),
    ] {
        let found = Account::KarpenterCluster.judge(&CHECK, &one(0, &pod)).remove(0);
        assert_eq!(found.errors[0].id, id, "{found:#?}");
        let remedy = format!("{:?}", found.remedy);
        assert!(remedy.contains("kubectl logs karpenter-1"), "{remedy}");
    }
}
