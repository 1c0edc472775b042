//! 5,000 nodes and 100,000 pods: the time and the memory of a run.

use std::{
    fs, thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use super::{ApiServer, Cluster, Items};
use crate::{
    cli::Tool,
    emulator::{Account, CLUSTER},
};

/// Highest resident memory, in MiB.
const MOST_MEMORY: u64 = 500;

/// A node of a real size: 13 KB, most of it images and managed fields.
fn node(n: usize) -> String {
    let images: Vec<_> = (0..50)
        .map(|i| format!(r#"{{"names":["registry.example/team/image-{i}@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef","registry.example/team/image-{i}:v1"],"sizeBytes":12345678}}"#))
        .collect();
    let zone = ["a", "b", "c"][n % 3];
    format!(
        r#"{{"metadata":{{"name":"ip-10-{}-{}-{}.us-west-2.compute.internal","creationTimestamp":"2026-01-10T09:30:00Z","labels":{{"kubernetes.io/arch":"amd64","kubernetes.io/os":"linux","node.kubernetes.io/instance-type":"m5.large","topology.kubernetes.io/zone":"us-west-2{zone}","karpenter.sh/nodepool":"default","karpenter.sh/capacity-type":"spot","team":"payments"}},"managedFields":[{{"manager":"kubelet","fieldsV1":{{"f:metadata":{{}}}}}}]}},"spec":{{"providerID":"aws:///us-west-2{zone}/i-{n:017x}"}},"status":{{"allocatable":{{"cpu":"1930m","memory":"7220184Ki","pods":"29"}},"conditions":[{{"type":"Ready","status":"True","reason":"KubeletReady"}},{{"type":"MemoryPressure","status":"False"}}],"nodeInfo":{{"kubeletVersion":"v1.35.2-eks-3abbec1"}},"images":[{}]}}}}"#,
        n / 65536,
        n / 256 % 256,
        n % 256,
        images.join(",")
    )
}

/// A pod of a real size: 7 KB.
fn pod(n: usize) -> String {
    let env: Vec<_> = (0..40)
        .map(|i| format!(r#"{{"name":"SETTING_NUMBER_{i}","value":"a value of some length for setting {i}, as people have them"}}"#))
        .collect();
    format!(
        r#"{{"metadata":{{"name":"web-{}-{n}","namespace":"team-{}","creationTimestamp":"2026-10-20T08:00:00Z","labels":{{"app":"web","pod-template-hash":"7d8f9c5b4"}},"ownerReferences":[{{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web-{}","uid":"u","controller":true}}],"managedFields":[{{"manager":"kube-controller-manager","fieldsV1":{{"f:metadata":{{"f:labels":{{}}}},"f:spec":{{"f:containers":{{}}}}}}}}]}},"spec":{{"nodeName":"ip-10-0-{}-{}.us-west-2.compute.internal","serviceAccountName":"default","containers":[{{"name":"web","image":"registry.example/team/web:v1","env":[{}],"resources":{{{}}}}}],"tolerations":[{{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}}],"volumes":[{{"name":"kube-api-access","projected":{{"sources":[]}}}}]}},"status":{{"phase":"Running","conditions":[{{"type":"Ready","status":"True"}},{{"type":"PodScheduled","status":"True"}}],"containerStatuses":[{{"name":"web","restartCount":0,"ready":true,"state":{{"running":{{}}}},"lastState":{{}}}}],"qosClass":"Burstable"}}}}"#,
        n / 20,
        n % 200,
        n / 20,
        n / 20 / 256 % 256,
        n / 20 % 256,
        env.join(","),
        if n.is_multiple_of(BARE) { "" } else { r#""requests":{"cpu":"100m","memory":"128Mi"}"# }
    )
}

const NODES: usize = 5_000;
const PODS: usize = 100_000;
/// One pod in so many asks for nothing.
const BARE: usize = 100;

#[test]
#[ignore = "half a minute and more: cargo test --test it scale -- --ignored --nocapture; with \
            PREFLIGHT_BINARY of a release build"]
fn a_large_cluster_is_read_in_little_memory() {
    let account = Account::seeded(&["getting-started"], "us-west-2");
    let cluster = Cluster::karpenter(&account)
        .with_items("Node", Items::Made(NODES, node))
        .with_items("Pod", Items::Made(PODS, pod));
    eprintln!("a node has {} bytes, a pod {}", node(1).len(), pod(1).len());
    let server = ApiServer::start(cluster);
    let facts = measured(
        "collect",
        Tool::new(["collect", "--cluster", CLUSTER, "--out", "-", "--kubeconfig"])
            .args([server.kubeconfig()])
            .args(["--timeout", "300"])
            .account(&account, &account.endpoint()),
    );
    let kubernetes = &facts["facts"]["kubernetes"];
    assert_eq!(kubernetes["nodes"]["known"].as_array().map(Vec::len), Some(NODES));
    assert_eq!(kubernetes["workloads"]["pods"]["known"]["total"], PODS);
    let report =
        measured("check", server.check(&account).args(["--timeout", "300", "--output", "json"]));
    let outcomes = report["outcomes"].as_array().unwrap();
    let of = |check: &str| -> Vec<_> {
        outcomes.iter().filter(|outcome| outcome["check"] == check).collect()
    };
    let [requests] = of("pod-requests")[..] else { panic!("{:#?}", of("pod-requests")) };
    assert_eq!(requests["status"], "warn", "{requests:#}");
    let words = format!("{} pods of", PODS / BARE);
    assert!(requests["seen"].as_str().unwrap().contains(&words), "{requests:#}");
    let unknown = outcomes.iter().filter(|outcome| outcome["status"] == "unknown");
    let unknown: Vec<_> = unknown.map(|outcome| &outcome["check"]).collect();
    assert!(outcomes.len() < 300, "{} outcomes", outcomes.len());
    eprintln!("{} outcomes, unknown: {unknown:?}", outcomes.len());
}

/// What the tool prints, which it must print in little memory.
fn measured(what: &str, tool: Tool) -> Value {
    let out = tempfile::NamedTempFile::new().unwrap();
    let since = Instant::now();
    let (mut child, _home) = tool.spawn_into(out.reopen().unwrap());
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        peak = peak.max(high_water(child.id()));
        thread::sleep(Duration::from_millis(20));
    }
    eprintln!("{what}: {:.1} s, {peak} MiB at the most", since.elapsed().as_secs_f64());
    assert!(peak > 10 && peak < MOST_MEMORY, "{what}: {peak} MiB");
    serde_json::from_str(&fs::read_to_string(out.path()).unwrap()).unwrap()
}

/// The most resident memory that a process has had so far, in MiB.
fn high_water(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kib.unwrap_or_default() / 1024
}
