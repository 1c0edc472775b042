//! A reverse proxy before the emulator that knows which AWS operation each request is, keeps a
//! log of them, adds latency, and answers one operation, or all, with a fault.

mod fault;
pub mod http;
mod operation;

use std::{
    collections::HashMap,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

pub use fault::Fault;
pub use operation::Operation;

use crate::emulator;
use http::{Request, Response};

/// Answers that the emulator gave. Nothing writes in the meantime, so a proxy may give them
/// again: hundreds of runs then cost the emulator the requests of one.
pub type Memory = Arc<Mutex<HashMap<Vec<u8>, Response>>>;

/// Which requests have a fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum At {
    One(Operation),
    /// All of a service, by its signing name.
    Service(&'static str),
    All,
}

impl At {
    pub fn holds(&self, operation: &Operation) -> bool {
        match self {
            Self::One(one) => one == operation,
            Self::Service(name) => *name == operation.service,
            Self::All => true,
        }
    }
}

/// What a proxy does.
#[derive(Default, Clone)]
pub struct Plan {
    pub fault: Option<(At, Fault)>,
    /// Added to each request.
    pub latency: Duration,
    /// Asked before the emulator is.
    pub memory: Memory,
}

/// One request, from its arrival to its answer.
#[derive(Debug, Clone)]
pub struct Logged {
    pub operation: Operation,
    /// Whether it asks for a dry run.
    pub dry_run: bool,
    /// The access key id that it is signed with.
    pub key: Option<String>,
    pub from: Duration,
    pub to: Duration,
}

struct Shared {
    plan: Plan,
    since: Instant,
    log: Mutex<Vec<Logged>>,
    closed: AtomicBool,
}

/// A running proxy; it stops listening when it is dropped.
pub struct Proxy {
    pub endpoint: String,
    shared: Arc<Shared>,
}

impl Proxy {
    pub fn start(plan: Plan) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let shared = Arc::new(Shared {
            plan,
            since: Instant::now(),
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
        Self { endpoint, shared }
    }

    /// The requests so far, in the order in which they were answered.
    pub fn log(&self) -> Vec<Logged> {
        self.shared.log.lock().unwrap().clone()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.closed.store(true, Ordering::Relaxed);
        // Wakes the thread that accepts.
        let _ = TcpStream::connect(self.endpoint.trim_start_matches("http://"));
    }
}

impl Shared {
    /// Serves a connection until the client has enough or a fault ends it.
    fn serve(&self, mut stream: TcpStream) {
        let _ = stream.set_nodelay(true);
        while let Some(request) = http::peek_request(&stream) {
            let from = self.since.elapsed();
            let operation = Operation::of(&request);
            let note = || self.note(&request, from);
            let fault = self.plan.fault.as_ref().filter(|(at, _)| at.holds(&operation));
            if matches!(fault, Some((_, Fault::Reset))) {
                note();
                // Closing with the request unread makes the kernel send a reset.
                return;
            }
            http::consume(&mut stream, request.length);
            if matches!(fault, Some((_, Fault::TimeOut))) {
                note();
                // Says nothing until the client gives up.
                let _ = stream.read(&mut [0]);
                return;
            }
            thread::sleep(self.plan.latency);
            let response = match fault {
                Some((_, Fault::Truncated)) => self.ask_emulator(&request).truncated(),
                Some((_, fault)) => fault.response(operation.protocol()),
                None => self.ask_emulator(&request),
            };
            let sent = stream.write_all(&response.to_bytes());
            note();
            if sent.is_err() {
                return;
            }
        }
    }

    fn note(&self, request: &Request, from: Duration) {
        let logged = Logged {
            operation: Operation::of(request),
            dry_run: request.is_dry_run(),
            key: request.access_key(),
            from,
            to: self.since.elapsed(),
        };
        self.log.lock().unwrap().push(logged);
    }

    fn ask_emulator(&self, request: &Request) -> Response {
        let key = request.question();
        if let Some(known) = self.plan.memory.lock().unwrap().get(&key) {
            return known.clone();
        }
        let response = http::forward(request, emulator::address());
        self.plan.memory.lock().unwrap().insert(key, response.clone());
        response
    }
}
