//! Every operation that a run makes, with every fault: nothing that could not be read may read
//! as fine, or as not there.

mod denials;
mod everything;
mod matrix;
mod rules;

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    cli::{Ran, Tool},
    emulator::{Account, CLUSTER},
    proxy::{At, Fault, Memory, Operation, Plan, Proxy},
    report::Report,
};

/// An account, what is asked about it, and the answers it gave.
struct Scenario {
    account: Arc<Account>,
    args: &'static [&'static str],
    memory: Memory,
}

impl Scenario {
    fn new(seed: &'static [&'static str]) -> Self {
        Self::asking(seed, &[])
    }

    fn asking(seed: &'static [&'static str], args: &'static [&'static str]) -> Self {
        let account = Account::seeded(seed, "us-west-2");
        Self { account, args, memory: Memory::default() }
    }

    /// Runs `check` with a fault at one operation, or at all.
    fn run(&self, fault: Option<(At, Fault)>) -> (Ran, Proxy) {
        let plan = Plan { fault, memory: Arc::clone(&self.memory), ..Plan::default() };
        // A hang takes all the time there is; every other run must have enough of it.
        let hangs = matches!(&plan.fault, Some((_, Fault::TimeOut)));
        let timeout = if hangs { "10s" } else { "60s" };
        let proxy = Proxy::start(plan);
        let ran = Tool::new(["check", "--cluster", CLUSTER, "--output", "json"])
            .args(["--timeout", timeout])
            .args(self.args)
            .aws(&self.account, &proxy.endpoint)
            .run();
        (ran, proxy)
    }

    /// The report without any fault, and the operations that it took.
    fn baseline(&self) -> (Report, Vec<Operation>) {
        let (ran, proxy) = self.run(None);
        let mut operations: Vec<_> =
            proxy.log().into_iter().map(|logged| logged.operation).collect();
        operations.sort();
        operations.dedup();
        (ran.report(), operations)
    }
}

/// The IAM actions that each check says it needs.
fn needs() -> BTreeMap<String, Vec<String>> {
    let list = Tool::new(["list", "checks", "--output", "json"]).run().json();
    let checks = list.as_array().unwrap().iter();
    checks
        .map(|check| {
            let needs = check["needs"].as_array().unwrap().iter();
            let needs = needs.map(|action| action.as_str().unwrap().to_owned()).collect();
            (check["id"].as_str().unwrap().to_owned(), needs)
        })
        .collect()
}
