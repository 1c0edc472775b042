//! The evaluator as a tool: one JSON request a line in, one JSON decision a line out, so that
//! anyone can hold it against another evaluator.

mod answer;
mod line;

use self::line::{Case, Documents, Known, Line, id};
use crate::iam::arn::Arn;
use crate::iam::context::Entry;
use crate::iam::decision::Decision;
use crate::iam::json::Json;
use crate::iam::layers::{NamedPolicy, PolicySet};
use crate::iam::parse::PolicyKind;
use crate::iam::principal::Principal;
use crate::iam::request::Request;

pub use self::answer::{Answer, Word};

/// Decides one line. Never fails: a line that cannot be read gives an answer that says why.
pub fn simulate_line(line: &str) -> String {
    Simulator::default().line(line)
}

/// Decides line after line, and reads each document once: lines about one role share them.
#[derive(Default)]
pub struct Simulator {
    known: Known,
}

impl Simulator {
    /// Decides one line, as [`simulate_line`] does.
    pub fn line(&mut self, line: &str) -> String {
        let (id, answer) = self.answer(line);
        let answer = serde_json::to_string(&answer).unwrap_or_else(|error| {
            format!(r#"{{"decision":"error","message":"cannot write the answer: {error}"}}"#)
        });
        // A line break can stand between two values only.
        let id = id.replace(['\n', '\r'], " ");
        format!(r#"{{"id":{id},{}"#, answer.trim_start_matches('{'))
    }

    fn answer<'a>(&mut self, text: &'a str) -> (&'a str, Answer) {
        let line = Line::new(text);
        let (case, places) = match line.case() {
            Ok(read) => read,
            Err(error) => {
                return (id(text), Answer { message: error.to_string(), ..Answer::default() });
            }
        };
        let mut documents = Documents { line: text, places, known: &mut self.known };
        let answer = match decide(case, &mut documents) {
            Ok(decision) => Answer::from(decision),
            Err(message) => Answer { message, ..Answer::default() },
        };
        (line.id(), answer)
    }
}

fn decide(case: Case<'_>, documents: &mut Documents<'_>) -> Result<Decision, String> {
    let ask = case.request;
    if !ask
        .action
        .split_once(':')
        .is_some_and(|(service, name)| !service.is_empty() && !name.is_empty())
    {
        return Err(format!("request.action: {:?} is not of the form service:Action", ask.action));
    }
    let mut request = Request::new(principal(&ask.principal)?, &ask.action, &ask.resource);
    if let Some(account) = ask.account_id.or_else(|| account_of(&ask.resource)) {
        request = request.in_account(&account);
    }
    for (key, value) in ask.context {
        let entry = entry(value).map_err(|what| {
            format!("request.context.{key}: must be a string or a list of strings, is {what}")
        })?;
        request = request.with(&key, entry);
    }
    for key in &case.unknown_keys {
        request = request.unknown(key);
    }
    let service = request.action().split_once(':').map_or("", |(service, _)| service);
    // A key lets nobody in whom its own policy does not, and a role neither, where that is given.
    let resource_must_allow = service.eq_ignore_ascii_case("kms") && ask.resource.contains(":key/")
        || service.eq_ignore_ascii_case("sts") && case.resource_policy.is_some();
    let mut read = |at: &str, kind, list| policies(at, kind, list, documents);
    let (own, of_resource) = (PolicyKind::Identity, PolicyKind::Resource);
    let set = PolicySet {
        identity: read("identityPolicies", own, case.identity_policies)?,
        boundary: read("boundary", own, one(case.boundary))?.pop(),
        session: read("sessionPolicy", own, one(case.session_policy))?,
        service_control: levels("scps", case.scps, |at, list| read(at, own, list))?,
        resource_control: levels("rcps", case.rcps, |at, list| read(at, of_resource, list))?,
        resource: read("resourcePolicy", of_resource, one(case.resource_policy))?.pop(),
        resource_must_allow,
        vpc_endpoint: read("vpcePolicies", of_resource, case.vpce_policies)?,
    };
    Ok(set.decide(&request))
}

/// The account that a resource's ARN names, if it names one.
fn account_of(resource: &str) -> Option<String> {
    let arn: Arn = resource.parse().ok()?;
    let named = arn.account.len() == 12 && arn.account.bytes().all(|byte| byte.is_ascii_digit());
    named.then_some(arn.account)
}

/// The values of a key. A number and a boolean count as their text.
fn entry(json: Json<'_>) -> Result<Entry, &'static str> {
    match json {
        Json::List(items) => items.into_iter().map(text).collect::<Result<_, _>>().map(Entry::List),
        one => text(one).map(Entry::Value),
    }
}

fn text(json: Json<'_>) -> Result<String, &'static str> {
    match json {
        Json::Text(text) => Ok(text.into_owned()),
        Json::Number(text) => Ok(text),
        Json::Bool(yes) => Ok(yes.to_string()),
        other => Err(other.what()),
    }
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

fn one(policy: Option<Json<'_>>) -> Vec<Json<'_>> {
    policy.into_iter().collect()
}

fn levels<'a>(
    at: &str,
    levels: Vec<Vec<Json<'a>>>,
    mut read: impl FnMut(&str, Vec<Json<'a>>) -> Result<Vec<NamedPolicy>, String>,
) -> Result<Vec<Vec<NamedPolicy>>, String> {
    let each = levels.into_iter().enumerate();
    each.map(|(level, list)| read(&format!("{at}[{level}]"), list)).collect()
}

/// Reads policies; one without a name goes by its place in the line.
fn policies(
    at: &str,
    kind: PolicyKind,
    list: Vec<Json<'_>>,
    documents: &mut Documents<'_>,
) -> Result<Vec<NamedPolicy>, String> {
    let is_list = !matches!(at, "boundary" | "sessionPolicy" | "resourcePolicy");
    let each = list.into_iter().enumerate();
    each.map(|(index, json)| match is_list {
        true => policy(&format!("{at}[{index}]"), kind, json, documents),
        false => policy(at, kind, json, documents),
    })
    .collect()
}

fn policy(
    at: &str,
    kind: PolicyKind,
    json: Json<'_>,
    documents: &mut Documents<'_>,
) -> Result<NamedPolicy, String> {
    let (mut name, mut document) = (None, None);
    let json = match json {
        Json::Object(entries) if entries.iter().any(|(key, _)| key == "policy") => {
            for (key, value) in entries {
                match (&*key, value) {
                    ("name", Json::Text(text)) => name = Some(text),
                    ("policy", json) => document = Some(json),
                    (key, _) => return Err(format!("{at}.{key}: expected name and policy")),
                }
            }
            document.unwrap_or(Json::Null)
        }
        document => document,
    };
    // Which elements the policy of a resource has differs from service to service.
    let read = documents.read(json).and_then(|policy| match kind {
        PolicyKind::Identity => policy.suits(kind).map(|()| policy).map_err(|e| e.to_string()),
        PolicyKind::Resource | PolicyKind::Trust => Ok(policy),
    });
    match read {
        Ok(policy) => Ok(NamedPolicy::new(name.unwrap_or(at.into()), policy)),
        Err(error) => Err(format!("{at}: {error}")),
    }
}

#[cfg(test)]
mod tests;
