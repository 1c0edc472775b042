//! What an answer of `explain` costs: before the first line is looked at, for one line, and
//! bytes a second of a log.

use std::{hint::black_box, iter::repeat_n};

#[allow(dead_code, unused_imports)]
#[path = "../src/errors/mod.rs"]
mod errors;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use errors::{
    Catalogue,
    explain::explain,
    matcher::{Build, Matcher},
};

const LINE: &str =
    "InvalidParameterValue: 'karpenter.k8s.aws/ec2nodeclass' is not a valid tag key.";

/// An ordinary line of a controller's log.
const FILLER: &str = "{\"level\":\"INFO\",\"time\":\"2025-05-01T10:00:00.000Z\",\"logger\":\
    \"controller\",\"message\":\"computed new nodeclaim(s) to fit pod(s)\",\"commit\":\"1072d3b\",\
    \"controller\":\"provisioner\",\"nodeclaims\":1,\"pods\":2}\n";

fn first_answer(c: &mut Criterion) {
    let mut group = c.benchmark_group("first");
    group.bench_function("catalogue", |b| b.iter(Catalogue::embedded));
    let catalogue: &'static Catalogue = Box::leak(Box::new(Catalogue::embedded()));
    group.bench_function("quick matcher", |b| b.iter(|| Matcher::new(catalogue, Build::Quick)));
    group.bench_function("fast matcher", |b| b.iter(|| Matcher::new(catalogue, Build::Fast)));
    group.bench_function("every entry", |b| b.iter(|| Catalogue::embedded().iter().count()));
    group.finish();
}

fn texts(c: &mut Criterion) {
    let mut group = c.benchmark_group("explain");
    let log = |size: usize| repeat_n(FILLER, size / FILLER.len() + 1).collect::<String>();
    let log = |size: usize| log(size) + LINE + "\n";
    for (name, text) in [
        ("a line", LINE.to_owned()),
        ("8 KiB", log(8 << 10)),
        ("64 KiB", log(64 << 10)),
        ("1 MiB", log(1 << 20)),
        ("100 MB", log(100_000_000)),
    ] {
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.sample_size(10);
        group.bench_function(name, |b| b.iter(|| explain(black_box(text.as_bytes()))));
    }
    group.finish();
}

criterion_group!(benches, first_answer, texts);
criterion_main!(benches);
