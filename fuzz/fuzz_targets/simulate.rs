//! Any text as a line of `policy simulate`: the answer is always one line of JSON.
#![no_main]

#[allow(dead_code, unused_imports)]
#[path = "../../src/iam/mod.rs"]
mod iam;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let answer = iam::simulate::simulate_line(text);
    assert!(!answer.contains('\n'));
    assert!(serde_json::from_str::<iam::simulate::Answer>(&answer).is_ok());
});
