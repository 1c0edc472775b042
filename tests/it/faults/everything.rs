//! The same fault at every operation.

use std::time::{Duration, Instant};

use super::Scenario;
use crate::{
    cli::{Ran, Tool},
    emulator::CLUSTER,
    proxy::{At, Fault, Plan, Proxy},
};

fn run(fault: Fault) -> Ran {
    Scenario::new(&["getting-started"]).run(Some((At::All, fault))).0
}

/// Nothing is judged, and it is said for everything.
fn assert_all_unknown(ran: &Ran) {
    let report = ran.report();
    for status in ["pass", "warn", "fail"] {
        assert_eq!(report.count(status), 0, "{}", report.table());
    }
    assert!(report.count("unknown") > 0, "{}", report.table());
    assert_eq!(ran.stderr, "");
}

#[test]
fn all_denied_is_incomplete() {
    let ran = run(Fault::AccessDenied).exits(3);
    assert_all_unknown(&ran);
    let report = ran.report();
    for outcome in report.of_status("unknown") {
        assert!(outcome["missing_action"].is_string(), "{outcome:#}");
    }
}

#[test]
fn all_throttled_is_incomplete() {
    assert_all_unknown(&run(Fault::Throttled).exits(3));
}

#[test]
fn all_of_aws_failing_is_incomplete() {
    assert_all_unknown(&run(Fault::ServerError).exits(3));
}

#[test]
fn only_web_pages_are_no_aws() {
    for fault in [Fault::Page200, Fault::Page403, Fault::Page503, Fault::Garbage, Fault::Empty] {
        let ran = run(fault).exits(4).says(&["us-west-2", "not one of AWS's", "proxy"]);
        assert_eq!(ran.stdout, "", "{fault:?}");
    }
}

#[test]
fn expired_credentials_cannot_run() {
    let ran = run(Fault::ExpiredToken).exits(4).says(&["credentials", "expired", "log in"]);
    assert_eq!(ran.stdout, "");
}

#[test]
fn reset_connections_cannot_run() {
    let ran = run(Fault::Reset).exits(4).says(&["no answer from AWS in us-west-2", "network"]);
    assert_eq!(ran.stdout, "");
}

#[test]
fn a_silent_network_cannot_run_and_does_not_take_longer_than_allowed() {
    let scenario = Scenario::new(&["getting-started"]);
    let plan = Plan { fault: Some((At::All, Fault::TimeOut)), ..Plan::default() };
    let proxy = Proxy::start(plan);
    let since = Instant::now();
    Tool::new(["check", "--cluster", CLUSTER, "--timeout", "2s"])
        .aws(&scenario.account, &proxy.endpoint)
        .run()
        .exits(4)
        .says(&["no answer from AWS in us-west-2"]);
    assert!(since.elapsed() < Duration::from_secs(8), "{:?}", since.elapsed());
}
