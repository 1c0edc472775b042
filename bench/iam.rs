//! Decisions a second on a whole controller policy.

use std::hint::black_box;

#[allow(dead_code, unused_imports)]
#[path = "../src/iam/mod.rs"]
mod iam;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use iam::{NamedPolicy, Policy, PolicySet, Principal, Request};
use serde_json::Value;

const POLICY: &str = include_str!("../tests/data/iam/controller-new.json");
const REQUESTS: &str = include_str!("../tests/data/iam/requests.jsonl");

fn requests() -> Vec<Request> {
    let role = "arn:aws:iam::111122223333:role/KarpenterControllerRole-prod";
    let principal = Principal::aws(role).expect("a role");
    let rows = REQUESTS.lines().map(|row| serde_json::from_str::<Value>(row).expect("JSON"));
    rows.map(|row| {
        let text = |key: &str| row[key].as_str().expect("a string");
        let request = Request::new(principal.clone(), text("action"), text("resource"));
        row["context"].as_object().expect("an object").iter().fold(request, |request, (k, v)| {
            match v.as_str() {
                Some(one) => request.with(k, one),
                None => request
                    .with(k, serde_json::from_value::<Vec<String>>(v.clone()).expect("a list")),
            }
        })
    })
    .collect()
}

fn decide(c: &mut Criterion) {
    let policy = Policy::parse(POLICY).expect("a policy");
    let set = PolicySet {
        identity: vec![NamedPolicy::new("controller", policy)],
        ..PolicySet::default()
    };
    let requests = requests();
    let mut group = c.benchmark_group("iam");
    group.throughput(Throughput::Elements(requests.len() as u64));
    group.bench_function("decide", |b| {
        b.iter(|| requests.iter().filter(|r| black_box(set.decide(r)).is_allowed()).count());
    });
    group.throughput(Throughput::Elements(1));
    group.bench_function("parse", |b| b.iter(|| Policy::parse(black_box(POLICY))));
    group.finish();
}

criterion_group!(benches, decide);
criterion_main!(benches);
