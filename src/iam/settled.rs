//! Decisions that an independent evaluator agrees on, or that AWS's documentation settles.
//! `tests/oracle` makes them.

use serde_json::Value;

use crate::iam::simulate::simulate_line;

#[test]
fn settled_decisions() {
    let rows = include_str!("../../tests/data/iam/decisions.jsonl");
    let mut wrong = Vec::new();
    for row in rows.lines() {
        let row: Value = serde_json::from_str(row).unwrap();
        let answer: Value = serde_json::from_str(&simulate_line(&row["case"].to_string())).unwrap();
        if answer["decision"] != row["decision"] {
            wrong.push(format!("want {}, is {answer}: {row}", row["decision"]));
        }
    }
    assert!(rows.lines().count() >= 200, "the data is there");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
