//! What `explain` answers: the errors of an input, counted and put in order.

use std::cmp::Reverse;

use serde::Serialize;

use super::{
    catalogue::Near, denial::Denial, entry::DocumentedError, network::NetworkFault, time::Moment,
};

/// What a text shows.
#[derive(Debug, Clone, Serialize)]
pub struct Explanation {
    pub lines: u64,
    pub bytes: u64,
    /// The errors found, the most telling first.
    pub groups: Vec<Group>,
    /// The denied calls found, in the order of the input.
    pub denials: Vec<Counted<Denial>>,
    /// The failed connections found, in the order of the input.
    pub network: Vec<Counted<NetworkFault>>,
    /// If nothing was found: the entries that the text resembles.
    pub nearest: Vec<Near>,
}

/// One error of the catalogue, as an input shows it.
#[derive(Debug, Clone, Serialize)]
pub struct Group {
    pub entry: &'static DocumentedError,
    #[serde(flatten)]
    pub seen: Seen,
    /// Errors that are, as far as is known, consequences of this one.
    pub follow_ups: Vec<Group>,
    /// Where its first occurrence stands, for the order.
    #[serde(skip)]
    pub(super) place: Position,
}

/// Something found, and how often.
#[derive(Debug, Clone, Serialize)]
pub struct Counted<T> {
    pub what: T,
    #[serde(flatten)]
    pub seen: Seen,
}

/// How often, when and where something was found.
#[derive(Debug, Clone, Serialize)]
pub struct Seen {
    pub count: u64,
    /// The line of the first occurrence, counted from 1.
    pub line: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<Moment>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<Moment>,
    /// The text of the first occurrence.
    pub sample: String,
}

/// Where an occurrence stands in the input, and how much of it is literal.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Position {
    pub start: u64,
    pub end: u64,
    pub weight: usize,
}

impl Seen {
    pub(super) fn once(line: u64, moment: Option<Moment>, sample: String) -> Self {
        Self { count: 1, line, first: moment.clone(), last: moment, sample }
    }

    /// Counts another occurrence.
    pub(super) fn again(&mut self, moment: Option<Moment>) {
        self.count += 1;
        let Some(moment) = moment else { return };
        let before = |a: &Option<Moment>, b: &Option<Moment>| {
            let point = |moment: &Option<Moment>| moment.as_ref().and_then(|moment| moment.at);
            point(a).zip(point(b)).map(|(a, b)| a < b)
        };
        let moment = Some(moment);
        if self.first.is_none() || before(&moment, &self.first) == Some(true) {
            self.first.clone_from(&moment);
        }
        if self.last.is_none() || before(&moment, &self.last) != Some(true) {
            self.last = moment;
        }
    }
}

/// Puts groups in order, and those that are consequences under their causes.
pub(super) fn arrange(mut groups: Vec<Group>) -> Vec<Group> {
    groups.sort_by_key(|group| {
        let Position { start, weight, .. } = group.place;
        (group.entry.rank, start, Reverse(weight), &group.entry.id)
    });
    fold(groups)
}

/// Puts each group under the first other group that it follows from.
fn fold(groups: Vec<Group>) -> Vec<Group> {
    let cause_of = |group: &Group| {
        let present = |id: &String| groups.iter().position(|other| other.entry.id == *id);
        group.entry.follows.iter().filter_map(present).min()
    };
    let causes: Vec<Option<usize>> = groups.iter().map(cause_of).collect();
    let mut tops: Vec<Option<Group>> = Vec::with_capacity(groups.len());
    let mut under: Vec<(usize, Group)> = Vec::new();
    for (index, group) in groups.iter().enumerate() {
        match root(&causes, index) {
            Some(root) => {
                under.push((root, group.clone()));
                tops.push(None);
            }
            None => tops.push(Some(group.clone())),
        }
    }
    for (root, group) in under {
        if let Some(Some(top)) = tops.get_mut(root) {
            top.follow_ups.push(group);
        }
    }
    tops.into_iter().flatten().collect()
}

/// The last cause in the chain from `index`, if it has one. The chain has no circle: a test
/// of the data sees to it.
fn root(causes: &[Option<usize>], index: usize) -> Option<usize> {
    let mut at = causes[index]?;
    for _ in 0..causes.len() {
        match causes[at] {
            Some(next) => at = next,
            None => break,
        }
    }
    Some(at)
}
