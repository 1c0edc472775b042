//! One line of input, and the documents in it.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, de::IgnoredAny};

use crate::iam::document::Policy;
use crate::iam::json::Json;
use crate::iam::parse::PolicyError;
use crate::iam::split;

/// One line of input. A policy is a document (an object, or text as [`Policy::parse`] takes
/// it), or such a document with a name: `{"name": "controller", "policy": {…}}`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Case {
    /// Given back in the answer as it is, by [`id`].
    #[serde(default, rename = "id")]
    pub(super) _id: IgnoredAny,
    pub(super) request: Ask,
    /// Context keys whose value nobody knows.
    #[serde(default)]
    pub(super) unknown_keys: Vec<String>,
    #[serde(default)]
    pub(super) identity_policies: Vec<Json>,
    pub(super) boundary: Option<Json>,
    pub(super) session_policy: Option<Json>,
    /// One list a level.
    #[serde(default)]
    pub(super) scps: Vec<Vec<Json>>,
    /// One list a level.
    #[serde(default)]
    pub(super) rcps: Vec<Vec<Json>>,
    pub(super) resource_policy: Option<Json>,
    #[serde(default)]
    pub(super) vpce_policies: Vec<Json>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Ask {
    /// An ARN, an account id, the name of a service (`eks.amazonaws.com`), or `*` for
    /// anonymous.
    pub(super) principal: String,
    pub(super) action: String,
    pub(super) resource: String,
    /// The account that owns the resource.
    pub(super) account_id: Option<String>,
    /// A key that is not here is absent.
    #[serde(default)]
    pub(super) context: BTreeMap<String, Json>,
}

impl Case {
    /// Reads a line. The second part tells where its documents stand, which are not read yet:
    /// nowhere, where they are a part of the case as it is.
    pub(super) fn read(line: &str) -> Result<(Case, Vec<split::Range>), serde_json::Error> {
        let (short, places) = shortened(line).unwrap_or_default();
        let quick = (!places.is_empty()).then(|| serde_json::from_str::<Case>(&short).ok());
        match quick.flatten() {
            Some(case) => Ok((case, places)),
            // The place in an error is that of the line as it is.
            None => Ok((serde_json::from_str::<Case>(line)?, Vec::new())),
        }
    }
}

/// The id of a line, to the letter, as whoever wrote it may not read numbers as Rust does. `null`
/// where there is none, or the line is no JSON. Of several it is the last, as in most readers.
pub(super) fn id(line: &str) -> &str {
    let is_json = || serde_json::from_str::<IgnoredAny>(line).is_ok();
    let members = split::members(line.as_bytes(), 0).filter(|_| is_json());
    let ids = members.into_iter().flatten().filter(|(key, _)| is_id(key));
    ids.last().and_then(|(_, (from, to))| line.get(from..to)).unwrap_or("null")
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
fn shortened(line: &str) -> Option<(String, Vec<split::Range>)> {
    let text = line.as_bytes();
    if line.contains("u0001") || line.contains(MARK) {
        return None;
    }
    let mut places = Vec::new();
    for (key, value) in split::members(text, 0)? {
        match key {
            br#""identityPolicies""# | br#""vpcePolicies""# => {
                for element in split::elements(text, value.0)? {
                    places.extend(document(text, element));
                }
            }
            br#""scps""# | br#""rcps""# => {
                for level in split::elements(text, value.0)? {
                    for element in split::elements(text, level.0)? {
                        places.extend(document(text, element));
                    }
                }
            }
            br#""boundary""# | br#""sessionPolicy""# | br#""resourcePolicy""# => {
                places.extend(document(text, value));
            }
            _ => {}
        }
    }
    let mut short = String::new();
    let mut at = 0;
    for (number, &(from, to)) in places.iter().enumerate() {
        short.push_str(line.get(at..from)?);
        short.push_str(&format!(r#""\u0001{number}""#));
        at = to;
    }
    short.push_str(line.get(at..)?);
    Some((short, places))
}

/// Where the document of a policy stands, which may be inside of a name and a policy.
fn document(text: &[u8], place: (usize, usize)) -> Option<(usize, usize)> {
    let members = split::members(text, place.0)?;
    let named = members.into_iter().find(|(key, _)| *key == br#""policy""#);
    let place = named.map_or(place, |(_, place)| place);
    (text.get(place.0) == Some(&b'{')).then_some(place)
}

/// The documents of a line.
pub(super) struct Documents<'a> {
    pub(super) line: &'a str,
    pub(super) places: &'a [(usize, usize)],
    pub(super) read: &'a mut HashMap<String, Result<Policy, String>>,
}

impl Documents<'_> {
    pub(super) fn read(&mut self, json: Json) -> Result<Policy, String> {
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
        if let Some(read) = self.read.get(text) {
            return read.clone();
        }
        let read = Policy::parse(text).map_err(fault);
        self.read.insert(text.to_owned(), read.clone());
        read
    }
}
