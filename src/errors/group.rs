//! What `explain` answers: the errors of an input, counted and put in order.

use std::{cmp::Reverse, collections::BTreeMap};

use schemars::JsonSchema;
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
    /// How many more denied calls and failed connections there are, of kinds beyond those
    /// listed.
    pub unlisted: u64,
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
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Counted<T> {
    pub what: T,
    #[serde(flatten)]
    pub seen: Seen,
}

/// How often, when and where something was found.
#[derive(Debug, Clone, Serialize, JsonSchema)]
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

/// How often an error (first id) stood in one message with a cause of it (second id).
pub(super) type Votes = BTreeMap<(&'static str, &'static str), u64>;

/// Puts groups in order, and those that are consequences under their causes.
pub(super) fn arrange(mut groups: Vec<Group>, votes: &Votes) -> Vec<Group> {
    groups.sort_by_key(|group| {
        let Position { start, weight, .. } = group.place;
        (group.entry.rank, start, Reverse(weight), &group.entry.id)
    });
    let causes: Vec<Option<usize>> =
        groups.iter().map(|group| cause_of(group, &groups, votes)).collect();
    fold(groups, &causes)
}

/// Which of the groups is the cause of one: the one most often in a message with it, else the
/// first in order.
fn cause_of(group: &Group, groups: &[Group], votes: &Votes) -> Option<usize> {
    let voted =
        |cause: &str| votes.get(&(group.entry.id.as_str(), cause)).copied().unwrap_or_default();
    let present = |id: &String| groups.iter().position(|other| other.entry.id == *id);
    let causes = group.entry.follows.iter().filter_map(|id| Some((present(id)?, voted(id))));
    causes.min_by_key(|&(index, votes)| (Reverse(votes), index)).map(|(index, _)| index)
}

/// Puts each group that has a cause under the root of its causes.
fn fold(groups: Vec<Group>, causes: &[Option<usize>]) -> Vec<Group> {
    let roots: Vec<Option<usize>> = (0..groups.len()).map(|index| root(causes, index)).collect();
    let mut tops = Vec::new();
    let mut under: BTreeMap<usize, Vec<Group>> = BTreeMap::new();
    for (index, group) in groups.into_iter().enumerate() {
        match roots[index] {
            Some(root) => under.entry(root).or_default().push(group),
            None => tops.push((index, group)),
        }
    }
    let with_follow_ups = tops.into_iter().map(|(index, mut group)| {
        group.follow_ups = under.remove(&index).unwrap_or_default();
        group
    });
    with_follow_ups.collect()
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
