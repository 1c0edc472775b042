//! One line of input, and the documents in it.

use std::{
    collections::{BTreeMap, HashMap, hash_map::Entry},
    hash::BuildHasher,
};

use serde::{Deserialize, de::IgnoredAny};

use crate::iam::document::Policy;
use crate::iam::json::Json;
use crate::iam::parse::PolicyError;
use crate::iam::split;

/// One line of input. A policy is a document (an object, or text as [`Policy::parse`] takes
/// it), or such a document with a name: `{"name": "controller", "policy": {…}}`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Case<'a> {
    /// Given back in the answer as it is, by [`id`].
    #[serde(default, rename = "id")]
    pub(super) _id: IgnoredAny,
    #[serde(borrow)]
    pub(super) request: Ask<'a>,
    /// Context keys whose value nobody knows.
    #[serde(default)]
    pub(super) unknown_keys: Vec<String>,
    #[serde(default, borrow)]
    pub(super) identity_policies: Vec<Json<'a>>,
    #[serde(borrow)]
    pub(super) boundary: Option<Json<'a>>,
    #[serde(borrow)]
    pub(super) session_policy: Option<Json<'a>>,
    /// One list a level.
    #[serde(default, borrow)]
    pub(super) scps: Vec<Vec<Json<'a>>>,
    /// One list a level.
    #[serde(default, borrow)]
    pub(super) rcps: Vec<Vec<Json<'a>>>,
    #[serde(borrow)]
    pub(super) resource_policy: Option<Json<'a>>,
    #[serde(default, borrow)]
    pub(super) vpce_policies: Vec<Json<'a>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Ask<'a> {
    /// An ARN, an account id, the name of a service (`eks.amazonaws.com`), or `*` for
    /// anonymous.
    pub(super) principal: String,
    pub(super) action: String,
    pub(super) resource: String,
    /// The account that owns the resource.
    pub(super) account_id: Option<String>,
    /// A key that is not here is absent.
    #[serde(default, borrow)]
    pub(super) context: BTreeMap<String, Json<'a>>,
}

/// A line and its parts, as far as they are told apart before it is read.
pub(super) struct Line<'a> {
    text: &'a str,
    /// With marks in the place of the documents; empty where the line is of no usual form.
    short: String,
    /// Where the documents stand.
    places: Vec<split::Range>,
    id: Option<split::Range>,
}

impl<'a> Line<'a> {
    pub(super) fn new(text: &'a str) -> Line<'a> {
        let plain = Line { text, short: String::new(), places: Vec::new(), id: None };
        shortened(text).unwrap_or(plain)
    }

    /// The second part tells where the documents stand, which are not read yet: nowhere, where
    /// they are a part of the case as it is.
    pub(super) fn case(&self) -> Result<(Case<'_>, &[split::Range]), serde_json::Error> {
        let quick = || serde_json::from_str::<Case<'_>>(&self.short).ok();
        match (!self.places.is_empty()).then(quick).flatten() {
            Some(case) => Ok((case, &self.places)),
            // The place in an error is that of the line as it is.
            None => Ok((serde_json::from_str::<Case<'_>>(self.text)?, &[])),
        }
    }

    /// The id of a line that is a case, which has but one.
    pub(super) fn id(&self) -> &'a str {
        self.id.and_then(|(from, to)| self.text.get(from..to)).unwrap_or_else(|| id(self.text))
    }
}

/// The id of a line, to the letter, as whoever wrote it may not read numbers as Rust does. `null`
/// where there is none, or the line is no JSON. Of several it is the last, as in most readers.
pub(super) fn id(line: &str) -> &str {
    let text = line.as_bytes();
    let mut id = None;
    let ends = split::members(text, 0, |key, at| {
        let end = split::end_of_value(text, at)?;
        if is_id(key) {
            id = line.get(at..end);
        }
        Some(end)
    });
    let is_json = ends.is_some() && serde_json::from_str::<IgnoredAny>(line).is_ok();
    id.filter(|_| is_json).unwrap_or("null")
}

/// Whether this is the key of the id, which may be written with escapes.
fn is_id(key: &[u8]) -> bool {
    key == br#""id""#
        || key.contains(&b'\\') && serde_json::from_slice(key).is_ok_and(|key: String| key == "id")
}

/// What stands for a document in a shortened line: this, and its number. JSON has no such
/// character unless it is escaped.
const MARK: char = '\u{1}';

/// The line with marks in the place of its documents, and where those stand. `None` for a line
/// that is not of the usual form; it is then read as it is.
fn shortened(line: &str) -> Option<Line<'_>> {
    let text = line.as_bytes();
    let (mut places, mut id) = (Vec::new(), None);
    let mut document = |at| document(text, at, &mut places);
    split::members(text, 0, |key, at| match key {
        br#""identityPolicies""# | br#""vpcePolicies""# => split::elements(text, at, &mut document),
        br#""scps""# | br#""rcps""# => {
            split::elements(text, at, |at| split::elements(text, at, &mut document))
        }
        br#""boundary""# | br#""sessionPolicy""# | br#""resourcePolicy""# => document(at),
        _ => {
            let end = split::end_of_value(text, at)?;
            if key == br#""id""# {
                id = Some((at, end));
            }
            Some(end)
        }
    })?;
    // Without its documents a line is short.
    let mut short = String::with_capacity(512);
    let mut at = 0;
    for (number, &(from, to)) in places.iter().enumerate() {
        short.push_str(plain(line.get(at..from)?)?);
        short.push_str("\"\\u0001");
        short.push_str(&number.to_string());
        short.push('"');
        at = to;
    }
    short.push_str(plain(line.get(at..)?)?);
    Some(Line { text: line, short, places, id })
}

/// A stretch that has no mark of its own.
fn plain(text: &str) -> Option<&str> {
    (!text.contains("u0001")).then_some(text)
}

/// Notes where the document of a policy stands, which may be inside of a name and a policy, and
/// gives the end of the policy.
fn document(text: &[u8], at: usize, places: &mut Vec<split::Range>) -> Option<usize> {
    let mut note = |at| {
        let end = split::end_of_value(text, at)?;
        if text[at] == b'{' {
            places.push((at, end));
        }
        Some(end)
    };
    match split::first_key(text, at) {
        Some(br#""name""# | br#""policy""#) => split::members(text, at, |key, at| match key {
            br#""policy""# => note(at),
            _ => split::end_of_value(text, at),
        }),
        _ => note(at),
    }
}

/// The documents of a line.
pub(super) struct Documents<'a> {
    pub(super) line: &'a str,
    pub(super) places: &'a [(usize, usize)],
    pub(super) known: &'a mut Known,
}

/// The documents of the lines so far. Lines about one role share theirs, so that one that comes
/// again is kept.
#[derive(Default)]
pub(super) struct Known {
    /// By the hash of the text; `None` for one that came once.
    by_hash: HashMap<u64, Option<Kept>>,
}

struct Kept {
    text: String,
    read: Result<Policy, String>,
}

impl Known {
    /// Those that come again come soon, and more would only take memory.
    const MOST: usize = 4_000;

    /// How many documents are kept.
    #[cfg(test)]
    pub(super) fn kept(&self) -> usize {
        self.by_hash.values().flatten().count()
    }

    fn read(&mut self, text: &str) -> Result<Policy, String> {
        let parse = || Policy::parse(text).map_err(|error| error.to_string());
        if self.by_hash.len() > Self::MOST {
            self.by_hash.clear();
        }
        let hash = self.by_hash.hasher().hash_one(text);
        match self.by_hash.entry(hash) {
            Entry::Vacant(new) => {
                new.insert(None);
                parse()
            }
            Entry::Occupied(mut known) => match known.get() {
                Some(kept) if kept.text == text => kept.read.clone(),
                Some(_) => parse(),
                None => {
                    let read = parse();
                    known.insert(Some(Kept { text: text.to_owned(), read: read.clone() }));
                    read
                }
            },
        }
    }
}

impl Documents<'_> {
    pub(super) fn read(&mut self, json: Json<'_>) -> Result<Policy, String> {
        let fault = |error: PolicyError| error.to_string();
        let text = match json {
            Json::Text(text) => text,
            json => return Policy::from_json(json).map_err(fault),
        };
        let number = text.strip_prefix(MARK).and_then(|number| number.parse::<usize>().ok());
        let place = number.and_then(|number| self.places.get(number));
        let Some(text) = place.and_then(|&(from, to)| self.line.get(from..to)) else {
            return Policy::parse(&text).map_err(fault);
        };
        self.known.read(text)
    }
}
