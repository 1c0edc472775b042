//! One fault at one operation, for every pair of them.

use std::{sync::Mutex, thread, time::Instant};

use super::{Scenario, needs, rules};
use crate::proxy::{Fault, Operation};

/// Most runs wait for a time-out or a retry: many more than there are processors fit.
const AT_A_TIME: usize = 16;

#[test]
fn getting_started() {
    hold(&["getting-started"]);
}

#[test]
fn auto_mode() {
    hold(&["auto-mode"]);
}

fn hold(seed: &'static [&'static str]) {
    let scenario = Scenario::new(seed);
    let (baseline, operations) = scenario.baseline();
    assert!(operations.len() >= 15, "{operations:?}");
    let needs = needs();
    let pairs: Vec<(Operation, Fault)> = operations
        .iter()
        .flat_map(|operation| Fault::ALL.map(|fault| (operation.clone(), fault)))
        .collect();
    let (next, wrong) = (Mutex::new(pairs.iter()), Mutex::new(Vec::new()));
    let since = Instant::now();
    thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| {
                loop {
                    let Some((operation, fault)) = next.lock().unwrap().next() else { break };
                    let which = Some((Some(operation.clone()), *fault));
                    let (ran, proxy) = scenario.run(which);
                    assert!(proxy.log().iter().any(|logged| logged.operation == *operation));
                    let case = rules::Case { operation, fault: *fault, needs: &needs };
                    let found = case.wrong(&baseline, &ran);
                    wrong.lock().unwrap().extend(found);
                }
            });
        }
    });
    eprintln!("{seed:?}: {} runs in {:.1} s", pairs.len(), since.elapsed().as_secs_f32());
    let mut wrong = wrong.into_inner().unwrap();
    wrong.sort();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
