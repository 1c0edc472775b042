//! Facts files that are not what they should be.

use std::fs;

use serde_json::json;

use super::Facts;
use crate::{cli::Tool, emulator};

#[test]
fn a_newer_schema_is_refused_with_both_versions() {
    let facts = Facts::with(&[("/schema_version", json!(7)), ("/tool_version", json!("9.8.7"))]);
    facts.check().run().exits(2).says(&["schema version 7", "up to 1", "9.8.7"]);
}

#[test]
fn a_newer_schema_is_refused_whatever_else_it_holds() {
    let facts = Facts::of_text(r#"{"schema_version": 7, "tool_version": "9.8.7", "new": []}"#);
    facts.check().run().exits(2).says(&["schema version 7", "up to 1", "9.8.7"]);
}

#[test]
fn what_is_no_facts_file_is_refused_by_name() {
    let healthy = fs::read_to_string(emulator::data("accounts/karpenter.json")).unwrap();
    let half = &healthy[..healthy.len() / 2];
    for text in ["", "{}", "[]", "null", "hello", "{\"schema_version\": 1}", half] {
        let facts = Facts::of_text(text);
        facts
            .check()
            .run()
            .exits(2)
            .says(&["facts.json", "not a facts file of karpenter-preflight"]);
    }
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    let facts = Facts::of_text("");
    fs::write(facts.path(), [0xff, 0xfe, 0x00]).unwrap();
    facts.check().run().exits(2).says(&["facts.json"]);
}

#[test]
fn a_file_that_is_not_there_is_named() {
    Tool::new(["check", "--facts", "nowhere/facts.json"])
        .run()
        .exits(2)
        .says(&["nowhere/facts.json", "No such file"]);
    Tool::new(["check", "--facts", "/"]).run().exits(2).says(&["cannot read /"]);
}

#[test]
fn another_cluster_than_the_files_is_refused() {
    let facts = Facts::healthy();
    facts.check().args(["--cluster", "other"]).run().exits(2).says(&["`demo`", "`other`"]);
    facts.check().args(["--cluster", "demo"]).run().exits(0);
}

#[test]
fn flags_override_what_was_asked_then() {
    let facts = Facts::with_warning();
    let report = facts.check().args(["--karpenter-version", "1.4.0"]).report();
    assert_eq!(report.code, 1, "{}", report.table());
    assert_eq!(report.value["target"]["karpenter_version"]["origin"], "flag");
}

#[test]
fn the_same_facts_give_the_same_bytes() {
    for facts in [Facts::healthy(), Facts::with_failure(), Facts::with_unknown()] {
        for format in super::FORMATS {
            let run = || facts.check().args(["--output", format]).run().stdout;
            assert_eq!(run(), run(), "{format}");
        }
    }
}
