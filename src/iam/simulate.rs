//! The evaluator as a tool: one JSON request a line in, one JSON decision a line out, so that
//! anyone can hold it against another evaluator.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use crate::iam::arn::Arn;
use crate::iam::context::Entry;
use crate::iam::decision::{Decision, StatementRef};
use crate::iam::document::Policy;
use crate::iam::json::Json;
use crate::iam::layers::{Layer, NamedPolicy, PolicySet};
use crate::iam::nearest::Nearest;
use crate::iam::parse::PolicyError;
use crate::iam::principal::Principal;
use crate::iam::request::Request;
use crate::iam::split;

/// One line of input. A policy is a document (an object, or text as [`Policy::parse`] takes
/// it), or such a document with a name: `{"name": "controller", "policy": {…}}`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Case {
    /// Given back in the answer; any JSON.
    #[serde(default)]
    id: serde_json::Value,
    request: Ask,
    /// Context keys whose value nobody knows.
    #[serde(default)]
    unknown_keys: Vec<String>,
    #[serde(default)]
    identity_policies: Vec<Json>,
    boundary: Option<Json>,
    session_policy: Option<Json>,
    /// One list a level.
    #[serde(default)]
    scps: Vec<Vec<Json>>,
    /// One list a level.
    #[serde(default)]
    rcps: Vec<Vec<Json>>,
    resource_policy: Option<Json>,
    #[serde(default)]
    vpce_policies: Vec<Json>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Ask {
    /// An ARN, an account id, the name of a service (`eks.amazonaws.com`), or `*` for
    /// anonymous.
    principal: String,
    action: String,
    resource: String,
    /// The account that owns the resource.
    account_id: Option<String>,
    /// A key that is not here is absent.
    #[serde(default)]
    context: BTreeMap<String, OneOrMany>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

/// One line of output.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    pub id: serde_json::Value,
    pub decision: Word,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layer: Option<Layer>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statement: Option<StatementRef>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<Nearest>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown_keys: Vec<String>,
    /// The decision in words; what is wrong with the line where it is an error.
    #[serde(default)]
    pub message: String,
}

/// The decision as a word.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Word {
    Allowed,
    ImplicitDeny,
    ExplicitDeny,
    Unknown,
    /// The line cannot be read.
    #[default]
    Error,
}

/// Decides one line. Never fails: a line that cannot be read gives an answer that says why.
pub fn simulate_line(line: &str) -> String {
    Simulator::default().line(line)
}

/// Decides line after line, and reads each document once: lines about one role share them.
#[derive(Default)]
pub struct Simulator {
    /// What the documents came to, by their text.
    read: HashMap<String, Result<Policy, String>>,
}

impl Simulator {
    /// Decides one line, as [`simulate_line`] does.
    pub fn line(&mut self, line: &str) -> String {
        /// So many documents are kept; in a longer input they are not the same ones for ever.
        const KEPT: usize = 20_000;
        if self.read.len() > KEPT {
            self.read.clear();
        }
        let answer = self.answer(line);
        serde_json::to_string(&answer).unwrap_or_else(|error| {
            format!(
                r#"{{"id":null,"decision":"error","message":"cannot write the answer: {error}"}}"#
            )
        })
    }

    fn answer(&mut self, line: &str) -> Answer {
        let (short, places) = shortened(line).unwrap_or_default();
        let quick = (!places.is_empty()).then(|| serde_json::from_str::<Case>(&short).ok());
        let case = match quick.flatten() {
            Some(case) => Ok(case),
            // The place in an error is that of the line as it is.
            None => serde_json::from_str::<Case>(line),
        };
        let case = match case {
            Ok(case) => case,
            Err(error) => {
                let message = error.to_string();
                return Answer { id: id(line), message, ..Answer::default() };
            }
        };
        let id = case.id.clone();
        let mut documents = Documents { line, places: &places, read: &mut self.read };
        match decide(case, &mut documents) {
            Ok(decision) => Answer { id, ..Answer::from(decision) },
            Err(message) => Answer { id, message, ..Answer::default() },
        }
    }
}

/// What stands for a document in a shortened line: this, and its number. JSON has no such
/// character unless it is escaped.
const MARK: char = '\u{1}';

/// The line with marks in the place of its documents, and where those stand. `None` for a line
/// that is not of the usual form; it is then read as it is.
fn shortened(line: &str) -> Option<(String, Vec<(usize, usize)>)> {
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
struct Documents<'a> {
    line: &'a str,
    places: &'a [(usize, usize)],
    read: &'a mut HashMap<String, Result<Policy, String>>,
}

impl Documents<'_> {
    fn read(&mut self, json: Json) -> Result<Policy, String> {
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

/// The id of a line that is JSON, if no case.
fn id(line: &str) -> serde_json::Value {
    let json: Option<serde_json::Value> = serde_json::from_str(line).ok();
    json.and_then(|mut json| json.get_mut("id").map(serde_json::Value::take)).unwrap_or_default()
}

impl From<Decision> for Answer {
    fn from(decision: Decision) -> Answer {
        let message = decision.to_string();
        let rest = Answer { message, ..Answer::default() };
        match decision {
            Decision::Allowed { by } => {
                Answer { decision: Word::Allowed, statement: Some(by), ..rest }
            }
            Decision::Denied { layer, statement } => Answer {
                decision: Word::ExplicitDeny,
                layer: Some(layer),
                statement: Some(statement),
                ..rest
            },
            Decision::NotAllowed { layer, nearest } => {
                Answer { decision: Word::ImplicitDeny, layer: Some(layer), nearest, ..rest }
            }
            Decision::Unknown { keys, layer, statement } => Answer {
                decision: Word::Unknown,
                layer: Some(layer),
                statement: Some(statement),
                unknown_keys: keys,
                ..rest
            },
        }
    }
}

fn decide(case: Case, documents: &mut Documents<'_>) -> Result<Decision, String> {
    let ask = case.request;
    let mut request = Request::new(principal(&ask.principal)?, &ask.action, &ask.resource);
    if let Some(account) = &ask.account_id {
        request = request.in_account(account);
    }
    for (key, value) in ask.context {
        request = request.with(
            &key,
            match value {
                OneOrMany::One(value) => Entry::Value(value),
                OneOrMany::Many(values) => Entry::List(values),
            },
        );
    }
    for key in &case.unknown_keys {
        request = request.unknown(key);
    }
    let set = PolicySet {
        identity: policies("identityPolicies", case.identity_policies, documents)?,
        boundary: one("boundary", case.boundary, documents)?,
        session: policies("sessionPolicy", case.session_policy.into_iter().collect(), documents)?,
        service_control: levels("scps", case.scps, documents)?,
        resource_control: levels("rcps", case.rcps, documents)?,
        resource: one("resourcePolicy", case.resource_policy, documents)?,
        resource_must_allow: false,
        vpc_endpoint: policies("vpcePolicies", case.vpce_policies, documents)?,
    };
    Ok(set.decide(&request))
}

fn principal(text: &str) -> Result<Principal, String> {
    if text == "*" {
        return Ok(Principal::Anonymous);
    }
    let provider = |arn: &Arn| arn.service == "iam" && arn.resource_type().ends_with("-provider");
    if text.parse().is_ok_and(|arn| provider(&arn)) {
        return Ok(Principal::Federated(text.to_owned()));
    }
    if text.contains('.') && !text.starts_with("arn:") {
        return Ok(Principal::Service(text.to_owned()));
    }
    Principal::aws(text).map_err(|error| format!("request.principal: {error}"))
}

fn levels(
    at: &str,
    levels: Vec<Vec<Json>>,
    documents: &mut Documents<'_>,
) -> Result<Vec<Vec<NamedPolicy>>, String> {
    let each = levels.into_iter().enumerate();
    each.map(|(level, list)| policies(&format!("{at}[{level}]"), list, documents)).collect()
}

fn policies(
    at: &str,
    list: Vec<Json>,
    documents: &mut Documents<'_>,
) -> Result<Vec<NamedPolicy>, String> {
    let each = list.into_iter().enumerate();
    each.map(|(index, json)| policy(&format!("{at}[{index}]"), json, documents)).collect()
}

fn one(
    at: &str,
    json: Option<Json>,
    documents: &mut Documents<'_>,
) -> Result<Option<NamedPolicy>, String> {
    json.map(|json| policy(at, json, documents)).transpose()
}

/// Reads a policy; one without a name goes by its place in the line.
fn policy(at: &str, json: Json, documents: &mut Documents<'_>) -> Result<NamedPolicy, String> {
    let (mut name, mut document) = (None, None);
    let json = match json {
        Json::Object(entries) if entries.iter().any(|(key, _)| key == "policy") => {
            for (key, value) in entries {
                match (key.as_str(), value) {
                    ("name", Json::Text(text)) => name = Some(text),
                    ("policy", json) => document = Some(json),
                    (key, _) => return Err(format!("{at}.{key}: expected name and policy")),
                }
            }
            document.unwrap_or(Json::Null)
        }
        document => document,
    };
    match documents.read(json) {
        Ok(policy) => Ok(NamedPolicy::new(name.unwrap_or_else(|| at.to_owned()), policy)),
        Err(error) => Err(format!("{at}: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(rest: &str) -> Answer {
        let text = format!(
            r#"{{"id": 7, "request": {{"principal": "arn:aws:iam::111122223333:role/R",
            "action": "ec2:CreateTags", "resource": "*",
            "context": {{"aws:TagKeys": ["a"], "aws:RequestedRegion": "eu-west-1"}}}}, {rest}}}"#
        );
        serde_json::from_str(&simulate_line(&text)).unwrap()
    }

    #[test]
    fn answers() {
        let when = r#"{"Statement": {"Sid": "W", "Effect": "Allow", "Action": "ec2:*", "Resource": "*",
            "Condition": {"StringEquals": {"K": "1"}}}}"#;
        let all = r#"{"Statement": {"Effect": "Allow", "Action": "*", "Resource": "*"}}"#;
        let deny = r#"{"Statement": {"Effect": "Deny", "Action": "*", "Resource": "*"}}"#;
        let rows = [
            (
                format!(r#""identityPolicies": [{{"name": "n", "policy": {all}}}]"#),
                Word::Allowed,
                "allowed by Statement[0] of policy n",
            ),
            (
                format!(r#""identityPolicies": [{when}]"#),
                Word::ImplicitDeny,
                "statement W of policy identityPolicies[0] wants K to be 1, but it is not sent",
            ),
            (
                format!(r#""identityPolicies": [{when}], "unknownKeys": ["k"]"#),
                Word::Unknown,
                "depends on statement W of policy identityPolicies[0] (identity policy), which turns on K",
            ),
            (
                format!(r#""identityPolicies": [{all}], "scps": [[{all}], [{all}, {deny}]]"#),
                Word::ExplicitDeny,
                "denied by Statement[0] of policy scps[1][1] (service control policy)",
            ),
            (
                r#""identityPolicies": ["%7B%22Statement%22%3A[]%7D"]"#.to_owned(),
                Word::ImplicitDeny,
                "no identity policy has a statement for it",
            ),
            (
                r#""boundary": {"Statement": [], "Statement": []}"#.to_owned(),
                Word::Error,
                "boundary: Statement: is given twice",
            ),
        ];
        for (rest, word, message) in rows {
            let answer = line(&rest);
            assert_eq!((answer.decision, answer.message.as_str()), (word, message), "{rest}");
            assert_eq!(answer.id, 7);
        }
        assert!(simulate_line("{").starts_with(r#"{"id":null,"decision":"error""#));
        assert!(simulate_line(r#"{"request": {}}"#).contains("missing field `principal`"));
    }

    #[test]
    fn a_document_is_read_once_and_the_answer_is_the_same() {
        let rows = include_str!("../../tests/data/iam/decisions.jsonl").lines();
        let mut simulator = Simulator::default();
        for row in rows {
            let row: serde_json::Value = serde_json::from_str(row).unwrap();
            let line = row["case"].to_string();
            let as_it_is: Case = serde_json::from_str(&line).unwrap();
            let (mut read, places) = (HashMap::new(), []);
            let mut none = Documents { line: &line, places: &places, read: &mut read };
            let whole = decide(as_it_is, &mut none);
            let cut: Answer = serde_json::from_str(&simulator.line(&line)).unwrap();
            assert_eq!(
                cut,
                Answer { id: cut.id.clone(), ..Answer::from(whole.unwrap()) },
                "{line}"
            );
        }
        assert!(simulator.read.len() > 50, "{}", simulator.read.len());
        let before = simulator.read.len();
        let all = r#"{"Statement": {"Effect": "Allow", "Action": "*", "Resource": "*"}}"#;
        let request = r#"{"principal": "*", "action": "a:B", "resource": "*"}"#;
        for name in ["a", "b"] {
            let line = format!(
                r#"{{"request": {request}, "boundary": {{"name": "{name}", "policy": {all}}}}}"#
            );
            simulator.line(&line);
        }
        assert_eq!(simulator.read.len(), before + 1);
    }

    #[test]
    fn a_mark_in_the_input_is_only_text() {
        let answer = line(r#""boundary": "\u00010""#);
        assert_eq!(answer.decision, Word::Error, "{answer:?}");
    }
}
