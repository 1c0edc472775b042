//! Fargate profiles, which are asked for only where they decide what the controller runs on.

use serde_json::{Value, json};

use super::{ApiServer, Cluster, collected};
use crate::{
    emulator::{Account, CLUSTER},
    report::Report,
};

/// An account whose cluster has a Fargate profile for pods of this namespace.
pub fn account(namespace: &str) -> Account {
    let mut account = Account::empty("us-west-2");
    account.seed("getting-started");
    let profile = json!({
        "fargateProfileName": "controllers",
        "podExecutionRoleArn": format!("arn:aws:iam::{}:role/pods", account.number),
        "subnets": account.made["privateSubnets"],
        "selectors": [{"namespace": namespace}],
    });
    account.ask_eks("POST", &format!("/clusters/{CLUSTER}/fargate-profiles"), &profile);
    account
}

/// The guide's cluster with a replica of the controller that finds no node.
pub fn one_replica_waits(account: &Account) -> Cluster {
    let waits = json!({
        "spec": {"nodeName": null},
        "status": {"phase": "Pending", "containerStatuses": null, "conditions": [
            {"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
             "message": "0/1 nodes are available: 1 Insufficient memory."}]}});
    let big = json!({"spec": {"template": {"spec": {"containers": [{"name": "controller",
        "image": "public.ecr.aws/karpenter/controller:1.14.1",
        "env": [{"name": "CLUSTER_NAME", "value": CLUSTER}],
        "resources": {"requests": {"memory": "900Gi"}}}]}}},
        "status": {"readyReplicas": 1}});
    Cluster::karpenter(account).patch("Deployment", "karpenter", &big).patch(
        "Pod",
        "karpenter-7d8f9c5b4-4kq2m",
        &waits,
    )
}

fn nodes(report: &Report) -> Value {
    let outcomes = report.value["outcomes"].as_array().unwrap();
    outcomes.iter().find(|outcome| outcome["check"] == "controller-nodes").unwrap().clone()
}

#[test]
fn a_profile_that_takes_the_pods_is_named() {
    for (namespace, words) in
        [("kube-*", "The Fargate profile controllers takes"), ("shop", "Of the other nodes")]
    {
        let account = account(namespace);
        let server = ApiServer::start(one_replica_waits(&account));
        let nodes = nodes(&server.check(&account).report());
        assert_eq!(nodes["status"], "warn", "{nodes:#}");
        assert!(nodes["seen"].as_str().unwrap().contains(words), "{nodes:#}");
    }
}

#[test]
fn nobody_asks_where_every_replica_is_ready() {
    let account = account("kube-system");
    let server = ApiServer::start(Cluster::karpenter(&account));
    collected(&server, &account, &[]);
    let facts = server.check(&account).report();
    assert_eq!(nodes(&facts)["status"], "pass");
    let whole = crate::cli::Tool::new(["collect", "--cluster", CLUSTER, "--out", "-"])
        .args(["--kubeconfig"])
        .args([server.kubeconfig()])
        .account(&account, &account.endpoint())
        .run()
        .exits(0)
        .json();
    let profiles = &whole["facts"]["fargate_profiles"];
    assert!(profiles["not_asked"].is_object(), "{profiles:#}");
}
