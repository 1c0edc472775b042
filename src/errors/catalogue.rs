//! All documented errors, by id.

use std::{
    collections::BTreeMap,
    sync::{LazyLock, OnceLock},
};

use serde::Serialize;

use super::{
    entry::DocumentedError,
    load::{self, Written},
    similar::Wanted,
};

/// Entries less alike than this are no help to a reader.
const ALIKE: f64 = 0.45;

/// All documented errors, sorted by id.
#[derive(Debug)]
pub struct Catalogue {
    slots: BTreeMap<&'static str, Slot>,
}

/// An entry that is read when it is first wanted.
#[derive(Debug)]
pub(super) struct Slot {
    written: Written,
    entry: OnceLock<Option<DocumentedError>>,
}

/// An entry that a text resembles without showing it.
#[derive(Debug, Clone, Serialize)]
pub struct Near {
    pub entry: &'static DocumentedError,
    /// From 0 (nothing in common) to 1 (the same).
    pub likeness: f64,
}

/// The catalogue. The tests prove that every entry of the embedded files can be read.
pub fn catalogue() -> &'static Catalogue {
    static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(Catalogue::embedded);
    &CATALOGUE
}

impl Slot {
    pub fn entry(&self) -> Option<&DocumentedError> {
        self.entry.get_or_init(|| self.written.read()).as_ref()
    }

    /// The entry's patterns, without the rest of it being read.
    pub fn patterns(&self) -> Vec<String> {
        self.written.patterns()
    }
}

impl Catalogue {
    /// The embedded files, of which nothing is read yet.
    pub fn embedded() -> Self {
        let slots =
            load::written().map(|written| (written.id(), Slot { written, entry: OnceLock::new() }));
        Self { slots: slots.collect() }
    }

    pub fn get(&self, id: &str) -> Option<&DocumentedError> {
        self.slots.get(id)?.entry()
    }

    /// Every entry, sorted by id.
    pub fn iter(&self) -> impl Iterator<Item = &DocumentedError> {
        self.slots.values().filter_map(Slot::entry)
    }

    /// Every id, sorted.
    pub fn ids(&self) -> impl Iterator<Item = &'static str> {
        self.slots.keys().copied()
    }

    pub(super) fn slots(&self) -> impl Iterator<Item = &Slot> {
        self.slots.values()
    }

    pub fn len(&self) -> usize {
        self.slots.len()
    }

    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The entries most like an id or a text that is not in the catalogue, best first, at
    /// most five.
    pub fn nearest(&'static self, id_or_text: &str) -> Vec<Near> {
        let wanted = Wanted::new(id_or_text);
        let mut near: Vec<Near> = self
            .iter()
            .map(|entry| Near { entry, likeness: wanted.likeness(entry) })
            .filter(|near| near.likeness >= ALIKE)
            .collect();
        near.sort_by(|a, b| b.likeness.total_cmp(&a.likeness).then(a.entry.id.cmp(&b.entry.id)));
        near.truncate(5);
        near
    }
}
