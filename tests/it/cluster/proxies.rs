//! The way to the API server through a proxy: the kubeconfig's, or the environment's.

use std::fs;

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

use super::{
    ApiServer, Cluster,
    access::leads_to,
    tls::{Tls, authority},
    tunnel::{Speaks, Tunnel},
};
use crate::{
    cli::{Ran, Tool},
    emulator::{Account, CLUSTER},
};

/// A name that only a proxy knows.
const SERVER: &str = "https://kubernetes.example";
/// `user:hunter2`.
const BASIC: &str = "Basic dXNlcjpodW50ZXIy";

fn collect(account: &Account) -> Tool {
    Tool::new(["collect", "--cluster", CLUSTER, "--out", "-"]).account(account, &account.endpoint())
}

fn nodes(facts: &Value) -> Option<usize> {
    facts["facts"]["kubernetes"]["nodes"]["known"].as_array().map(Vec::len)
}

#[track_caller]
fn assert_failed(ran: Ran, words: &[&str]) {
    assert!(!ran.stdout.contains("hunter2") && !ran.stderr.contains("hunter2"), "{ran:#?}");
    let facts = ran.exits(0).json();
    // Every fact of AWS is there all the same.
    assert!(facts["facts"]["cluster"]["known"].is_object());
    let access = &facts["facts"]["kubernetes"]["access"];
    for word in words {
        assert!(access["failed"].to_string().contains(word), "`{word}` not in {access:#}");
    }
}

/// An account whose cluster has an endpoint that no name server knows.
fn account() -> Account {
    let mut account = Account::empty("us-west-2");
    account.seed("getting-started");
    leads_to(&account, SERVER, &authority());
    account
}

#[test]
fn the_environments_proxy_leads_to_the_server() {
    let account = account();
    let server = ApiServer::knowing(Cluster::karpenter(&account), |_| true);
    let tls = Tls::before(&server);
    for (variable, scheme, speaks) in [
        ("HTTPS_PROXY", "http://user:hunter2@", Speaks::HttpWith(BASIC)),
        ("https_proxy", "", Speaks::Http),
        ("HTTPS_PROXY", "socks5h://", Speaks::Socks),
    ] {
        let proxy = Tunnel::to(&tls.address, speaks);
        let value = format!("{scheme}{}", proxy.address);
        let ran = collect(&account).env(variable, &value).run().exits(0);
        assert!(!ran.stdout.contains("hunter2") && !ran.stderr.contains("hunter2"), "{ran:#?}");
        assert_eq!(nodes(&ran.json()), Some(3), "{variable}: {}", ran.stdout);
        assert_eq!(proxy.asked(), ["kubernetes.example:443"], "{variable}");
    }
}

#[test]
fn a_server_of_no_proxy_is_reached_without() {
    let account = account();
    let server = ApiServer::knowing(Cluster::karpenter(&account), |_| true);
    let tls = Tls::before(&server);
    // This machine by an address that is not known as this machine's.
    let port = tls.address.split_once(':').unwrap().1;
    leads_to(&account, &format!("https://0.0.0.0:{port}"), &authority());
    let proxy = Tunnel::to(&tls.address, Speaks::Http);
    let tool = || collect(&account).env("HTTPS_PROXY", &format!("http://{}", proxy.address));
    let words = ["its certificate is not one of the cluster's"];
    assert_failed(tool().env("NO_PROXY", "10.0.0.0/8,0.0.0.0").run(), &words);
    assert!(proxy.asked().is_empty(), "{:?}", proxy.asked());
    assert_failed(tool().run(), &words);
    assert_eq!(proxy.asked(), [format!("0.0.0.0:{port}")]);
}

#[test]
fn what_a_proxy_does_instead_is_told() {
    let account = account();
    let refuses = Tunnel::to("127.0.0.1:1", Speaks::Refuses);
    let wants = Tunnel::to("127.0.0.1:1", Speaks::HttpWith("Basic bWU6"));
    let to = |tunnel: &Tunnel| format!("http://user:hunter2@{}", tunnel.address);
    let named = |tunnel: &Tunnel| format!("through the proxy http://{} (HTTPS", tunnel.address);
    let nobody = "http://user:hunter2@127.0.0.1:1".to_owned();
    for (value, words) in [
        (to(&refuses), [named(&refuses), "NO_PROXY".to_owned()]),
        (to(&wants), [named(&wants), "(407)".to_owned()]),
        (nobody, ["http://127.0.0.1:1".to_owned(), "it is not reached".to_owned()]),
        ("gopher://hunter2".to_owned(), ["`gopher`".to_owned(), "socks5".to_owned()]),
    ] {
        let ran = collect(&account).env("HTTPS_PROXY", &value).run();
        assert_failed(ran, &words.each_ref().map(String::as_str));
    }
}

#[test]
fn the_kubeconfigs_proxy_comes_first() {
    let account = account();
    let server = ApiServer::knowing(Cluster::karpenter(&account), |_| true);
    let tls = Tls::before(&server);
    let proxy = Tunnel::to(&tls.address, Speaks::HttpWith(BASIC));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kubeconfig");
    let cluster = json!({"server": SERVER,
        "certificate-authority-data": BASE64_STANDARD.encode(authority()),
        "proxy-url": format!("http://user:hunter2@{}", proxy.address)});
    let config = json!({"apiVersion": "v1", "kind": "Config", "current-context": "test",
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": {"token": "t"}}],
        "contexts": [{"name": "test", "context": {"cluster": "c", "user": "u"}}]});
    fs::write(&path, config.to_string()).unwrap();
    let tool = || collect(&account).args(["--kubeconfig"]).args([&path]);
    let elsewhere = tool().env("HTTPS_PROXY", "http://127.0.0.1:1").env("NO_PROXY", "*");
    let ran = elsewhere.run().exits(0);
    assert!(!ran.stdout.contains("hunter2") && !ran.stderr.contains("hunter2"), "{ran:#?}");
    assert_eq!(nodes(&ran.json()), Some(3), "{}", ran.stdout);
    assert_eq!(proxy.asked(), ["kubernetes.example:443"]);
    drop(proxy);
    assert_failed(tool().run(), &["(the kubeconfig's proxy-url)", "it is not reached"]);
}
