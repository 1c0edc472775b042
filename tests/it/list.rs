//! `list errors`.

use serde_json::json;

use crate::{
    cli::{Ran, Tool},
    report::text,
};

fn listed(ran: &Ran) -> Vec<String> {
    ran.json().as_array().unwrap().iter().map(|error| text(error, "id")).collect()
}

#[test]
fn errors_are_listed_by_area_place_and_check() {
    let list = |args: &[&str]| {
        Tool::new(["list", "errors"]).args(args).args(["--output", "json"]).run().exits(0)
    };
    let all = listed(&list(&[]));
    assert!(all.len() > 150 && all.is_sorted());
    let human = Tool::new(["list", "errors"]).run().exits(0).stdout;
    for id in &all {
        assert!(human.contains(&format!("  {id}\n")), "{id}");
    }
    for error in list(&["--area", "join", "--place", "kubelet-log"]).json().as_array().unwrap() {
        assert_eq!(error["area"], "join");
        assert!(error["printed"].as_array().unwrap().contains(&json!("kubelet-log")));
    }
    assert_eq!(
        listed(&list(&["--check", "imds-metadata-tags"])).first().unwrap(),
        "create-fleet-failed"
    );
    for args in [["--area", "joins"], ["--check", "queue-exist"], ["--place", "moon"]] {
        Tool::new(["list", "errors"]).args(args).run().exits(2);
    }
}
