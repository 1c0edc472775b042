use serde_json::{Value, json};

use super::{fold::Fold, lists, *};
use crate::facts::kubernetes::workloads::{PENDING, PENDING_OF_ONE, WORKLOADS, Workload};

fn pod(name: &str, part: &Value) -> Value {
    let mut pod = json!({
        "metadata": {"name": name, "namespace": "shop", "labels": {"app": "web"},
                     "managedFields": [{"manager": "kubelet"}]},
        "spec": {"nodeName": "node-1", "containers": [{"name": "app", "image": "app:1"}]},
        "status": {"phase": "Running"},
    });
    json_patch::merge(&mut pod, part);
    pod
}

fn node(name: &str, pool: Option<&str>) -> Node {
    let labels: Value = pool.map_or(json!({}), |pool| json!({"karpenter.sh/nodepool": pool}));
    serde_json::from_value(json!({"meta": {"name": name}, "labels": labels})).unwrap()
}

fn folded(
    budgets: &[Budget],
    pods: impl IntoIterator<Item = Value>,
) -> (Pods, Vec<DisruptionBudget>) {
    let nodes = [node("node-1", Some("default")), node("node-2", None)];
    let mut fold = Fold::new(Some(&nodes), budgets);
    for pod in pods {
        fold.add(serde_json::from_value(pod).unwrap());
    }
    fold.finish()
}

fn one(part: &Value) -> Workload {
    folded(&[], [pod("web-1", part)]).0.workloads.remove(0)
}

fn owned(kind: &str, name: &str) -> Value {
    json!({"metadata": {"labels": {"pod-template-hash": "5c7b9d6f8"},
        "ownerReferences": [{"kind": kind, "name": name, "controller": true}]}})
}

#[test]
fn owners() {
    for (part, words) in [
        (json!({}), "Pod shop/web-1"),
        (owned("ReplicaSet", "web-5c7b9d6f8"), "Deployment shop/web"),
        (owned("ReplicaSet", "by-hand"), "ReplicaSet shop/by-hand"),
        (owned("Job", "backup-28391234"), "CronJob shop/backup"),
        (owned("Job", "migrate-2"), "Job shop/migrate-2"),
        (owned("StatefulSet", "db"), "StatefulSet shop/db"),
    ] {
        assert_eq!(one(&part).owner.words(), words);
    }
}

#[test]
fn requests_are_summed_as_the_scheduler_does() {
    let container =
        |cpu: &str| json!({"name": "c", "resources": {"requests": {"cpu": cpu, "memory": "1Gi"}}});
    let mut sidecar = container("100m");
    sidecar["restartPolicy"] = json!("Always");
    let placed = |spec: Value| {
        let mut part = json!({"spec": {"nodeName": "node-2"}});
        json_patch::merge(&mut part, &json!({"spec": spec}));
        let pods = folded(&[], [pod("web-1", &part)]).0;
        (pods.node_use["node-2"].cpu, pods.workloads[0].without_requests)
    };
    for (spec, expected) in [
        (json!({"containers": [container("1"), container("500m")]}), (1500, 0)),
        (json!({"containers": [container("1")], "initContainers": [container("2")]}), (2000, 0)),
        (json!({"containers": [container("1")], "initContainers": [sidecar]}), (1100, 0)),
        (json!({"containers": [container("1")], "overhead": {"cpu": "250m"}}), (1250, 0)),
        (json!({"containers": [{"name": "c", "resources": {"requests": {"cpu": 2}}}]}), (2000, 1)),
        (json!({}), (0, 1)),
    ] {
        assert_eq!(placed(spec.clone()), expected, "{spec}");
    }
}

#[test]
fn what_is_read_of_one() {
    let killed = one(&json!({
        "spec": {"containers": [{"name": "app", "resources": {"limits": {"memory": "512Mi"}}}]},
        "status": {"containerStatuses": [{"name": "app", "lastState": {"terminated":
            {"reason": "OOMKilled", "finishedAt": "2026-10-20T08:05:00Z"}}}]}}));
    assert_eq!(killed.oom_killed.pods.names, ["shop/web-1"]);
    assert_eq!(killed.oom_killed.limit.as_deref(), Some("512Mi"));
    let windows = one(&json!({"spec": {"nodeSelector":
        {"kubernetes.io/os": "windows", "node.kubernetes.io/windows-build": "10.0.20348"}}}));
    assert!(windows.windows.unwrap().builds.contains("10.0.20348"));
    let kept = one(&json!({"metadata": {"annotations": {"karpenter.sh/do-not-disrupt": "true"}}}));
    assert_eq!((kept.do_not_disrupt.count, kept.kept_nodes, kept.on_karpenter), (1, 1, 1));
    let for_a_while =
        one(&json!({"metadata": {"annotations": {"karpenter.sh/do-not-disrupt": "30m"}}}));
    assert_eq!(for_a_while.do_not_disrupt.count, 0);
    let ended = folded(&[], [pod("web-1", &json!({"status": {"phase": "Succeeded"}}))]).0;
    assert_eq!((ended.total, ended.workloads.len()), (0, 0));
}

#[test]
fn claims_are_counted_by_node() {
    let claim = json!({"persistentVolumeClaim": {"claimName": "data"}});
    let mut part = owned("StatefulSet", "db");
    part["spec"] = json!({"volumes": [claim, {"emptyDir": {}}, claim]});
    let mut elsewhere = part.clone();
    elsewhere["spec"]["nodeName"] = json!("node-2");
    elsewhere["spec"]["topologySpreadConstraints"] = json!([{"topologyKey": "x"}]);
    let pods = [pod("db-0", &part), pod("db-1", &part), pod("db-2", &elsewhere)];
    let db = folded(&[], pods).0.workloads.remove(0);
    assert_eq!((db.with_claims, db.claims_on_one_node, db.spread), (3, 4, true));
}

#[test]
fn budgets_hold_pods_of_karpenters_nodes() {
    let budget = |name: &str, selector: Value, allowed: i32| -> Budget {
        lists::budget(
            serde_json::from_value(json!({
            "metadata": {"name": name, "namespace": "shop"},
            "spec": {"selector": selector, "minAvailable": "100%"},
            "status": {"disruptionsAllowed": allowed, "expectedPods": 2}}))
            .unwrap(),
        )
    };
    let web = || json!({"matchLabels": {"app": "web"}});
    let pods = || {
        let other = json!({"spec": {"nodeName": "node-2"}});
        [pod("web-1", &json!({})), pod("web-2", &json!({})), pod("web-3", &other)]
    };
    let (all, blocking) = folded(&[budget("a", web(), 0), budget("b", Value::Null, 0)], pods());
    assert_eq!(blocking[0].pods.count, 2);
    assert_eq!((blocking[0].nodes, blocking[0].rule.as_str()), (1, "minAvailable: 100%"));
    assert_eq!(blocking[1].pods.count, 0);
    assert_eq!(all.of_two_budgets.count, 0);
    let exists = json!({"matchExpressions": [{"key": "app", "operator": "Exists"}]});
    let (all, blocking) = folded(&[budget("a", web(), 1), budget("b", exists, 1)], pods());
    assert_eq!((all.of_two_budgets.count, blocking.len()), (2, 0));
}

#[test]
fn pending_pods_are_kept_up_to_a_bound() {
    let waiting = |name: &str, owner: &str| {
        let mut part = owned("StatefulSet", owner);
        part["spec"] = json!({"nodeName": "", "nodeSelector": {"a": "b"},
            "tolerations": [{"key": "x", "operator": "Exists"}]});
        part["status"] = json!({"phase": "Pending", "conditions": [{"type": "PodScheduled",
            "status": "False", "reason": "Unschedulable", "message": "0/3 nodes are available",
            "lastTransitionTime": "2026-10-20T08:05:00Z"}]});
        pod(name, &part)
    };
    let pods = folded(&[], (0..10).map(|i| waiting(&format!("db-{i}"), "db"))).0;
    assert_eq!((pods.pending_total, pods.pending.len()), (10, PENDING_OF_ONE));
    assert_eq!(pods.pending[0].message, "0/3 nodes are available");
    assert_eq!(pods.workloads[0].pending, 10);
    let pods = folded(&[], (0..1000).map(|i| waiting("db", &format!("db-{i}")))).0;
    assert_eq!((pods.pending_total, pods.pending.len()), (1000, PENDING));
}

#[test]
fn workloads_are_kept_up_to_a_bound() {
    let many = u32::try_from(WORKLOADS).unwrap() + 50;
    let pods = folded(&[], (0..many).map(|i| pod(&format!("run-{i}"), &json!({})))).0;
    assert_eq!((pods.total, pods.workloads.len()), (many, WORKLOADS + 1));
    let rest = pods.workloads.iter().find(|workload| workload.owner.name.is_empty()).unwrap();
    assert_eq!(rest.pods.count, 50);
    assert_eq!(rest.owner.words(), "other Pods in shop");
}
