//! One fault at one operation, for every pair of them.

use std::{sync::Mutex, thread, time::Instant};

use super::{Scenario, needs, rules};
use crate::proxy::{At, Fault, Operation};

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
                    let at = At::One(operation.clone());
                    let (ran, proxy) = scenario.run(Some((at.clone(), *fault)));
                    let seen = proxy.log().iter().any(|logged| logged.operation == *operation);
                    assert!(seen, "{operation} {fault:?} was not asked: {ran:#?}");
                    let case = rules::Case { at, fault: *fault, needs: &needs };
                    wrong.lock().unwrap().extend(case.wrong(&baseline, &ran));
                }
            });
        }
    });
    eprintln!("{seed:?}: {} runs in {:.1} s", pairs.len(), since.elapsed().as_secs_f32());
    rules::assert_none(wrong.into_inner().unwrap());
}
