//! A run takes as long as its longest chain of dependent calls, not as long as their sum.

use std::{sync::Arc, time::Duration};

use serde_json::Value;

use crate::{
    cli::Tool,
    emulator::{Account, CLUSTER},
    proxy::{Logged, Memory, Plan, Proxy},
};

const LATENCY: Duration = Duration::from_millis(50);
/// Seeds and their longest chain of dependent calls:
/// `DescribeCluster ─▶ GetRole ─▶ ListAttachedRolePolicies ─▶ GetPolicyVersion`.
const ACCOUNTS: [(&[&str], usize); 2] = [(&["getting-started"], 4), (&["auto-mode"], 4)];
/// A person waits for this many calls without a thought, and no account throttles them.
const MOST_CALLS: u64 = 70;
/// Loose, for a machine that does other things too; in quiet it is well under 1.25.
const MOST: f64 = 1.6;

struct Measured {
    calls: u64,
    milliseconds: f64,
    chain: usize,
}

fn measure(account: &Account, latency: Duration, memory: &Memory) -> Measured {
    let plan = Plan { latency, memory: Arc::clone(memory), ..Plan::default() };
    let proxy = Proxy::start(plan);
    let facts: Value = Tool::new(["collect", "--cluster", CLUSTER, "--out", "-"])
        .aws(account, &proxy.endpoint)
        .run()
        .exits(0)
        .json();
    Measured {
        calls: facts["effort"]["calls"].as_u64().unwrap(),
        milliseconds: facts["effort"]["milliseconds"].as_f64().unwrap(),
        chain: longest_chain(proxy.log()),
    }
}

/// The most calls of which each began when the one before had ended. Calls that depend on each
/// other are among these, so a true chain is never longer.
fn longest_chain(mut log: Vec<Logged>) -> usize {
    log.sort_by_key(|logged| logged.to);
    let mut chain = 0;
    let mut free = Duration::ZERO;
    for logged in log {
        if logged.from >= free {
            chain += 1;
            free = logged.to;
        }
    }
    chain
}

#[test]
fn a_run_takes_as_long_as_its_longest_chain() {
    for (seeds, chain) in ACCOUNTS {
        let account = Account::seeded(seeds, "us-west-2");
        let memory = Memory::default();
        measure(&account, Duration::ZERO, &memory);
        // The best of five: what else the machine does only ever adds.
        let best = |latency| {
            let all = (0..5).map(|_| measure(&account, latency, &memory));
            all.min_by(|a, b| a.milliseconds.total_cmp(&b.milliseconds)).unwrap()
        };
        let (quick, slow) = (best(Duration::ZERO), best(LATENCY));
        let waiting = (chain * 50) as f64;
        let ratio = slow.milliseconds / (waiting + quick.milliseconds);
        eprintln!(
            "{seeds:?}: {} calls, {:.3} s with 50 ms a call and {:.3} s without, chain {chain} \
             ({} one after the other), ratio {ratio:.2} ({:.2} over the waiting alone)",
            slow.calls,
            slow.milliseconds / 1000.0,
            quick.milliseconds / 1000.0,
            slow.chain,
            slow.milliseconds / waiting,
        );
        assert!(slow.calls <= MOST_CALLS, "{} calls", slow.calls);
        assert!(ratio <= MOST, "ratio {ratio:.2}");
    }
}
