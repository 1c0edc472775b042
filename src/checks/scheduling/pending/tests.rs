use serde_json::{Value, json};

use super::*;
use crate::{
    checks::testing::{Account, assert_rows},
    outcome::Status,
};

fn pod(name: &str, part: &Value) -> Value {
    let mut pod = json!({
        "meta": {"name": format!("{name}-1"), "namespace": "shop"},
        "owner": {"namespace": "shop", "kind": "Deployment", "name": name},
        "reason": "Unschedulable",
        "message": "0/3 nodes are available: 3 Insufficient cpu. preemption: 0/3 nodes are available",
        "since": "2026-01-10T09:30:00Z",
    });
    json_patch::merge(&mut pod, part);
    pod
}

fn pending(pods: &[Value]) -> Value {
    json!({"facts": {"kubernetes": {"workloads": {"pods": {"known": {
        "pending_total": pods.len(), "pending": pods}}}}}})
}

fn one(part: &Value) -> Value {
    pending(&[pod("web", part)])
}

fn says(message: &str) -> Value {
    let mut patch = one(&json!({}));
    let event = json!({"namespace": "shop", "object": "web-1", "message": message});
    patch["facts"]["kubernetes"]["workloads"]["scheduling_events"] =
        json!({"known": {"events": [event]}});
    patch
}

fn selects(key: &str, value: &str) -> Value {
    one(&json!({"node_selector": {key: value}}))
}

fn affinity(operator: &str, key: &str, values: &[&str]) -> Value {
    one(
        &json!({"required_node_affinity": [[{"key": key, "operator": operator, "values": values}]]}),
    )
}

/// The pools of the account, with this one in place of theirs.
fn with_pool(mut patch: Value, part: &Value) -> Value {
    let mut pool = json!({"meta": {"name": "gpu"}, "requirements": [],
        "node_class": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}});
    json_patch::merge(&mut pool, part);
    patch["facts"]["kubernetes"]["node_pools"] = json!({"known": [pool]});
    patch
}

/// A list that was cut off says nothing of the pods that are not in it.
#[test]
fn pods_that_nobody_looked_at_are_unknown() {
    let now = Account::KarpenterCluster.patched(&json!({})).collected_at;
    let mut patch = one(&json!({"since": now.to_string()}));
    patch["facts"]["kubernetes"]["workloads"]["pods"]["known"]["pending_total"] = json!(9000);
    assert_rows(Account::KarpenterCluster, &CHECK, &[("cut", patch, &[(Status::Unknown, "demo")])]);
}

#[test]
fn rows() {
    let now = Account::KarpenterCluster.patched(&json!({})).collected_at;
    let just = (now - SignedDuration::from_mins(1)).to_string();
    let denied = json!({"denied": {"action": "list events", "message": "forbidden"}});
    let mut no_events = one(&json!({}));
    no_events["facts"]["kubernetes"]["workloads"]["scheduling_events"] = denied.clone();
    let web = |status| [(status, "Deployment shop/web")];
    let demo = |status| [(status, "demo")];
    assert_rows(
        Account::KarpenterCluster,
        &CHECK,
        &[
            ("healthy", json!({}), &demo(Status::Pass)),
            ("one that a NodePool could take", one(&json!({})), &web(Status::Fail)),
            ("since a minute", one(&json!({"since": just})), &demo(Status::Pass)),
            ("gated", one(&json!({"reason": "SchedulingGated"})), &demo(Status::Pass)),
            ("of a DaemonSet", one(&json!({"owner": {"kind": "DaemonSet"}})), &demo(Status::Pass)),
            (
                "Karpenter's own",
                one(&json!({"owner": {"namespace": "kube-system", "name": "karpenter"}})),
                &demo(Status::Pass),
            ),
            (
                "a node group's label",
                selects("eks.amazonaws.com/nodegroup", "system"),
                &web(Status::Fail),
            ),
            ("events not readable", no_events, &demo(Status::Unknown)),
            (
                "no NodePool",
                json!({"facts": {"kubernetes": {"node_pools": {"known": []}}}}),
                &demo(Status::Skipped),
            ),
            (
                "pods not readable",
                json!({"facts": {"kubernetes": {"workloads": {"pods": denied}}}}),
                &demo(Status::Unknown),
            ),
            ("left alone", json!({"scope": {"no_kube": true}}), &demo(Status::Skipped)),
        ],
    );
    let auto = selects("eks.amazonaws.com/compute-type", "auto");
    assert_rows(
        Account::AutoModeCluster,
        &CHECK,
        &[
            ("healthy", json!({}), &demo(Status::Pass)),
            ("Auto Mode's own label", auto, &web(Status::Fail)),
        ],
    );
}

#[test]
fn each_is_explained() {
    let taint = json!({"taints": [{"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}]});
    let tolerates = |operator: &str, value: &str| {
        one(&json!({"tolerations": [{"key": "dedicated", "operator": operator, "value": value}]}))
    };
    let zone = "topology.kubernetes.io/zone";
    for (name, patch, error, seen) in [
        (
            "a label of managed node groups",
            selects("eks.amazonaws.com/nodegroup", "system"),
            "incompatible-label-unknown",
            "gives its nodes no such label as they select: eks.amazonaws.com/nodegroup In [system]",
        ),
        (
            "a zone without a subnet",
            selects(zone, "us-west-2d"),
            "incompatible-zone",
            "makes nodes in the zones us-west-2a, us-west-2b, us-west-2c, and they ask for the zone us-west-2d",
        ),
        (
            "a zone with one",
            selects(zone, "us-west-2b"),
            "insufficient-resources",
            "The scheduler says",
        ),
        (
            "an old name of the zone",
            selects("failure-domain.beta.kubernetes.io/zone", "us-west-2d"),
            "incompatible-zone",
            "us-west-2d",
        ),
        (
            "an architecture that the pool leaves out",
            selects("kubernetes.io/arch", "arm64"),
            "incompatible-requirement",
            "has kubernetes.io/arch In [amd64], and they ask for kubernetes.io/arch In [arm64]",
        ),
        (
            "anything but that architecture",
            affinity("NotIn", "kubernetes.io/arch", &["amd64"]),
            "incompatible-requirement",
            "NotIn [amd64]",
        ),
        (
            "a well-known label that no pool names",
            affinity("Gt", "karpenter.k8s.aws/instance-cpu", &["64"]),
            "insufficient-resources",
            "The scheduler says",
        ),
        (
            "the absence of a label",
            affinity("DoesNotExist", "example.com/team", &[]),
            "insufficient-resources",
            "The scheduler says",
        ),
        (
            "a taint",
            with_pool(one(&json!({})), &taint),
            "taint-not-tolerated",
            "has the taint dedicated=gpu:NoSchedule",
        ),
        (
            "a taint that is tolerated by another value",
            with_pool(tolerates("Equal", "cpu"), &taint),
            "taint-not-tolerated",
            "dedicated=gpu",
        ),
        (
            "a taint that is tolerated",
            with_pool(tolerates("Exists", ""), &taint),
            "insufficient-resources",
            "The scheduler says",
        ),
        (
            "a team's own label",
            with_pool(
                selects("nodes.ktp.io/role", "atom"),
                &json!({"labels": {"nodes.ktp.io/role": "apps"}}),
            ),
            "incompatible-requirement",
            "nodes.ktp.io/role In [apps]",
        ),
        (
            "Karpenter says spread",
            says(
                "Failed to schedule pod, unsatisfiable topology constraint for topology spread, key=topology.kubernetes.io/zone",
            ),
            "affinity-or-spread-unsatisfied",
            "Karpenter says of web-1",
        ),
        (
            "Karpenter says size",
            says(
                "Failed to schedule pod, no instance type has enough resources, requirements=x, resources={\"cpu\":\"900\"}",
            ),
            "no-instance-type-met",
            "no instance type has enough resources",
        ),
    ] {
        let found = Account::KarpenterCluster.judge(&CHECK, &patch).remove(0);
        assert_eq!(
            found.errors.first().map(|error| error.id.as_str()),
            Some(error),
            "{name}: {found:#?}"
        );
        assert!(found.seen.contains(seen), "{name}: {}", found.seen);
    }
}

#[test]
fn thousands_are_told_by_reason() {
    let kinds = [
        json!({"node_selector": {"eks.amazonaws.com/nodegroup": "system"}}),
        json!({"node_selector": {"kubernetes.io/arch": "arm64"}}),
        json!({"message": "0/9 nodes are available: 9 node(s) didn't match pod topology spread constraints"}),
    ];
    let pods: Vec<_> = (0..200).map(|i| pod(&format!("web-{i}"), &kinds[i % 3])).collect();
    let mut patch = pending(&pods);
    let workloads: Vec<_> =
        pods.iter().map(|pod| json!({"owner": pod["owner"], "pending": 10})).collect();
    patch["facts"]["kubernetes"]["workloads"]["pods"]["known"]["workloads"] = json!(workloads);
    let found = Account::KarpenterCluster.judge(&CHECK, &patch);
    assert_eq!(found.len(), 3, "{found:#?}");
    assert!(found[0].seen.starts_with("670 pods of Deployment shop/web-"), "{}", found[0].seen);
    assert!(found.iter().all(|outcome| outcome.seen.len() < 600), "{found:#?}");
}
