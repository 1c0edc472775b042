//! What can go wrong between the tool and an API server: each a clear unknown, and nothing else
//! is hidden by it.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::{ApiServer, Cluster, Fault, collected, kubeconfig};
use crate::{
    cli::Tool,
    emulator::{Account, CLUSTER},
};

fn account() -> std::sync::Arc<Account> {
    Account::seeded(&["getting-started"], "us-west-2")
}

/// A part of the path, the fault, the state of a fact, and what it says.
type Row<'a> = (&'static str, Fault, &'a str, &'a [&'a str]);

fn facts(part: &'static str, fault: Fault) -> Value {
    let account = account();
    let server = ApiServer::failing(Cluster::karpenter(&account), part, fault);
    collected(&server, &account, &["--timeout", "6"])
}

/// The API server answers everything else.
#[test]
fn one_list_fails() {
    let rows: [Row; 6] = [
        (
            "/nodes",
            Fault::Forbidden,
            "denied",
            &["list nodes (Kubernetes)", "nodes is forbidden", "deploy/rbac.yaml"],
        ),
        ("/nodes", Fault::Page(502), "failed", &["list nodes", "HTTP 502", "proxy"]),
        ("/nodes", Fault::Page(200), "failed", &["list nodes", "not a Kubernetes API server's"]),
        ("/nodes", Fault::OtherJson, "failed", &["list nodes", "not understood"]),
        ("/nodes", Fault::Busy(9, 3600), "failed", &["429 Too Many Requests", "3600 seconds"]),
        ("/nodes", Fault::Silent, "failed", &["no answer within the run's 6 seconds"]),
    ];
    for (part, fault, state, words) in rows {
        let facts = facts(part, fault.clone());
        let said = facts["nodes"][state].to_string();
        for word in words {
            assert!(said.contains(word), "{fault:?}: `{word}` not in {:#}", facts["nodes"]);
        }
        assert!(facts["access"]["known"].is_object(), "{fault:?}: {:#}", facts["access"]);
        assert!(facts["node_pools"]["known"].is_array(), "{fault:?}: {:#}", facts["node_pools"]);
    }
}

/// Nothing is read, and the access itself says why.
#[test]
fn everything_fails() {
    let rows: [Row; 4] = [
        ("/", Fault::Unauthorized, "failed", &["401 Unauthorized", "log in again"]),
        ("/", Fault::Page(200), "failed", &["not a Kubernetes API server's"]),
        ("/", Fault::Page(403), "failed", &["HTTP 403", "proxy"]),
        ("/", Fault::Reset, "failed", &["no connection"]),
    ];
    // Making the account is no part of what is measured.
    account();
    for (part, fault, state, words) in rows {
        let since = Instant::now();
        let facts = facts(part, fault.clone());
        let said = facts["access"][state].to_string();
        for word in words.iter().chain(&["reach the API server (Kubernetes)"]) {
            assert!(said.contains(word), "{fault:?}: `{word}` not in {:#}", facts["access"]);
        }
        assert!(since.elapsed() < Duration::from_secs(20), "{fault:?}: {:?}", since.elapsed());
    }
}

/// A caller that may do nothing is known all the same.
#[test]
fn everything_is_forbidden() {
    let facts = facts("/", Fault::Forbidden);
    assert_eq!(facts["access"]["known"]["version"], Value::Null);
    for name in ["controllers", "nodes", "aws_auth", "crds", "node_pools", "ec2_node_classes"] {
        assert!(facts[name]["denied"].is_object(), "{name}: {:#}", facts[name]);
    }
}

#[test]
fn what_passes_is_waited_for() {
    for fault in [Fault::Busy(2, 1), Fault::Gone(1)] {
        let account = account();
        let node = |n: usize| format!(r#"{{"metadata":{{"name":"node-{n}"}}}}"#);
        let cluster =
            Cluster::karpenter(&account).with_items("Node", super::Items::Made(700, node));
        let server = ApiServer::failing(cluster, "/nodes", fault.clone());
        let facts = collected(&server, &account, &[]);
        let nodes = facts["nodes"]["known"].as_array().map(Vec::len);
        assert_eq!(nodes, Some(700), "{fault:?}: {:#}", facts["nodes"]);
    }
}

#[test]
fn a_list_that_is_gone_twice_is_unknown() {
    let account = account();
    let node = |n: usize| format!(r#"{{"metadata":{{"name":"node-{n}"}}}}"#);
    let cluster = Cluster::karpenter(&account).with_items("Node", super::Items::Made(700, node));
    let server = ApiServer::failing(cluster, "/nodes", Fault::Gone(2));
    let facts = collected(&server, &account, &[]);
    assert!(facts["nodes"]["failed"].to_string().contains("410 Gone"), "{:#}", facts["nodes"]);
}

/// An address where nobody answers: what AWS says stands.
#[test]
fn nobody_answers() {
    let account = account();
    let folder = tempfile::tempdir().unwrap();
    let facts = Tool::new(["collect", "--cluster", CLUSTER, "--out", "-", "--kubeconfig"])
        .args([kubeconfig(&folder, "http://127.0.0.1:1")])
        .account(&account, &account.endpoint())
        .run()
        .exits(0)
        .json();
    let access = &facts["facts"]["kubernetes"]["access"];
    assert!(access["failed"].to_string().contains("no connection"), "{access:#}");
    assert!(facts["facts"]["cluster"]["known"].is_object());
}
