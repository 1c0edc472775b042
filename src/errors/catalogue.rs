//! All documented errors, by id.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::Serialize;

use super::{
    entry::DocumentedError,
    load::{self, LoadError},
    similar::Wanted,
};

/// Entries less alike than this are no help to a reader.
const ALIKE: f64 = 0.45;

/// All documented errors, sorted by id.
#[derive(Debug, Default)]
pub struct Catalogue {
    entries: BTreeMap<String, DocumentedError>,
}

/// An entry that a text resembles without showing it.
#[derive(Debug, Clone, Serialize)]
pub struct Near {
    pub entry: &'static DocumentedError,
    /// From 0 (nothing in common) to 1 (the same).
    pub likeness: f64,
}

/// The catalogue, read once. The tests prove that the embedded files can be read.
pub fn catalogue() -> &'static Catalogue {
    static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| Catalogue::load().unwrap_or_default());
    &CATALOGUE
}

impl Catalogue {
    /// Reads the embedded files.
    pub fn load() -> Result<Self, LoadError> {
        let entries = load::entries()?.into_iter().map(|entry| (entry.id.clone(), entry));
        Ok(Self { entries: entries.collect() })
    }

    pub fn get(&self, id: &str) -> Option<&DocumentedError> {
        self.entries.get(id)
    }

    /// Every entry, sorted by id.
    pub fn iter(&self) -> impl Iterator<Item = &DocumentedError> {
        self.entries.values()
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
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
