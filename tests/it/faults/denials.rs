//! What a caller may not do, in accounts that are found in other ways, or that are broken.

use super::{Scenario, needs, rules};
use crate::{
    emulator::CLUSTER,
    proxy::{At, Fault},
};

type Args = &'static [&'static str];

const SCENARIOS: &[(Args, Args)] = &[
    (&["getting-started"], &[]),
    (&["auto-mode"], &[]),
    (&["terraform-module"], &[]),
    (&["eksctl-irsa"], &[]),
    (&["seeds-broken"], &["--karpenter-version", "1.0.6", "--interruption-queue", CLUSTER]),
    (&["seeds-broken", "seeds-fixed"], &[]),
];

/// The resource ids of the other accounts come from Terraform or the user: the first two are
/// in the matrix of every fault.
#[test]
fn of_one_operation() {
    let needs = needs();
    let mut wrong = Vec::new();
    for (seeds, args) in &SCENARIOS[2..] {
        let scenario = Scenario::asking(seeds, args);
        let (baseline, operations) = scenario.baseline();
        for operation in operations {
            let (at, fault) = (At::One(operation), Fault::AccessDenied);
            let (ran, _) = scenario.run(Some((at.clone(), fault)));
            let found = rules::Case { at, fault, needs: &needs }.wrong(&baseline, &ran);
            wrong.extend(found.into_iter().map(|wrong| format!("{seeds:?}: {wrong}")));
        }
    }
    rules::assert_none(wrong);
}

#[test]
fn of_a_whole_service() {
    let needs = needs();
    let mut wrong = Vec::new();
    for (seeds, args) in SCENARIOS {
        let scenario = Scenario::asking(seeds, args);
        let (baseline, _) = scenario.baseline();
        for service in ["ec2", "eks", "events", "iam", "sqs", "ssm", "sts"] {
            let (at, fault) = (At::Service(service), Fault::AccessDenied);
            let (ran, _) = scenario.run(Some((at.clone(), fault)));
            let found = rules::Case { at, fault, needs: &needs }.wrong(&baseline, &ran);
            wrong.extend(found.into_iter().map(|wrong| format!("{seeds:?}: {wrong}")));
        }
    }
    rules::assert_none(wrong);
}
