//! What the selectors of NodeClasses select.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{
    Fact,
    kubernetes::node_class::{AmiTerm, SelectorTerm},
};

/// The terms that one request to EC2 answers: one term with tags, or all those with an id, or
/// all those with a name.
pub type Query = BTreeSet<SelectorTerm>;

/// A question to EC2 and its answer. The question is kept as the NodeClass writes it, so that it
/// stays the same where names are replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selected<Q, T> {
    pub query: Q,
    pub found: Fact<Vec<T>>,
}

impl<Q: PartialEq, T> Selected<Q, T> {
    /// The answer to this question, if it was asked.
    pub fn answer<'a>(all: &'a [Self], query: &Q) -> Option<&'a Fact<Vec<T>>> {
        all.iter().find(|selected| selected.query == *query).map(|selected| &selected.found)
    }
}

/// An image that is selected by its name, its owner or its tags.
pub type ImageQuery = AmiTerm;
