//! `--select`, `--exclude`, `list` and `explain`.

use std::collections::BTreeSet;

use super::Facts;
use crate::{cli::Tool, report::text};

fn checks(args: &[&str]) -> BTreeSet<String> {
    let report = Facts::healthy().check().args(args).report();
    report.outcomes().iter().map(|outcome| text(outcome, "check")).collect()
}

#[test]
fn select_and_exclude_by_id_and_area() {
    let all = checks(&[]);
    let launch = checks(&["--select", "launch"]);
    assert!(launch.len() < all.len() && launch.contains("spot-service-linked-role"), "{launch:?}");
    let rest = checks(&["--exclude", "launch"]);
    assert_eq!(all, launch.union(&rest).cloned().collect());
    assert!(launch.is_disjoint(&rest));
    let two = checks(&["--select", "queue-exists,auth-mode"]);
    assert_eq!(two, ["auth-mode", "queue-exists"].map(str::to_owned).into());
    let one = checks(&["--select", "launch", "--exclude", "launch", "--select", "auth-mode"]);
    assert_eq!(one, ["auth-mode".to_owned()].into());
}

#[test]
fn a_check_that_is_left_out_does_not_count() {
    let facts = Facts::with_failure();
    facts.check().run().exits(1);
    facts.check().args(["--exclude", "security-groups-discovered"]).run().exits(0);
}

#[test]
fn unknown_ids_get_a_suggestion() {
    let facts = Facts::healthy();
    for flag in ["--select", "--exclude"] {
        facts
            .check()
            .args([flag, "spot-service-role"])
            .run()
            .exits(2)
            .says(&["`spot-service-role`", "did you mean `spot-service-linked-role`?"]);
    }
    facts.check().args(["--select", "zzz"]).run().exits(2).says(&["`zzz`", "list checks"]);
    facts
        .check()
        .args(["--exclude", "controller,launch,join,interruption,scheduling,disruption"])
        .run()
        .exits(2);
    Tool::new(["explain", "queue-exist"]).run().exits(2).says(&["did you mean `queue-exists`?"]);
    Tool::new(["explain", "zzz"]).run().exits(2).says(&["list checks"]);
}

#[test]
fn a_wrong_id_is_said_before_anything_is_read() {
    // There are no credentials here: had it tried, it would have said so.
    Tool::new(["check", "--cluster", "demo", "--region", "us-west-2", "--select", "zzz"])
        .run()
        .exits(2);
}

#[test]
fn every_listed_check_explains_itself() {
    let list = Tool::new(["list", "checks", "--output", "json"]).run().exits(0).json();
    let human = Tool::new(["list", "checks"]).run().exits(0).stdout;
    for check in list.as_array().unwrap() {
        let id = text(check, "id");
        assert!(human.contains(&id), "{id}");
        let words = Tool::new(["explain", &id]).run().exits(0).stdout;
        assert!(words.contains(&id), "{words}");
        let json = Tool::new(["explain", &id, "--output", "json"]).run().exits(0).json();
        assert_eq!(json["id"], check["id"]);
    }
}
