//! The calls that runs make are read-only, and exactly those of the published policy.

use std::{collections::BTreeSet, fs};

use serde_json::{Value, json};

use crate::{
    cli::Tool,
    cluster::{ApiServer, Cluster, fargate, rbac},
    emulator::{self, Account, CLUSTER},
    proxy::{Plan, Proxy},
};

type Seeds = &'static [&'static str];

/// Runs that between them come through every branch of the schedule.
const SCENARIOS: &[(Seeds, &[&str])] = &[
    (&["getting-started"], &["--cluster", CLUSTER]),
    (&["getting-started"], &["--cluster", CLUSTER, "--interruption-queue", CLUSTER]),
    (&["getting-started"], &["--cluster", CLUSTER, "--node-role", "a", "--controller-role", "b"]),
    (&["getting-started"], &["--cluster", "no-such-cluster"]),
    (&["getting-started", "organization"], &["--cluster", CLUSTER]),
    (&["terraform-module"], &["--cluster", CLUSTER]),
    (&["eksctl-irsa"], &["--cluster", CLUSTER]),
    (&["auto-mode"], &["--cluster", CLUSTER]),
    (&["seeds-broken"], &["--cluster", CLUSTER]),
    (&["getting-started", "faults-network"], &["--cluster", CLUSTER]),
    (&["getting-started", "faults-limits"], &["--cluster", CLUSTER]),
];

fn made() -> BTreeSet<String> {
    let mut made = BTreeSet::new();
    for (seeds, args) in SCENARIOS {
        let account = Account::seeded(seeds, "us-west-2");
        let proxy = Proxy::start(Plan::default());
        let ran = Tool::new(["check"]).args(*args).aws(&account, &proxy.endpoint).run();
        assert!(ran.code != 2, "{ran:#?}");
        made.extend(proxy.log().into_iter().map(|logged| logged.operation.to_string()));
    }
    made.extend(made_for_node_classes());
    let account = fargate::account("kube-system");
    made.extend(made_in_cluster(&account, fargate::one_replica_waits(&account)));
    made
}

/// What is asked because of a NodeClass that uses everything.
fn made_for_node_classes() -> BTreeSet<String> {
    let account = Account::seeded(&["getting-started"], "us-west-2");
    let spec = json!({
        "role": null,
        "instanceProfile": "nodes",
        "placementGroupSelector": {"name": "hpc"},
        "blockDeviceMappings": [
            {"deviceName": "/dev/xvdb", "ebs": {"snapshotID": "snap-0123456789abcdef0"}}],
        "capacityReservationSelectorTerms": [{"tags": {"team": "a"}}],
    });
    let cluster = Cluster::karpenter(&account);
    let cluster = cluster.patch("EC2NodeClass", "default", &json!({"spec": spec}));
    let family =
        json!([{"key": "karpenter.k8s.aws/instance-family", "operator": "In", "values": ["m5"]}]);
    let pool = json!({"spec": {"template": {"spec": {"requirements": family}}}});
    let cluster = cluster.patch("NodePool", "default", &pool);
    made_in_cluster(&account, cluster)
}

fn made_in_cluster(account: &Account, cluster: Cluster) -> BTreeSet<String> {
    let server = ApiServer::start(cluster);
    let proxy = Proxy::start(Plan::default());
    let tool = Tool::new(["check", "--cluster", CLUSTER, "--kubeconfig"]);
    let ran = tool.args([server.kubeconfig()]).account(account, &proxy.endpoint).run();
    assert!(ran.code != 2, "{ran:#?}");
    proxy.log().into_iter().map(|logged| logged.operation.to_string()).collect()
}

fn published() -> BTreeSet<String> {
    let path = emulator::root().join("policies/preflight-read-only.json");
    let policy: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let statements = policy["Statement"].as_array().unwrap();
    let actions = statements.iter().flat_map(|statement| statement["Action"].as_array().unwrap());
    actions.map(|action| action.as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_policy_allows_exactly_the_calls_made() {
    assert_eq!(made(), published());
}

#[test]
fn every_call_only_reads() {
    for action in made() {
        let name = action.split(':').nth(1).unwrap();
        let reads = ["Describe", "Get", "List"].iter().any(|verb| name.starts_with(verb));
        assert!(reads, "{action}");
    }
}

#[test]
fn every_need_of_a_check_is_a_call_that_is_made() {
    let list = Tool::new(["list", "checks", "--output", "json"]).run().json();
    let published = published();
    let in_cluster: BTreeSet<String> = rbac::published()
        .into_iter()
        .map(|(verb, resource, _)| {
            let plural = resource.split('.').next().unwrap_or_default().to_owned();
            format!("{verb} {plural} (Kubernetes)")
        })
        .collect();
    for check in list.as_array().unwrap() {
        for action in check["needs"].as_array().unwrap() {
            let action = action.as_str().unwrap();
            let is_made = published.contains(action) || in_cluster.contains(action);
            assert!(is_made, "{}: {action}", check["id"]);
        }
    }
}
