//! Any text as a document. Nothing may panic or hang.
#![no_main]

#[allow(dead_code)]
mod exercise;
#[allow(dead_code, unused_imports)]
#[path = "../../src/iam/mod.rs"]
mod iam;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    exercise::document(text);
});
