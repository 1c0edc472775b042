//! Finds every pattern of the catalogue in one pass over squashed text.
//!
//! An automaton looks for a short piece of each pattern; only where it finds one is the
//! whole pattern compared.

use std::{cmp::Reverse, collections::BTreeMap};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use super::{
    catalogue::Catalogue,
    denial,
    entry::DocumentedError,
    network,
    pattern::{Pattern, Span},
};

/// What a piece that the automaton looks for belongs to.
#[derive(Debug, Clone, Copy)]
enum Target {
    Pattern(usize),
    Denial,
    Network,
}

/// How the automaton is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Build {
    /// Ready at once, for a line or two.
    Quick,
    /// Slower to build and faster to run, for logs.
    Fast,
}

/// All patterns of the catalogue, ready to be looked for.
#[derive(Debug)]
pub struct Matcher {
    automaton: Option<AhoCorasick>,
    /// For each piece of the automaton, what it belongs to.
    targets: Vec<Vec<Target>>,
    patterns: Vec<(&'static DocumentedError, Pattern)>,
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
        for entry in catalogue.iter() {
            for pattern in entry.patterns.iter().filter_map(|text| Pattern::new(text)) {
                let target = Target::Pattern(patterns.len());
                anchors.entry(pattern.anchor().to_vec()).or_default().push(target);
                patterns.push((entry, pattern));
            }
        }
        for anchor in denial::ANCHORS {
            anchors.entry(anchor.as_bytes().to_vec()).or_default().push(Target::Denial);
        }
        for (anchor, _) in network::ANCHORS {
            anchors.entry(anchor.as_bytes().to_vec()).or_default().push(Target::Network);
        }
        let kind = match build {
            Build::Quick => AhoCorasickKind::NoncontiguousNFA,
            Build::Fast => AhoCorasickKind::DFA,
        };
        // Only patterns of a size that no memory holds could make this fail.
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .kind(Some(kind))
            .prefilter(false)
            .build(anchors.keys())
            .ok();
        Self { automaton, targets: anchors.into_values().collect(), patterns }
    }

    /// Finds everything in `text`.
    pub fn find(&self, text: &[u8]) -> Found {
        let mut found = Found::default();
        let Some(automaton) = &self.automaton else { return found };
        for hit in automaton.find_overlapping_iter(text) {
            for target in &self.targets[hit.pattern().as_usize()] {
                match *target {
                    Target::Pattern(index) => {
                        found.matches.extend(self.confirm(index, text, hit.start()));
                    }
                    Target::Denial => found.denials.push(hit.start()),
                    Target::Network => found.network.push(hit.start()),
                }
            }
        }
        found
            .matches
            .sort_by_key(|found| (found.span.start, Reverse(found.span.end), found.pattern));
        found
    }

    fn confirm(&self, index: usize, text: &[u8], at: usize) -> Option<Match> {
        let (entry, pattern) = &self.patterns[index];
        let span = pattern.matches(text, at)?;
        Some(Match { entry, pattern: index, weight: pattern.weight(), span, anchor: at })
    }
}
