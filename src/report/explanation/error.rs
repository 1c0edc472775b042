//! One documented error: where it was seen, what it means, its causes.

use std::io::{self, Write};

use super::{
    FollowUp, ShownDenial, ShownError, causes, denial, network,
    rows::{Rows, line, times},
};
use crate::{
    errors::{Counted, DocumentedError, NetworkFault, Rank, Seen},
    report::{
        Report,
        style::{Ink, Style},
        text::{hang, prose},
    },
};

/// How much of the input is shown, in characters.
const SAMPLE: usize = 320;

/// So many denied calls and failed connections of one message are shown.
const SHOWN: usize = 5;

/// What the same message says besides.
#[derive(Default)]
pub(super) struct Details<'a> {
    pub denials: Vec<&'a ShownDenial>,
    pub network: Vec<&'a Counted<NetworkFault>>,
}

impl Details<'_> {
    pub fn is_empty(&self) -> bool {
        self.denials.is_empty() && self.network.is_empty()
    }
}

pub(super) fn write(
    error: &ShownError,
    details: &Details<'_>,
    report: Option<&Report>,
    out: &mut dyn Write,
    style: Style,
) -> io::Result<()> {
    let entry = error.entry;
    writeln!(out, "{}", style.paint(Ink::Heading, &entry.id))?;
    hang(out, "", &prose(&format!("{}.", entry.title), style.columns(), style))?;
    writeln!(out)?;
    let rows = Rows { style, indent: 2, labels: 12 };
    match &error.seen {
        Some(seen) => {
            rows.row("Seen", &occurrences(seen), out)?;
            rows.quote("As", &shortened(&seen.sample), out)?;
        }
        None => rows.quote("Reads", &entry.quote, out)?,
    }
    rows.row("Shown in", &places(entry), out)?;
    if let Some(versions) = versions(entry) {
        rows.row("Karpenter", &versions, out)?;
    }
    for (i, follow_up) in error.follow_ups.iter().enumerate() {
        rows.row(if i == 0 { "Leads to" } else { "" }, &consequence(follow_up), out)?;
    }
    if let Some(note) = note(entry.rank).filter(|_| details.is_empty()) {
        rows.row("Note", note, out)?;
    }
    for shown in details.denials.iter().take(SHOWN) {
        writeln!(out)?;
        denial::write(shown, out, style)?;
    }
    for fault in details.network.iter().take(SHOWN) {
        writeln!(out)?;
        network::write(fault, out, style)?;
    }
    causes::write(error, report, out, style)?;
    writeln!(out)?;
    rows.lines("Sources", entry.sources.iter().map(String::as_str), out)
}

/// `3 times, first in line 12, from … to …`.
fn occurrences(seen: &Seen) -> String {
    let mut text = format!("{}, {}", times(seen.count), line(seen));
    match (&seen.first, &seen.last) {
        (Some(first), Some(last)) if first != last => {
            text += &format!(", from {} to {}", first.text, last.text);
        }
        (Some(first), _) => text += &format!(", at {}", first.text),
        _ => {}
    }
    text
}

pub(super) fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(SAMPLE).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

pub(in crate::report) fn places(entry: &DocumentedError) -> String {
    let places: Vec<_> = entry.printed.iter().map(|place| place.words()).collect();
    places.join(", ")
}

pub(in crate::report) fn versions(entry: &DocumentedError) -> Option<String> {
    match (&entry.since, &entry.until) {
        (Some(since), Some(until)) => Some(format!("{since} to {until}")),
        (Some(since), None) => Some(format!("{since} and newer")),
        (None, Some(until)) => Some(format!("up to {until}")),
        (None, None) => None,
    }
}

fn consequence(follow_up: &FollowUp) -> String {
    let count = times(follow_up.seen.count);
    format!("`{}` ({count}): {}", follow_up.id, follow_up.title)
}

pub(in crate::report) fn note(rank: Rank) -> Option<&'static str> {
    match rank {
        Rank::Cause => None,
        Rank::Symptom => {
            Some("It says what does not work; several unlike things can be behind it.")
        }
        Rank::Generic => Some("It is a general wrapper: look for a more telling text near it."),
        Rank::Benign => Some("It looks like an error; by itself it needs nothing done."),
    }
}
