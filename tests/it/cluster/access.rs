//! The ways to an API server, from the credentials to the last read, and what is said where a
//! way is barred: each a clear unknown that names the thing and the way out.

use std::{
    fs,
    net::{SocketAddr, TcpListener, TcpStream},
    process::Command,
    time::{Duration, Instant},
};

use base64::{
    Engine,
    prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD},
};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    ApiServer, Cluster,
    tls::{Tls, authority, other_authority},
};
use crate::{
    cli::Tool,
    emulator::{Account, CLUSTER},
};

/// An account of its own, as its cluster's endpoint is changed.
fn account() -> Account {
    let mut account = Account::empty("us-west-2");
    account.seed("getting-started");
    account
}

/// What `eks:DescribeCluster` says of the API server from now on.
pub fn leads_to(account: &Account, url: &str, authority: &str) {
    account.set(
        "cluster",
        &json!({"endpoint": url, "certificateAuthority": BASE64_STANDARD.encode(authority)}),
    );
}

/// The cluster as `collect` sees it with nothing but AWS credentials.
fn collect(account: &Account) -> Tool {
    Tool::new(["collect", "--cluster", CLUSTER, "--out", "-"]).account(account, &account.endpoint())
}

fn kubernetes(tool: Tool) -> Value {
    tool.run().exits(0).json()["facts"]["kubernetes"].clone()
}

#[track_caller]
fn assert_failed(kubernetes: &Value, words: &[&str]) {
    let said = kubernetes["access"]["failed"].to_string();
    for word in words {
        assert!(said.contains(word), "`{word}` not in {:#}", kubernetes["access"]);
    }
}

/// Whether a token is as `aws eks get-token` makes it: a signed question that only the cluster's
/// own name can complete.
fn is_of_aws(authorization: &str) -> bool {
    let Some(token) = authorization.strip_prefix("Bearer k8s-aws-v1.") else { return false };
    let url = String::from_utf8(BASE64_URL_SAFE_NO_PAD.decode(token).unwrap()).unwrap();
    url.starts_with("https://sts.us-west-2.amazonaws.com/?Action=GetCallerIdentity")
        && url.contains("X-Amz-Credential=AKIATEST")
        && url.contains("X-Amz-SignedHeaders=host%3Bx-k8s-aws-id")
        && url.contains("&X-Amz-Signature=")
}

fn is_of_the_pod(authorization: &str) -> bool {
    authorization.starts_with("Bearer e30.")
}

#[test]
fn aws_credentials_alone_let_in() {
    let account = account();
    let server = ApiServer::knowing(Cluster::karpenter(&account), is_of_aws);
    let tls = Tls::before(&server);
    leads_to(&account, &tls.url(), &authority());
    // On this machine no proxy is gone through.
    for proxy in ["", "http://user:hunter2@127.0.0.1:1"] {
        let facts = kubernetes(collect(&account).env("HTTPS_PROXY", proxy));
        let access = &facts["access"]["known"];
        assert_eq!(access["via"], "aws_token", "{:#}", facts["access"]);
        assert_eq!(access["server"], tls.url());
        assert_eq!(facts["nodes"]["known"].as_array().map(Vec::len), Some(3));
    }
}

#[test]
fn another_clusters_authority_is_not_trusted() {
    let account = account();
    let server = ApiServer::knowing(Cluster::karpenter(&account), is_of_aws);
    let tls = Tls::before(&server);
    leads_to(&account, &tls.url(), &other_authority());
    let facts = kubernetes(collect(&account));
    assert_failed(&facts, &["its certificate is not one of the cluster's", "authority"]);
    assert!(server.log().is_empty(), "{:?}", server.log());
}

#[test]
fn a_caller_that_the_cluster_does_not_know() {
    let account = account();
    let server = ApiServer::knowing(Cluster::karpenter(&account), |_| false);
    let tls = Tls::before(&server);
    leads_to(&account, &tls.url(), &authority());
    let report =
        Tool::new(["check", "--cluster", CLUSTER]).account(&account, &account.endpoint()).report();
    let outcomes = report.value["outcomes"].as_array().unwrap();
    let pools = outcomes.iter().find(|outcome| outcome["check"] == "nodepool-status").unwrap();
    assert_eq!(pools["status"], "unknown");
    let seen = pools["seen"].as_str().unwrap();
    assert!(seen.contains("401 Unauthorized") && seen.contains("access entry"), "{seen}");
}

#[test]
fn a_token_of_the_kubeconfig_that_has_expired() {
    let account = account();
    let server = ApiServer::knowing(Cluster::karpenter(&account), |_| false);
    let tool = collect(&account).args(["--kubeconfig"]).args([server.kubeconfig()]);
    assert_failed(&kubernetes(tool), &["401 Unauthorized", "context test", "log in again"]);
}

/// An endpoint that takes no connection, as a private one or a firewall does.
struct BlackHole {
    address: SocketAddr,
    _listener: tokio::net::TcpListener,
    _waiting: Vec<TcpStream>,
    _runtime: tokio::runtime::Runtime,
}

/// A listener whose queue is full: whoever comes next hears nothing.
fn black_hole() -> BlackHole {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let inside = runtime.enter();
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(0).unwrap();
    drop(inside);
    let address = listener.local_addr().unwrap();
    let come = || TcpStream::connect_timeout(&address, Duration::from_millis(300)).ok();
    let waiting: Vec<_> = (0..16).map_while(|_| come()).collect();
    assert!(waiting.len() < 16, "the queue does not fill");
    BlackHole { address, _listener: listener, _waiting: waiting, _runtime: runtime }
}

#[test]
fn an_endpoint_that_does_not_answer_costs_seconds() {
    let account = account();
    let hole = black_hole();
    // Takes the connection, and says nothing of TLS.
    let mute = TcpListener::bind("127.0.0.1:0").unwrap();
    for address in [hole.address, mute.local_addr().unwrap()] {
        leads_to(&account, &format!("https://{address}"), &authority());
        let since = Instant::now();
        let facts = kubernetes(collect(&account));
        assert_failed(&facts, &["no connection in time", "inside of the VPC"]);
        assert!(since.elapsed() < Duration::from_secs(15), "{:?}", since.elapsed());
    }
}

/// Starts a program where the files of a pod's service account are at their place. Only in a
/// mount namespace of its own: the machine's files stay as they are.
fn pod_starter(folder: &TempDir, issuer: &str) -> Option<Vec<String>> {
    let mut mount = Command::new("unshare");
    mount.args(["-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]);
    if !mount.output().is_ok_and(|output| output.status.success()) {
        eprintln!("not run: this machine makes no mount namespaces");
        return None;
    }
    let payload = BASE64_URL_SAFE_NO_PAD.encode(json!({"iss": issuer}).to_string());
    fs::write(folder.path().join("token"), format!("e30.{payload}.c2ln")).unwrap();
    fs::write(folder.path().join("ca.crt"), authority()).unwrap();
    fs::write(folder.path().join("namespace"), "tools").unwrap();
    let script = "mount -t tmpfs tmpfs /var/run/ && mkdir -p \"$2\" && cp \"$1\"/* \"$2\" && \
                  shift 2 && exec \"$@\"";
    let to = "/var/run/secrets/kubernetes.io/serviceaccount";
    let from = folder.path().to_str().unwrap();
    let words = ["unshare", "-rm", "sh", "-c", script, "sh", from, to];
    Some(words.map(str::to_owned).to_vec())
}

#[test]
fn a_pod_goes_with_its_service_account() {
    let account = account();
    let server = ApiServer::knowing(Cluster::karpenter(&account), |authorization| {
        is_of_the_pod(authorization) || is_of_aws(authorization)
    });
    let tls = Tls::before(&server);
    leads_to(&account, &tls.url(), &authority());
    let described = collect(&account).args(["--no-kube"]).run().exits(0).json();
    let issuer = described["facts"]["cluster"]["known"]["oidc_issuer"].as_str().unwrap();
    let (host, port) = tls.address.split_once(':').unwrap();
    // A pod of another cluster is none of this: it goes with its AWS credentials.
    for (issuer, via) in [(issuer, "in_cluster"), ("https://another", "aws_token")] {
        let folder = tempfile::tempdir().unwrap();
        let Some(starter) = pod_starter(&folder, issuer) else { return };
        let tool = Tool::started_by(&starter, ["collect", "--cluster", CLUSTER, "--out", "-"])
            .account(&account, &account.endpoint())
            .env("KUBERNETES_SERVICE_HOST", host)
            .env("KUBERNETES_SERVICE_PORT", port);
        let facts = kubernetes(tool);
        assert_eq!(facts["access"]["known"]["via"], via, "{:#}", facts["access"]);
        assert_eq!(facts["nodes"]["known"].as_array().map(Vec::len), Some(3));
    }
}
