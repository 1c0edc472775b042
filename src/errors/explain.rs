//! Says which documented errors a text shows: one pass, at memory that does not grow with
//! the text.

use std::{
    collections::BTreeMap,
    io::{self, BufRead},
    sync::LazyLock,
};

use super::{
    catalogue::catalogue,
    denial::{self, Denial},
    entry::Rank,
    group::{Counted, Explanation, Group, Position, Seen, Votes, arrange},
    matcher::{Build, Match, Matcher},
    network::{self, NetworkFault},
    normalize::readable,
    window::Window,
};

/// Texts longer than this are worth the slower-built matcher, in bytes.
const LONG: usize = 64 * 1024;

/// Parts of one message are no further apart than this, in squashed bytes.
const MESSAGE: usize = 600;

/// How much of a message is shown, in bytes.
const SAMPLE: usize = 600;

/// How many different denied calls or failed connections are kept apart.
const DISTINCT: usize = 500;

/// Reads a text to its end and says which documented errors it shows.
///
/// # Errors
///
/// Only those of the reader.
pub fn explain(mut reader: impl BufRead) -> io::Result<Explanation> {
    static QUICK: LazyLock<Matcher> = LazyLock::new(|| Matcher::new(catalogue(), Build::Quick));
    static FAST: LazyLock<Matcher> = LazyLock::new(|| Matcher::new(catalogue(), Build::Fast));
    let mut window = Window::default();
    let mut tally = Tally::default();
    while window.advance(&mut reader)? {
        let long = window.bytes_before > 0 || window.raw().len() > LONG;
        let matcher: &Matcher = if long { &FAST } else { &QUICK };
        tally.take(&window, matcher);
    }
    Ok(tally.finish(&window))
}

/// What has been found so far.
#[derive(Default)]
struct Tally {
    groups: BTreeMap<&'static str, Open>,
    /// By the denial without its encoded message, which is another one each time.
    denials: BTreeMap<Denial, Counted<Denial>>,
    network: BTreeMap<NetworkFault, Counted<NetworkFault>>,
    unlisted: u64,
    votes: Votes,
    /// The start of the input, to find similar entries by.
    beginning: String,
}

/// A group that is still being counted.
struct Open {
    group: Group,
    /// The patterns of the latest occurrence and where it ends in the whole input.
    patterns: Vec<usize>,
    end: u64,
}

impl Tally {
    fn take(&mut self, window: &Window, matcher: &Matcher) {
        if window.bytes_before == 0 && self.beginning.is_empty() {
            self.beginning = readable(&window.raw()[..window.raw().len().min(4096)]);
        }
        let mut found = matcher.find(window.squashed());
        found.matches.retain(|found| is_one_message(window, found));
        for (index, one) in found.matches.iter().enumerate() {
            let fresh = window.fresh.contains(&one.anchor);
            if fresh && !is_wrapper(window, &found.matches, index) {
                self.count(window, one);
                self.vote(window, &found.matches, index);
            }
        }
        for at in found.denials.into_iter().filter(|at| window.fresh.contains(at)) {
            self.count_denial(window, at);
        }
        let mut last = None;
        for at in found.network.into_iter().filter(|at| window.fresh.contains(at)) {
            let repeats = last.is_some_and(|last| same_message(window, last, at));
            if !repeats && self.count_network(window, at) {
                last = Some(at);
            }
        }
    }

    fn count(&mut self, window: &Window, found: &Match) {
        let raw = window.raw_at(found.span.start);
        let raw_end = window.raw_at(found.span.end.saturating_sub(1)) + 1;
        let place = Position {
            start: window.bytes_before + raw as u64,
            end: window.bytes_before + raw_end as u64,
            weight: found.weight,
        };
        if let Some(open) = self.groups.get_mut(found.entry.id.as_str()) {
            if open.joins(window, found, place) {
                return;
            }
            open.patterns = vec![found.pattern];
            open.end = place.end;
            open.group.seen.again(window.moment(raw));
            return;
        }
        let seen = seen_at(window, raw, raw_end);
        let group = Group { entry: found.entry, seen, follow_ups: Vec::new(), place };
        let open = Open { group, patterns: vec![found.pattern], end: place.end };
        self.groups.insert(&found.entry.id, open);
    }

    /// Notes which causes of an error stand in the same message with it.
    fn vote(&mut self, window: &Window, matches: &[Match], index: usize) {
        /// A message holds no more than so many matches.
        const NEAR: usize = 12;
        let one = &matches[index];
        if one.entry.follows.is_empty() {
            return;
        }
        let near = &matches[index.saturating_sub(NEAR)..matches.len().min(index + NEAR)];
        for other in near.iter().filter(|other| one.entry.follows.contains(&other.entry.id)) {
            let start = one.span.start.min(other.span.start);
            if same_message(window, start, one.span.start.max(other.span.start)) {
                *self.votes.entry((&one.entry.id, &other.entry.id)).or_default() += 1;
            }
        }
    }

    fn count_denial(&mut self, window: &Window, at: usize) {
        let raw = window.raw_at(at);
        let from = raw.saturating_sub(600);
        let to = window.record_end(raw, 4096);
        let Some(denial) = denial::read(&window.raw()[from..to], raw - from) else { return };
        let key = Denial { encoded: None, ..denial.clone() };
        let counted = count_distinct(&mut self.denials, key, denial, window, raw);
        self.unlisted += u64::from(!counted);
    }

    fn count_network(&mut self, window: &Window, at: usize) -> bool {
        let raw = window.raw_at(at);
        let mut from = window.line_start(raw);
        if raw - from < 100 {
            // The address can stand on the line before, of a wrapped or indented message.
            let before = window.line_start(from.saturating_sub(1));
            from = if window.same_record(before, from) { before } else { from };
        }
        let to = window.line_end(raw).min(raw + 400);
        let before = &window.raw()[from.max(raw.saturating_sub(1000))..raw];
        let Some(fault) = network::read(before, &window.raw()[raw..to]) else { return false };
        let counted = count_distinct(&mut self.network, fault.clone(), fault, window, raw);
        self.unlisted += u64::from(!counted);
        true
    }

    /// Takes the whole input as one encoded message, where nothing else is in it.
    fn count_encoded(&mut self, window: &Window) {
        let nothing = self.groups.is_empty() && self.denials.is_empty() && self.network.is_empty();
        if !nothing || window.bytes_before > 0 {
            return;
        }
        if let Some(denial) = denial::encoded_alone(window.raw()) {
            let key = Denial { encoded: None, ..denial.clone() };
            count_distinct(&mut self.denials, key, denial, window, 0);
        }
    }

    fn finish(mut self, window: &Window) -> Explanation {
        self.count_encoded(window);
        let (bytes, lines) = window.size();
        let groups =
            arrange(self.groups.into_values().map(|open| open.group).collect(), &self.votes);
        let nearest =
            if groups.is_empty() { catalogue().nearest(&self.beginning) } else { Vec::new() };
        let denials = in_order(self.denials);
        let network = in_order(self.network);
        Explanation { lines, bytes, groups, denials, network, unlisted: self.unlisted, nearest }
    }
}

impl Open {
    /// Whether a match is a further part of the latest occurrence: another wording of the
    /// same entry, in the same message.
    fn joins(&mut self, window: &Window, found: &Match, place: Position) -> bool {
        if place.end <= self.end {
            return true;
        }
        let gap = place.start.saturating_sub(self.end);
        let near = gap <= 2 * MESSAGE as u64 && !self.patterns.contains(&found.pattern);
        let inside = self.end >= window.bytes_before;
        if !near || !inside {
            return false;
        }
        let from = usize::try_from(self.end - window.bytes_before).unwrap_or(usize::MAX);
        let to = usize::try_from(place.start.saturating_sub(window.bytes_before)).unwrap_or(0);
        if from < to && !window.same_record(from, to) {
            return false;
        }
        self.patterns.push(found.pattern);
        self.end = self.end.max(place.end);
        if self.group.seen.count == 1 {
            let own = &mut self.group.place;
            own.start = own.start.min(place.start);
            own.end = own.end.max(place.end);
            own.weight = own.weight.max(place.weight);
        }
        true
    }
}

/// Whether no new log record begins in the middle of a match.
fn is_one_message(window: &Window, found: &Match) -> bool {
    let (from, to) = (window.raw_at(found.span.start), window.raw_at(found.span.end - 1));
    window.same_record(from, to)
}

/// Whether two squashed positions, in order, are in one message.
fn same_message(window: &Window, from: usize, to: usize) -> bool {
    to - from <= MESSAGE && window.same_record(window.raw_at(from), window.raw_at(to))
}

/// Whether a match is of a generic entry in a message that a more telling entry explains.
fn is_wrapper(window: &Window, matches: &[Match], index: usize) -> bool {
    let one = &matches[index];
    if one.entry.rank != Rank::Generic {
        return false;
    }
    let telling = |other: &&Match| other.entry.rank != Rank::Generic;
    let before = matches[..index].iter().rev();
    let mut before = before.take_while(|other| other.span.start + MESSAGE >= one.span.start);
    let after = matches[index..].iter();
    let mut after = after.take_while(|other| other.span.start <= one.span.end + MESSAGE);
    before.find(telling).is_some_and(|other| {
        other.span.end >= one.span.start || same_message(window, other.span.start, one.span.start)
    }) || after.find(telling).is_some_and(|other| {
        let from = one.span.start.min(other.span.start);
        same_message(window, from, other.span.start.max(from))
    })
}

fn seen_at(window: &Window, raw: usize, raw_end: usize) -> Seen {
    let line = window.line_start(raw);
    let start = whole_word(window.raw(), line.max(raw.saturating_sub(SAMPLE / 2)), line, raw);
    let end = window.line_end(raw_end.min(window.raw().len())).min(start + SAMPLE).max(raw_end);
    let sample = readable(&window.raw()[start..end.min(window.raw().len())]);
    let sample = if start > line { format!("… {sample}") } else { sample };
    Seen::once(window.line_number(raw), window.moment(raw), sample)
}

/// Where a sample begins that must leave out the start of its line: at a word, if there is one
/// before the error.
fn whole_word(raw: &[u8], start: usize, line: usize, error: usize) -> usize {
    let blank = raw[start..error].iter().position(|&byte| byte == b' ');
    if start == line { start } else { blank.map_or(start, |at| start + at + 1) }
}

/// Counts `what` among those with the same key. False if there are too many others.
fn count_distinct<T: Ord>(
    all: &mut BTreeMap<T, Counted<T>>,
    key: T,
    what: T,
    window: &Window,
    raw: usize,
) -> bool {
    if let Some(counted) = all.get_mut(&key) {
        counted.seen.again(window.moment(raw));
        return true;
    }
    let room = all.len() < DISTINCT;
    if room {
        let seen = seen_at(window, raw, raw + 1);
        all.insert(key, Counted { what, seen });
    }
    room
}

/// In the order of their first occurrence.
fn in_order<T: Ord>(all: BTreeMap<T, Counted<T>>) -> Vec<Counted<T>> {
    let mut all: Vec<_> = all.into_values().collect();
    all.sort_by_key(|counted| counted.seen.line);
    all
}
