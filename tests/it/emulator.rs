//! The emulated account: one server a test process, one AWS account a scenario.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use serde_json::{Value, json};

use crate::proxy::http::{self, Request};

/// The cluster that every scenario has.
pub const CLUSTER: &str = "demo";

struct Emulator {
    endpoint: String,
    /// Holds its standard input, with which it ends.
    _server: Child,
}

fn emulator() -> &'static Emulator {
    static EMULATOR: OnceLock<Emulator> = OnceLock::new();
    EMULATOR.get_or_init(|| {
        let mut server = script("start.sh")
            .arg("--until-stdin-closes")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the emulator starts");
        let mut ready = String::new();
        BufReader::new(server.stdout.as_mut().unwrap()).read_line(&mut ready).unwrap();
        let ready: Value = serde_json::from_str(&ready).expect("the emulator says where it is");
        Emulator { endpoint: ready["endpoint"].as_str().unwrap().to_owned(), _server: server }
    })
}

/// Where the emulator listens: `127.0.0.1:<port>`.
pub fn address() -> &'static str {
    emulator().endpoint.strip_prefix("http://").unwrap()
}

fn script(name: &str) -> Command {
    Command::new(root().join("tests/emulator").join(name))
}

/// The root of the repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A file of the test data.
pub fn data(name: &str) -> PathBuf {
    root().join("tests/data").join(name)
}

/// An AWS account with the cluster [`CLUSTER`] in one region.
#[derive(Debug, Clone)]
pub struct Account {
    pub number: String,
    pub region: &'static str,
    /// What the last seed printed.
    pub made: Value,
}

impl Account {
    /// An account with nothing in it.
    pub fn empty(region: &'static str) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(731_000_000_001);
        let number = NEXT.fetch_add(1, Ordering::Relaxed).to_string();
        Self { number, region, made: Value::Null }
    }

    /// An account that these seeds filled, one after the other. Made once a process: tests that
    /// share it must only read.
    pub fn seeded(seeds: &'static [&'static str], region: &'static str) -> Arc<Self> {
        type Made = BTreeMap<(Vec<&'static str>, &'static str), Arc<OnceLock<Arc<Account>>>>;
        static MADE: Mutex<Made> = Mutex::new(BTreeMap::new());
        let slot = MADE.lock().unwrap().entry((seeds.to_vec(), region)).or_default().clone();
        let made = slot.get_or_init(|| {
            let mut account = Self::empty(region);
            for name in seeds {
                account.seed(name);
            }
            Arc::new(account)
        });
        Arc::clone(made)
    }

    /// Runs one seed in this account.
    pub fn seed(&mut self, name: &str) {
        let output = script("seed.sh")
            .args([name, "--endpoint", &self.endpoint(), "--cluster", CLUSTER])
            .args(["--region", self.region])
            .env("AWS_ACCESS_KEY_ID", self.access_key())
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "seed {name}: {stderr}");
        self.made = serde_json::from_slice(&output.stdout).unwrap();
    }

    /// The access key id by which the emulator knows the account.
    pub fn access_key(&self) -> String {
        format!("AKIATEST{}", self.number)
    }

    pub fn endpoint(&self) -> String {
        emulator().endpoint.clone()
    }

    /// A request to EKS, as the SDK would send it; the emulator looks at no signature.
    pub fn ask_eks(&self, method: &str, path: &str, body: &Value) -> Value {
        let key = self.access_key();
        let authorization = format!(
            "AWS4-HMAC-SHA256 Credential={key}/20260101/{}/eks/aws4_request, SignedHeaders=host, \
             Signature=0",
            self.region
        );
        let request = Request {
            method: method.to_owned(),
            path: path.to_owned(),
            headers: vec![
                ("content-type".to_owned(), "application/json".to_owned()),
                ("authorization".to_owned(), authorization),
            ],
            body: body.to_string().into_bytes(),
            length: 0,
        };
        let response = http::forward(&request, address());
        let text = String::from_utf8_lossy(&response.body);
        assert_eq!(response.status, 200, "{text}");
        serde_json::from_str(&text).unwrap()
    }

    /// Sets what no public API sets, by a route of the emulator's own (`admin.py`); of the
    /// cluster, unless another name is given.
    pub fn set(&self, route: &str, state: &Value) {
        let mut body = json!({"account": self.number, "region": self.region, "name": CLUSTER});
        json_patch::merge(&mut body, state);
        let request = Request {
            method: "POST".to_owned(),
            path: format!("/moto-api/preflight/{route}"),
            headers: vec![("content-type".to_owned(), "application/json".to_owned())],
            body: body.to_string().into_bytes(),
            length: 0,
        };
        let response = http::forward(&request, address());
        assert_eq!(response.status, 200, "{}", String::from_utf8_lossy(&response.body));
    }
}
