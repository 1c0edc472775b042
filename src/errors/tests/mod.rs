//! The room as a whole, on the texts that it was made for.

mod connections;
mod denials;
mod explaining;
mod mutations;
mod precision;
mod samples;
mod seeds;

use super::{Explanation, catalogue, explain::explain};

/// A printed error and the entry that it shows.
#[derive(serde::Deserialize)]
pub struct Sample {
    id: String,
    pub text: String,
    source: String,
}

pub fn samples() -> Vec<Sample> {
    include_str!("../../../tests/data/errors/samples.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn explained(text: impl AsRef<[u8]>) -> Explanation {
    explain(text.as_ref()).unwrap()
}

/// The id of the entry that leads, or nothing.
fn first(text: impl AsRef<[u8]>) -> String {
    explained(text).groups.first().map(|group| group.entry.id.clone()).unwrap_or_default()
}

/// The ids of all entries that a text shows, follow-ups too.
fn all(explanation: &Explanation) -> Vec<&str> {
    let groups = explanation.groups.iter();
    groups
        .flat_map(|group| std::iter::once(group).chain(&group.follow_ups))
        .map(|group| group.entry.id.as_str())
        .collect()
}
