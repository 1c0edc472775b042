//! A pattern: literal pieces in order, with something that varies between them.

use super::normalize::squash;

/// How much squashed text a `*` may stand for.
const GAP: usize = 200;

/// How much of a piece the first pass looks for; the rest is compared on a hit only.
const ANCHOR: usize = 16;

/// The squashed pieces of a pattern.
#[derive(Debug)]
pub struct Pattern {
    pieces: Vec<Vec<u8>>,
    /// The index of the longest piece, by which the pattern is found.
    anchor: usize,
}

/// Where a pattern was found in squashed text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    pub start: usize,
    pub end: usize,
}

impl Pattern {
    /// `None` for a text without anything literal.
    pub fn new(text: &str) -> Option<Self> {
        let pieces: Vec<Vec<u8>> = text
            .split('*')
            .map(|piece| squash(piece.as_bytes()))
            .filter(|piece| !piece.is_empty())
            .collect();
        let anchor = (0..pieces.len()).rev().max_by_key(|&index| pieces[index].len())?;
        Some(Self { pieces, anchor })
    }

    /// What the first pass looks for.
    pub fn anchor(&self) -> &[u8] {
        let piece = &self.pieces[self.anchor];
        &piece[..piece.len().min(ANCHOR)]
    }

    /// How much of it is literal: the more, the more it says.
    pub fn weight(&self) -> usize {
        self.pieces.iter().map(Vec::len).sum()
    }

    /// Whether the pattern stands in `text` with its anchor at `at`.
    pub fn matches(&self, text: &[u8], at: usize) -> Option<Span> {
        let (before, rest) = self.pieces.split_at(self.anchor);
        let (anchor, after) = rest.split_first()?;
        if !text[at..].starts_with(anchor) {
            return None;
        }
        let mut span = Span { start: at, end: at + anchor.len() };
        for piece in before.iter().rev() {
            let from = span.start.saturating_sub(GAP + piece.len());
            span.start = from + memchr::memmem::rfind(&text[from..span.start], piece)?;
        }
        for piece in after {
            let to = text.len().min(span.end + GAP + piece.len());
            span.end += memchr::memmem::find(&text[span.end..to], piece)? + piece.len();
        }
        Some(span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pattern: &str, text: &str) -> bool {
        let pattern = Pattern::new(pattern).unwrap();
        let text = squash(text.as_bytes());
        memchr::memmem::find_iter(&text, pattern.anchor())
            .any(|at| pattern.matches(&text, at).is_some())
    }

    #[test]
    fn a_star_stands_for_what_varies() {
        let pattern = "Could not attach volume * to node *: attachment of disk";
        assert!(found(pattern, "Could not attach volume \"v\" to node \"n\": attachment of disk"));
        assert!(found(pattern, "could not attach volume to node: attachment of disk"));
        assert!(!found(pattern, "to node n: attachment of disk, could not attach volume"));
        let far = "x".repeat(GAP + 1);
        assert!(!found(
            pattern,
            &format!("Could not attach volume {far} to node n: attachment of disk")
        ));
    }

    #[test]
    fn a_pattern_needs_something_literal() {
        assert!(Pattern::new(" * ").is_none());
    }
}
