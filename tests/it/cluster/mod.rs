//! A Kubernetes API server for tests, on loopback: real list and get answers over objects as
//! `kubectl get -o json` prints them, page by page, with label selectors and with faults.
//!
//! How to run `check` against an emulated account and a cluster at once:
//!
//! ```text
//! let account = Account::seeded(&["getting-started"], "us-west-2");
//! let server = ApiServer::start(Cluster::karpenter(&account).patch("Deployment", "karpenter", &json!({"spec": {…}})));
//! let report = server.check(&account).report();
//! ```

mod access;
pub mod fargate;
mod faults;
mod identity;
mod objects;
mod proxies;
pub mod rbac;
mod redaction;
mod runs;
mod scale;
mod tls;
mod tunnel;

use std::{
    io::Write,
    net::{TcpListener, TcpStream},
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    thread,
    time::Duration,
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    cli::Tool,
    emulator::{Account, CLUSTER},
    proxy::http::{self, Request, Response},
};
pub use objects::{Cluster, Items};

/// What goes wrong with a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    Unauthorized,
    Forbidden,
    /// The rest of a list is gone, this many times.
    Gone(u32),
    /// Too busy, this many times; the seconds to wait.
    Busy(u32, u64),
    /// A web page with this status: a proxy.
    Page(u16),
    /// JSON of something else.
    OtherJson,
    Silent,
    Reset,
}

/// The token of every service account.
pub const TOKEN: &str = "eyJhbGciOiJub25lIn0.c2VjcmV0LXRva2VuLW9mLWthcnBlbnRlcg.sig";

/// A request that was answered.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Asked {
    pub verb: &'static str,
    /// `pods`, `ec2nodeclasses.karpenter.k8s.aws`, or a path outside of the objects.
    pub resource: String,
    pub name: Option<String>,
}

struct Shared {
    cluster: Cluster,
    /// The fault of requests whose path has this part.
    fault: Option<(&'static str, Fault)>,
    /// Whom it knows, by the header `Authorization`.
    knows: fn(&str) -> bool,
    times: AtomicU32,
    /// Whether it gives tokens of service accounts.
    tokens: bool,
    log: Mutex<Vec<Asked>>,
    closed: AtomicBool,
}

/// A running API server; it stops listening when it is dropped.
pub struct ApiServer {
    pub url: String,
    folder: TempDir,
    shared: Arc<Shared>,
}

impl ApiServer {
    pub fn start(cluster: Cluster) -> Self {
        Self::with(cluster, None, of_kubeconfig, false)
    }

    /// One that knows other callers than the test's kubeconfig.
    pub fn knowing(cluster: Cluster, knows: fn(&str) -> bool) -> Self {
        Self::with(cluster, None, knows, false)
    }

    /// It also gives tokens of service accounts, all of them [`TOKEN`].
    pub fn giving_tokens(cluster: Cluster) -> Self {
        Self::with(cluster, None, of_kubeconfig, true)
    }

    /// Requests whose path has this part have this fault.
    pub fn failing(cluster: Cluster, part: &'static str, fault: Fault) -> Self {
        Self::with(cluster, Some((part, fault)), of_kubeconfig, false)
    }

    fn with(
        cluster: Cluster,
        fault: Option<(&'static str, Fault)>,
        knows: fn(&str) -> bool,
        tokens: bool,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let shared = Arc::new(Shared {
            cluster,
            fault,
            knows,
            times: AtomicU32::new(0),
            tokens,
            log: Mutex::default(),
            closed: AtomicBool::new(false),
        });
        let to_serve = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if to_serve.closed.load(Ordering::Relaxed) {
                    break;
                }
                let (stream, shared) = (stream.unwrap(), Arc::clone(&to_serve));
                thread::spawn(move || shared.serve(stream));
            }
        });
        Self { url, folder: tempfile::tempdir().unwrap(), shared }
    }

    /// `127.0.0.1:<port>`.
    pub fn address(&self) -> &str {
        self.url.trim_start_matches("http://")
    }

    /// A kubeconfig that leads here.
    pub fn kubeconfig(&self) -> PathBuf {
        kubeconfig(&self.folder, &self.url)
    }

    /// `check --cluster demo` over the emulated account and this API server.
    pub fn check(&self, account: &Account) -> Tool {
        Tool::new(["check", "--cluster", CLUSTER, "--kubeconfig"])
            .args([self.kubeconfig()])
            .account(account, &account.endpoint())
    }

    /// What was asked, in order.
    pub fn log(&self) -> Vec<Asked> {
        self.shared.log.lock().unwrap().clone()
    }
}

impl Drop for ApiServer {
    fn drop(&mut self) {
        self.shared.closed.store(true, Ordering::Relaxed);
        // Wakes the thread that accepts.
        let _ = TcpStream::connect(self.address());
    }
}

/// The caller of [`kubeconfig`].
fn of_kubeconfig(authorization: &str) -> bool {
    authorization == "Bearer secret-token"
}

/// Writes a kubeconfig with one context, `test`.
pub fn kubeconfig(folder: &TempDir, url: &str) -> PathBuf {
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "test",
        "clusters": [{"name": "c", "cluster": {"server": url}}],
        "users": [{"name": "u", "user": {"token": "secret-token"}}],
        "contexts": [{"name": "test", "context": {"cluster": "c", "user": "u"}}],
    });
    let path = folder.path().join("kubeconfig");
    std::fs::write(&path, config.to_string()).unwrap();
    path
}

/// What a request for a token of a service account asks for.
fn token_asked(request: &Request) -> Option<Asked> {
    let place = request.path.strip_suffix("/token")?;
    let (_, name) = place.rsplit_once("/serviceaccounts/")?;
    assert_eq!(request.method, "POST", "{request:?}");
    let resource = "serviceaccounts/token".to_owned();
    Some(Asked { verb: "create", resource, name: Some(name.to_owned()) })
}

/// The API server's own word on a failure.
fn status(code: u16, reason: &str, message: &str) -> Response {
    let body = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "details": {}, "code": code,
    });
    Response::new(code, "application/json", body.to_string())
}

impl Shared {
    fn serve(&self, mut stream: TcpStream) {
        let _ = stream.set_nodelay(true);
        while let Some(request) = http::peek_request(&stream) {
            http::consume(&mut stream, request.length);
            let Some(response) = self.answer(&request) else { return };
            let sent = stream.write_all(&response.to_bytes());
            if sent.is_err() || request.header("connection") == Some("close") {
                return;
            }
        }
    }

    /// The answer; nothing where the connection is to be closed.
    fn answer(&self, request: &Request) -> Option<Response> {
        if !(self.knows)(request.header("authorization").unwrap_or_default()) {
            return Some(status(401, "Unauthorized", "Unauthorized"));
        }
        if let Some(asked) = token_asked(request) {
            return Some(self.token(asked, request));
        }
        assert_eq!(request.method, "GET", "{request:?}");
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        let asked = self.cluster.asked(path);
        self.log.lock().unwrap().push(asked.clone());
        match &self.fault {
            Some((part, fault)) if path.contains(part) => self.fault(fault, &asked, path, query),
            _ => Some(self.cluster.answer(path, query)),
        }
    }

    fn token(&self, asked: Asked, request: &Request) -> Response {
        let name = asked.name.clone().unwrap_or_default();
        self.log.lock().unwrap().push(asked);
        if !self.tokens {
            let message = format!(
                "serviceaccounts \"{name}\" is forbidden: User \"ops\" cannot create resource \
                 \"serviceaccounts/token\" in API group \"\" in the namespace \"kube-system\""
            );
            return status(403, "Forbidden", &message);
        }
        let mut answer: Value = serde_json::from_slice(&request.body).unwrap();
        assert_eq!(answer["kind"], "TokenRequest");
        assert_eq!(answer["spec"]["audiences"], json!(["sts.amazonaws.com"]));
        answer["status"] = json!({"token": TOKEN, "expirationTimestamp": "2026-11-30T21:00:00Z"});
        Response::new(201, "application/json", answer.to_string())
    }

    fn fault(&self, fault: &Fault, asked: &Asked, path: &str, query: &str) -> Option<Response> {
        let well = || self.cluster.answer(path, query);
        let resource = asked.resource.split('.').next().unwrap_or_default();
        Some(match fault {
            Fault::Unauthorized => status(401, "Unauthorized", "Unauthorized"),
            Fault::Forbidden => {
                let message = format!(
                    "{resource} is forbidden: User \"ops\" cannot {} resource \"{resource}\" in \
                     API group \"\" at the cluster scope",
                    asked.verb
                );
                status(403, "Forbidden", &message)
            }
            Fault::Gone(times) if query.contains("continue=") && self.again(*times) => {
                let message = "The provided continue parameter is too old to display a consistent \
                    list result. You can start a new list without the continue parameter.";
                status(410, "Expired", message)
            }
            Fault::Busy(times, wait) if self.again(*times) => {
                let text = "Too many requests, please try again later.\n";
                Response::new(429, "text/plain; charset=utf-8", text)
                    .header("retry-after", &wait.to_string())
            }
            Fault::Gone(_) | Fault::Busy(..) => well(),
            Fault::Page(code) => {
                let page = "<!DOCTYPE html><html><body><h1>Sign in</h1></body></html>";
                Response::new(*code, "text/html; charset=utf-8", page)
            }
            Fault::OtherJson => Response::new(200, "application/json", r#"{"hello":"world"}"#),
            Fault::Silent => {
                thread::sleep(Duration::from_secs(120));
                return None;
            }
            Fault::Reset => return None,
        })
    }

    /// Whether a fault that ends has not yet ended.
    fn again(&self, times: u32) -> bool {
        self.times.fetch_add(1, Ordering::Relaxed) < times
    }
}

/// The kubernetes part of facts that were collected.
pub fn collected(server: &ApiServer, account: &Account, args: &[&str]) -> Value {
    let facts = Tool::new(["collect", "--cluster", CLUSTER, "--out", "-", "--kubeconfig"])
        .args([server.kubeconfig()])
        .args(args)
        .account(account, &account.endpoint())
        .run()
        .exits(0)
        .json();
    facts["facts"]["kubernetes"].clone()
}
