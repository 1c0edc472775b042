//! Asks the API server: pages, pauses, and the run's time.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use http::Request;
use kube::{Client, client::Body};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use tokio::{
    sync::Semaphore,
    time::{Instant, sleep, timeout, timeout_at},
};

use super::{
    answer::{Answer, Refusal},
    kind::{Kind, List},
    way_out::WayOut,
};
use crate::{
    collect::call_log::{CallLog, KUBERNETES},
    facts::Fact,
};

/// How many requests run at a time. Each has a connection of its own: HTTP/1.1 knows no other.
const AT_A_TIME: usize = 8;
/// Attempts a request, the first one included.
const ATTEMPTS: u32 = 4;
/// One attempt: a page of 500 large pods over a slow line.
const ATTEMPT: Duration = Duration::from_secs(20);
/// The first pause where the server names none; it doubles.
const PAUSE: Duration = Duration::from_millis(250);

const JSON: &str = "application/json";

/// The API server of one cluster.
pub struct ApiServer {
    client: Client,
    way_out: WayOut,
    log: CallLog,
    limit: Duration,
    deadline: Instant,
    permits: Semaphore,
    /// Whether anything was answered as only an API server does.
    answered: AtomicBool,
    /// Why no request can succeed.
    broken: Mutex<Option<String>>,
}

#[derive(Deserialize)]
struct Page<T> {
    kind: String,
    metadata: PageMeta,
    /// An empty list may be written as null.
    items: Option<Vec<T>>,
}

#[derive(Deserialize)]
struct PageMeta {
    #[serde(rename = "continue", default)]
    next: String,
}

impl ApiServer {
    /// The whole run may take `limit`, and ends at `deadline`.
    pub fn new(
        client: Client,
        way_out: WayOut,
        log: CallLog,
        limit: Duration,
        deadline: Instant,
    ) -> Self {
        Self {
            client,
            way_out,
            log,
            limit,
            deadline,
            permits: Semaphore::new(AT_A_TIME),
            answered: AtomicBool::new(false),
            broken: Mutex::default(),
        }
    }

    /// Whether an API server is there that knows the caller.
    pub fn answered(&self) -> bool {
        self.answered.load(Ordering::Relaxed)
    }

    /// Reads a list page by page and keeps only what `add` makes of each item. A list that went
    /// stale on the way (410) is read once more, from `start`.
    ///
    /// A kind that the cluster does not know is absent where it is a custom one, and a failure
    /// where every cluster has it.
    pub async fn fold<T: DeserializeOwned, A>(
        &self,
        list: &List,
        start: impl Fn() -> A,
        add: impl Fn(&mut A, T),
    ) -> Fact<A> {
        self.fold_some(list, usize::MAX, start, add).await.map(|(all, _)| all)
    }

    /// The same with no more than so many pages, for lists that may be long and say little:
    /// whether there is more stands beside it.
    pub async fn fold_some<T: DeserializeOwned, A>(
        &self,
        list: &List,
        most: usize,
        start: impl Fn() -> A,
        add: impl Fn(&mut A, T),
    ) -> Fact<(A, bool)> {
        let mut read = self.pages(list, most, &start, &add).await;
        if matches!(read, Err(Refusal::Gone(_))) {
            read = self.pages(list, most, &start, &add).await;
        }
        match read {
            Ok(all) => Fact::Known(all),
            Err(refusal) => refusal.into_fact(&list.action(), list.kind.custom),
        }
    }

    /// Reads a list and turns each item into what is kept of it.
    pub async fn list<T: DeserializeOwned, U>(
        &self,
        list: &List,
        keep: impl Fn(T) -> U,
    ) -> Fact<Vec<U>> {
        self.fold(list, Vec::new, |all, item| all.push(keep(item))).await
    }

    /// Reads one object; absent where there is none of this name.
    pub async fn get<T: DeserializeOwned>(
        &self,
        kind: Kind,
        namespace: Option<&str>,
        name: &str,
    ) -> Fact<T> {
        let action = kind.action("get");
        match self.ask(&action, &kind.path(namespace, Some(name))).await {
            Ok(object) => Fact::Known(object),
            Err(refusal) => refusal.into_fact(&action, true),
        }
    }

    /// Asks for something that is made on request and kept nowhere, such as a token; once only. What
    /// comes back is a secret, so that no error quotes it.
    pub async fn request(&self, action: &str, path: &str, body: &Value) -> Fact<Value> {
        let started = std::time::Instant::now();
        let request = Request::post(path)
            .header(http::header::ACCEPT, JSON)
            .header(http::header::CONTENT_TYPE, JSON)
            .body(Body::from(body.to_string().into_bytes()));
        let answer = match request {
            Ok(request) => timeout_at(self.deadline, self.send(request))
                .await
                .unwrap_or_else(|_| Err(self.out_of_time())),
            Err(error) => Err(not_made(&error)),
        };
        let read = answer.and_then(|answer| answer.read());
        self.log.record(KUBERNETES, action, started, read.is_err());
        match read {
            Ok(answer) => Fact::Known(answer),
            Err(refusal) => refusal.into_fact(action, true),
        }
    }

    /// Reads what is no object, such as `/version`.
    pub async fn read<T: DeserializeOwned>(&self, action: &str, path: &str) -> Fact<T> {
        match self.ask(action, path).await {
            Ok(answer) => Fact::Known(answer),
            Err(refusal) => refusal.into_fact(action, false),
        }
    }

    async fn pages<T: DeserializeOwned, A>(
        &self,
        list: &List,
        most: usize,
        start: &impl Fn() -> A,
        add: &impl Fn(&mut A, T),
    ) -> Result<(A, bool), Refusal> {
        let mut all = start();
        let mut next = String::new();
        for _ in 0..most {
            let page: Page<T> = self.ask(&list.action(), &list.page(&next)).await?;
            if !page.kind.ends_with("List") {
                return Err(Refusal::not_kubernetes(200));
            }
            page.items.into_iter().flatten().for_each(|item| add(&mut all, item));
            next = page.metadata.next;
            if next.is_empty() {
                return Ok((all, false));
            }
        }
        Ok((all, true))
    }

    /// One request with its repetitions, in its turn and within the run's time.
    async fn ask<T: DeserializeOwned>(&self, action: &str, uri: &str) -> Result<T, Refusal> {
        let asking = async {
            // The semaphore is never closed, so there is always a permit to wait for.
            let _permit = self.permits.acquire().await.ok();
            if let Some(why) = self.broken() {
                return Err(Refusal::Failed(why));
            }
            let started = std::time::Instant::now();
            let answer = timeout_at(self.deadline, self.attempts(uri)).await;
            let answer = answer.unwrap_or_else(|_| Err(self.out_of_time()));
            let read = answer.and_then(|answer| answer.read());
            let read = read.map_err(|refusal| match refusal {
                Refusal::Unauthorized(_) => Refusal::Unauthorized(self.way_out.unauthorized()),
                other => other,
            });
            let failed = !matches!(read, Ok(_) | Err(Refusal::NotFound));
            self.log.record(KUBERNETES, action, started, failed);
            read
        };
        let read = timeout_at(self.deadline, asking).await;
        let read = read.unwrap_or_else(|_| Err(self.out_of_time()));
        match &read {
            Ok(_) => self.answered.store(true, Ordering::Relaxed),
            Err(refusal) if refusal.is_of_kubernetes() => {
                self.answered.store(true, Ordering::Relaxed);
            }
            Err(Refusal::Unauthorized(why)) => self.give_up(why),
            Err(_) => {}
        }
        read
    }

    async fn attempts(&self, uri: &str) -> Result<Answer, Refusal> {
        let mut pause = PAUSE;
        for _ in 1..ATTEMPTS {
            let answer = self.attempt(uri).await?;
            if !answer.asks_for_patience() {
                return Ok(answer);
            }
            let wait = answer.retry_after.unwrap_or(pause);
            if Instant::now() + wait >= self.deadline {
                return Ok(answer);
            }
            sleep(wait).await;
            pause *= 2;
        }
        self.attempt(uri).await
    }

    async fn attempt(&self, uri: &str) -> Result<Answer, Refusal> {
        let request = Request::get(uri)
            .header(http::header::ACCEPT, JSON)
            .body(Body::empty())
            .map_err(|error| not_made(&error))?;
        self.send(request).await
    }

    async fn send(&self, request: Request<Body>) -> Result<Answer, Refusal> {
        let sending = async {
            let response = self.client.send(request).await?;
            let (head, body) = response.into_parts();
            Ok::<_, kube::Error>(Answer::new(&head, body.collect_bytes().await?))
        };
        match timeout(ATTEMPT, sending).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => {
                let why = self.way_out.no_connection(&error);
                // Where nobody ever answered, nobody will: the rest need not wait for that.
                if !self.answered() {
                    self.give_up(&why);
                }
                Err(Refusal::Failed(why))
            }
            Err(_) => Err(Refusal::Failed(format!("no answer in {} seconds", ATTEMPT.as_secs()))),
        }
    }

    fn out_of_time(&self) -> Refusal {
        Refusal::Failed(format!("no answer within the run's {} seconds", self.limit.as_secs()))
    }

    fn broken(&self) -> Option<String> {
        self.broken.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn give_up(&self, why: &str) {
        let mut broken = self.broken.lock().unwrap_or_else(PoisonError::into_inner);
        broken.get_or_insert_with(|| why.to_owned());
    }
}

fn not_made(error: &http::Error) -> Refusal {
    Refusal::Failed(format!("the request could not be made: {error}"))
}
