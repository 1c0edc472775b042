//! Documents and lines that are nearly right: whatever they are, nothing panics. Seeded, so that
//! a failure comes back; `make fuzz` looks further.

use serde_json::Value;

#[path = "../../fuzz/fuzz_targets/exercise.rs"]
mod exercise;

/// How many mutated texts are tried.
const DOCUMENTS: usize = 50_000;
const LINES: usize = 500;

/// Pieces that a mutation puts in.
const PIECES: &[&str] = &[
    "\"*\"",
    "${",
    "${aws:PrincipalTag/a, 'b'}",
    "}",
    "[",
    "]",
    "{",
    "null",
    "true",
    "-1e999",
    "\\u0000",
    "\\ud800",
    "%",
    "%7B",
    "🦀",
    "\"",
    "\\",
    ",",
    ":",
    "ForAllValues:",
    "ForAnyValue:",
    "IfExists",
    "\"NotAction\":",
    "\"NotResource\":",
    "\"NotPrincipal\":",
    "\"Condition\":",
    "ArnLike",
    "IpAddress",
    "DateLessThan",
    "NumericEquals",
    "BinaryEquals",
    "Null",
    "2012-10-17",
    "arn:aws:",
    "::",
    "?",
    "a:*",
    "10.0.0.0/33",
    "::/200",
    "2025-13-40T99:99:99Z",
];

/// A linear congruential generator: plain, and the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound.max(1)
    }

    /// A place between two characters.
    fn place(&mut self, text: &str) -> usize {
        let mut at = self.below(text.len() + 1);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }
}

/// Another letter here and there: what comes out is JSON still, and often a document.
fn respell(random: &mut Random, text: &str) -> String {
    const LETTERS: &[u8] = b"*?$aZ0:/-.,\'";
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len());
        if bytes[at].is_ascii_alphanumeric() {
            bytes[at] = LETTERS[random.below(LETTERS.len())];
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn mutate(random: &mut Random, text: &str, others: &[String]) -> String {
    if random.below(2) == 0 {
        return respell(random, text);
    }
    let mut text = text.to_owned();
    for _ in 0..=random.below(3) {
        let (a, b) = (random.place(&text), random.place(&text));
        let (from, to) = (a.min(b), a.max(b).min(a.min(b) + 40));
        let to = (from..=to).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(from);
        match random.below(6) {
            0 => text.replace_range(from..to, ""),
            1 => text.insert_str(from, PIECES[random.below(PIECES.len())]),
            2 => text.replace_range(from..to, PIECES[random.below(PIECES.len())]),
            3 => {
                let part = text[from..to].to_owned();
                text.insert_str(b, &part);
            }
            4 => text.truncate(from.max(1)),
            _ => {
                let other = &others[random.below(others.len())];
                let cut = random.place(other);
                text.truncate(from);
                text.push_str(&other[cut..]);
            }
        }
    }
    text
}

/// Documents of one statement each, from the settled decisions: short, and of every kind.
fn statements() -> Vec<String> {
    let rows = include_str!("../../tests/data/iam/decisions.jsonl").lines();
    let mut documents = Vec::new();
    for row in rows {
        collect(&serde_json::from_str(row).unwrap(), &mut documents);
    }
    documents
}

fn collect(value: &Value, documents: &mut Vec<String>) {
    match value {
        Value::Object(fields) if fields.contains_key("Effect") => {
            let document = serde_json::json!({"Version": "2012-10-17", "Statement": value});
            documents.push(document.to_string());
        }
        Value::Object(fields) => fields.values().for_each(|value| collect(value, documents)),
        Value::Array(items) => items.iter().for_each(|value| collect(value, documents)),
        _ => {}
    }
}

#[test]
fn mutated_documents_do_no_harm() {
    let documents = statements();
    assert!(documents.len() > 300, "{}", documents.len());
    let mut random = Random(42);
    let mut read = 0;
    for n in 0..DOCUMENTS {
        let text = mutate(&mut random, &documents[n % documents.len()], &documents);
        read += usize::from(exercise::document(&text));
    }
    // Else the evaluator was hardly reached.
    assert!(read > DOCUMENTS / 20, "only {read} of {DOCUMENTS} could be read");
    assert!(read < DOCUMENTS, "none was broken");
}

#[test]
fn mutated_lines_get_an_answer() {
    let rows = include_str!("../../tests/data/iam/decisions.jsonl").lines();
    let cases: Vec<String> = rows
        .map(|row| serde_json::from_str::<Value>(row).unwrap()["case"].to_string())
        .filter(|case| case.len() < 1500)
        .collect();
    let mut random = Random(7);
    for n in 0..LINES {
        exercise::line(&mutate(&mut random, &cases[n % cases.len()], &cases));
    }
}
