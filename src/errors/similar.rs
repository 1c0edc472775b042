//! How alike two texts are, for "did you mean".

use super::{entry::DocumentedError, normalize::squash};

/// Pieces of a text shorter than this, in squashed bytes, say nothing.
const SHORTEST: usize = 12;

/// Texts longer than this, in bytes, are no misspelt ids.
const LONGEST_ID: usize = 50;

/// How many pieces of a text are compared.
const PIECES: usize = 60;

/// Every three neighbouring bytes of a squashed text, sorted, each once.
struct Triples(Vec<[u8; 3]>);

impl Triples {
    fn new(text: &str) -> Self {
        let squashed = squash(text.as_bytes());
        let mut triples: Vec<_> = squashed.array_windows().copied().collect();
        triples.sort_unstable();
        triples.dedup();
        Self(triples)
    }

    /// From 0 (nothing in common) to 1 (the same): Sørensen's and Dice's measure.
    fn likeness(&self, other: &Self) -> f64 {
        let (mut left, mut right) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut common = 0_u32;
        while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
            let order = a.cmp(b);
            common += u32::from(order.is_eq());
            if order.is_le() {
                left.next();
            }
            if order.is_ge() {
                right.next();
            }
        }
        let total = u32::try_from(self.0.len() + other.0.len()).unwrap_or(u32::MAX);
        if total == 0 { 0.0 } else { f64::from(2 * common) / f64::from(total) }
    }
}

/// A text to find similar entries for.
pub struct Wanted {
    id: String,
    pieces: Vec<Triples>,
}

impl Wanted {
    pub fn new(text: &str) -> Self {
        let clauses = text.lines().flat_map(|line| {
            let parts = line.split([':', ';', ',', '"', '\t']);
            std::iter::once(line).chain(parts)
        });
        let pieces = clauses
            .filter(|piece| squash(piece.as_bytes()).len() >= SHORTEST)
            .take(PIECES)
            .map(Triples::new)
            .collect();
        Self { id: text.trim().to_ascii_lowercase().replace([' ', '_'], "-"), pieces }
    }

    /// The likeness of the most similar wording of an entry, or of its id.
    pub fn likeness(&self, entry: &DocumentedError) -> f64 {
        let id = if self.id.len() > LONGEST_ID {
            0.0
        } else {
            strsim::normalized_damerau_levenshtein(&entry.id, &self.id)
        };
        if self.pieces.is_empty() {
            return id;
        }
        let wordings = [&entry.quote, &entry.title].into_iter().chain(&entry.patterns);
        wordings
            .map(|wording| Triples::new(wording))
            .flat_map(|wording| self.pieces.iter().map(move |piece| piece.likeness(&wording)))
            .fold(id, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use crate::errors::catalogue;

    #[test]
    fn a_misspelt_id_or_text_leads_to_its_entry() {
        for (text, id) in [
            ("node-not-registred", "node-not-registered"),
            ("Kubelet Unauthorised", "kubelet-unauthorized"),
            ("the specified queue doesnt exist", "non-existent-queue"),
            ("subnet selector didn't match any subnet", "subnets-not-found"),
            (
                "failed to launch: not enough free addresses in the subnet subnet-1",
                "insufficient-free-addresses",
            ),
        ] {
            let near = catalogue().nearest(text);
            assert_eq!(near.first().map(|near| near.entry.id.as_str()), Some(id), "{text}");
        }
    }

    #[test]
    fn nothing_resembles_what_has_nothing_in_common() {
        for text in ["", "a", "xyzzy plugh", "0123456789 0123456789"] {
            assert!(catalogue().nearest(text).is_empty(), "{text}");
        }
    }
}
