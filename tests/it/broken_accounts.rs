//! Accounts with faults of network, keys and limits, judged over HTTP.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{
    cli::Tool,
    emulator::Account,
    report::{Report, text},
};

fn report(faults: &'static [&'static str]) -> Report {
    Tool::check(&Account::seeded(faults, "us-west-2")).report()
}

/// The subjects of a check with this status.
fn subjects(report: &Report, check: &str, status: &str) -> BTreeSet<String> {
    let of_check = report.of_status(status).filter(|outcome| text(outcome, "check") == check);
    of_check.map(|outcome| text(outcome, "subject")).collect()
}

/// The checks with an outcome of this status that the healthy account has not.
fn new(report: &Report, status: &str) -> BTreeSet<String> {
    let healthy = self::report(&["getting-started"]);
    report.checks(status).difference(&healthy.checks(status)).cloned().collect()
}

fn set(ids: &[&str]) -> BTreeSet<String> {
    ids.iter().map(|id| (*id).to_owned()).collect()
}

/// Every finding can be acted on.
fn assert_mended(report: &Report) {
    for outcome in report.of_status("fail").chain(report.of_status("warn")) {
        let steps = outcome["remedy"]["steps"].as_array().unwrap();
        assert!(!steps.is_empty(), "{outcome:#}");
        assert!(!text(outcome, "effect").is_empty(), "{outcome:#}");
    }
}

#[test]
fn a_closed_network() {
    let account = Account::seeded(&["getting-started", "faults-network"], "us-west-2");
    let report = report(&["getting-started", "faults-network"]);
    let fails = [
        "cluster-endpoint-access",
        "network-acls",
        "vpc-block-public-access",
        "vpc-dns",
        "vpc-endpoints",
    ];
    assert_eq!(new(&report, "fail"), set(&fails), "{}", report.table());
    assert_eq!(new(&report, "warn"), set(&["security-groups-cluster-tag"]), "{}", report.table());
    assert_eq!(report.count("unknown"), 0, "{}", report.table());
    let made = |name: &str| set(&[account.made[name].as_str().unwrap()]);
    assert_eq!(subjects(&report, "vpc-endpoints", "fail"), made("endpoint"));
    assert_eq!(subjects(&report, "network-acls", "fail"), made("acl"));
    assert_eq!(subjects(&report, "vpc-dns", "fail"), made("vpc"));
    assert_mended(&report);
}

#[test]
fn an_isolated_network_and_its_endpoints() {
    let broken = report(&["getting-started", "faults-isolated"]);
    let fails = set(&["cluster-endpoint-access", "vpc-endpoints"]);
    assert_eq!(new(&broken, "fail"), fails, "{}", broken.table());
    let errors = broken.errors("fail");
    for error in ["ec2-connectivity-check-failed", "image-pull-failed", "ami-alias-not-resolved"] {
        assert!(errors.contains(error), "{error} is not in {errors:?}");
    }
    assert_mended(&broken);
    let mended = report(&["getting-started", "faults-isolated", "faults-isolated-mended"]);
    for status in ["fail", "warn", "unknown"] {
        assert_eq!(mended.count(status), 0, "{}", mended.table());
    }
}

#[test]
fn public_subnets_without_public_addresses() {
    let report = report(&["getting-started", "faults-public-nodes"]);
    assert_eq!(new(&report, "fail"), set(&["subnet-routes"]), "{}", report.table());
    assert_eq!(subjects(&report, "subnet-routes", "fail").len(), 3);
    assert_mended(&report);
}

#[test]
fn keys_and_limits() {
    let account = Account::seeded(&["getting-started", "faults-limits"], "us-west-2");
    let report = report(&["getting-started", "faults-limits"]);
    let fails = ["allowed-images", "queue-encryption", "vcpu-quota", "volume-keys"];
    assert_eq!(new(&report, "fail"), set(&fails), "{}", report.table());
    assert_eq!(new(&report, "warn"), set(&["failed-launches", "spot-quota"]), "{}", report.table());
    assert_eq!(report.count("unknown"), 0, "{}", report.table());
    let key: &Value = &account.made["volumeKey"];
    assert_eq!(subjects(&report, "volume-keys", "fail"), set(&[key.as_str().unwrap()]));
    let errors = report.errors("fail");
    for error in ["encrypted-volume-failed", "kms-key-denied", "vcpu-limit-exceeded"] {
        assert!(errors.contains(error), "{error} is not in {errors:?}");
    }
    assert_mended(&report);
}
