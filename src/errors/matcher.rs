//! Finds every pattern of the catalogue in one pass over squashed text.
//!
//! A short piece of each pattern is looked for, by an automaton in a long text and one by one
//! in a short one; only where a piece stands is the whole pattern compared.

use std::{cmp::Reverse, collections::BTreeMap};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use super::{
    catalogue::{Catalogue, Slot},
    denial,
    entry::DocumentedError,
    network,
    pattern::{Pattern, Span},
};

/// What a piece that is looked for belongs to.
#[derive(Debug, Clone, Copy)]
enum Target {
    Pattern(usize),
    Denial,
    Network,
}

/// How the pieces are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Build {
    /// One by one: nothing to build, for a line or a page.
    Quick,
    /// By an automaton, slow to build and fast to run: for logs.
    Fast,
}

#[derive(Debug)]
enum Search {
    Pieces(Vec<Vec<u8>>),
    Automaton(AhoCorasick),
}

/// All patterns of the catalogue, ready to be looked for.
#[derive(Debug)]
pub struct Matcher {
    search: Search,
    /// For each piece, what it belongs to.
    targets: Vec<Vec<Target>>,
    patterns: Vec<(&'static Slot, Pattern)>,
}

/// A pattern of an entry, found.
#[derive(Debug, Clone, Copy)]
pub struct Match {
    pub entry: &'static DocumentedError,
    /// The number of the pattern among all.
    pub pattern: usize,
    pub weight: usize,
    pub span: Span,
    /// Where the piece stands by which it was found.
    pub anchor: usize,
}

/// Everything found in a stretch of squashed text, in order.
#[derive(Debug, Default)]
pub struct Found {
    pub matches: Vec<Match>,
    /// Where texts of denied calls stand.
    pub denials: Vec<usize>,
    /// Where texts of failed connections stand.
    pub network: Vec<usize>,
}

impl Matcher {
    pub fn new(catalogue: &'static Catalogue, build: Build) -> Self {
        let mut patterns = Vec::new();
        let mut anchors: BTreeMap<Vec<u8>, Vec<Target>> = BTreeMap::new();
        for slot in catalogue.slots() {
            for pattern in slot.patterns().iter().filter_map(|text| Pattern::new(text)) {
                let target = Target::Pattern(patterns.len());
                anchors.entry(pattern.anchor().to_vec()).or_default().push(target);
                patterns.push((slot, pattern));
            }
        }
        for anchor in denial::ANCHORS {
            anchors.entry(anchor.as_bytes().to_vec()).or_default().push(Target::Denial);
        }
        for (anchor, _) in network::ANCHORS {
            anchors.entry(anchor.as_bytes().to_vec()).or_default().push(Target::Network);
        }
        let (pieces, targets): (Vec<_>, Vec<_>) = anchors.into_iter().unzip();
        let search = match build {
            Build::Quick => Search::Pieces(pieces),
            // Only patterns of a size that no memory holds could make this fail.
            Build::Fast => automaton(&pieces).map_or(Search::Pieces(pieces), Search::Automaton),
        };
        Self { search, targets, patterns }
    }

    /// Finds everything in `text`.
    pub fn find(&self, text: &[u8]) -> Found {
        let mut found = Found::default();
        match &self.search {
            Search::Automaton(automaton) => {
                for hit in automaton.find_overlapping_iter(text) {
                    self.take(&mut found, hit.pattern().as_usize(), text, hit.start());
                }
            }
            Search::Pieces(pieces) => {
                for (index, piece) in pieces.iter().enumerate() {
                    for at in memchr::memmem::find_iter(text, piece) {
                        self.take(&mut found, index, text, at);
                    }
                }
            }
        }
        found
            .matches
            .sort_by_key(|found| (found.span.start, Reverse(found.span.end), found.pattern));
        found.denials.sort_unstable();
        found.network.sort_unstable();
        found
    }

    /// Notes what a piece that stands at `at` shows.
    fn take(&self, found: &mut Found, piece: usize, text: &[u8], at: usize) {
        for target in &self.targets[piece] {
            match *target {
                Target::Pattern(index) => found.matches.extend(self.confirm(index, text, at)),
                Target::Denial => found.denials.push(at),
                Target::Network => found.network.push(at),
            }
        }
    }

    fn confirm(&self, index: usize, text: &[u8], at: usize) -> Option<Match> {
        let (slot, pattern) = &self.patterns[index];
        let span = pattern.matches(text, at)?;
        let entry = slot.entry()?;
        Some(Match { entry, pattern: index, weight: pattern.weight(), span, anchor: at })
    }
}

fn automaton(pieces: &[Vec<u8>]) -> Option<AhoCorasick> {
    AhoCorasick::builder()
        .match_kind(MatchKind::Standard)
        .kind(Some(AhoCorasickKind::DFA))
        .prefilter(false)
        .build(pieces)
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::errors::{catalogue, normalize::squash, tests::samples};

    #[test]
    fn both_ways_find_the_same() {
        let [quick, fast] = [Build::Quick, Build::Fast].map(|b| Matcher::new(catalogue(), b));
        for sample in samples() {
            let text = squash(sample.text.repeat(2).as_bytes());
            let [one, other] = [&quick, &fast].map(|matcher| format!("{:?}", matcher.find(&text)));
            assert_eq!(one, other, "{}", sample.text);
        }
    }
}
