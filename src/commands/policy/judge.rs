//! From requests and decisions to outcomes: what is refused, grouped by what it does.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::questions::{Question, Weight};
use crate::{
    errors,
    iam::{Arn, Clause, Decision, Layer, NamedPolicy, Policy, PolicySet, Principal},
    outcome::{Evidence, Outcome, QuotedError, Remedy, Status},
    requirements::{Consequence, Request},
};

/// Errors quoted in one outcome: the likeliest.
const QUOTED: usize = 3;
/// Reasons told in words; the evidence has all.
const TOLD: usize = 5;

/// Whose policies are asked.
pub struct Judge<'a> {
    /// The role, or the file.
    pub subject: String,
    pub decide: Box<dyn Fn(&Request) -> Decision + 'a>,
    /// Why some policy of the role could not be read; what the others do not allow may be
    /// allowed there.
    pub unseen: Vec<String>,
    /// The statements that are printed for this, to choose the missing ones from.
    pub printed: Vec<Value>,
    pub by: Principal,
}

/// A request that is not allowed.
struct Asked<'a> {
    request: &'a Request,
    decision: Decision,
}

impl Judge<'_> {
    /// The outcomes of one question: one a consequence, one for all that is unknown, or a pass.
    pub fn judge(&self, question: &Question) -> Vec<Outcome> {
        let mut refused: BTreeMap<Consequence, Vec<Asked>> = BTreeMap::new();
        let mut unknown = Vec::new();
        for request in &question.requests {
            let decision = (self.decide)(request);
            let asked = Asked { request, decision };
            if asked.decision.is_allowed() {
                continue;
            }
            if self.is_unknown(&asked) {
                unknown.push(asked);
            } else {
                refused.entry(request.consequence).or_default().push(asked);
            }
        }
        let mut outcomes: Vec<_> = refused
            .iter()
            .map(|(consequence, asked)| self.refusal(question, *consequence, asked))
            .collect();
        if !unknown.is_empty() {
            outcomes.push(self.unknown(question, &unknown));
        }
        if outcomes.is_empty() {
            let count = question.requests.len();
            outcomes.push(self.outcome(
                question,
                Status::Pass,
                format!(
                    "all {count} requests that {} makes{} are allowed",
                    question.who,
                    purpose(question)
                ),
            ));
        }
        outcomes
    }

    fn is_unknown(&self, asked: &Asked<'_>) -> bool {
        match &asked.decision {
            Decision::Unknown { .. } => true,
            Decision::NotAllowed { layer: Layer::Identity, .. } if !self.unseen.is_empty() => true,
            Decision::NotAllowed { nearest: Some(nearest), .. } => {
                asked.request.stand_in
                    && nearest.failed.iter().all(|clause| matches!(clause, Clause::Resource { .. }))
            }
            _ => false,
        }
    }

    fn outcome(&self, question: &Question, status: Status, seen: String) -> Outcome {
        Outcome {
            check: question.check.to_owned(),
            status,
            subject: self.subject.clone(),
            seen,
            effect: String::new(),
            errors: Vec::new(),
            evidence: Vec::new(),
            remedy: None,
            missing_action: None,
            docs: format!("docs/checks.md#{}", question.check),
        }
    }

    fn refusal(&self, question: &Question, consequence: Consequence, asked: &[Asked]) -> Outcome {
        let (status, remark) = match question.weight {
            Weight::Fail => (Status::Fail, ""),
            Weight::Warn(why) => (Status::Warn, why),
            Weight::Optional(why) => {
                let seen =
                    format!("{} would be refused{}, but {why}", question.who, purpose(question));
                return self.outcome(question, Status::Skipped, seen);
            }
            Weight::Consequence => (status(consequence), ""),
        };
        let count = asked.len();
        let seen = format!(
            "{} would be refused {count} of its {} requests{}: {}. {}",
            question.who,
            question.requests.len(),
            purpose(question),
            actions(asked),
            reasons(asked)
        );
        let effect = match question.weight {
            Weight::Consequence => effect(consequence),
            _ => "",
        };
        Outcome {
            effect: [effect, remark, notes(asked)]
                .into_iter()
                .filter(|s| !s.is_empty())
                .collect::<Vec<_>>()
                .join(" "),
            errors: quoted(asked),
            evidence: asked.iter().map(evidence).collect(),
            remedy: Some(self.remedy(question, asked)),
            ..self.outcome(question, status, seen)
        }
    }

    fn unknown(&self, question: &Question, asked: &[Asked]) -> Outcome {
        let mut seen = format!(
            "{} of the {} requests that {} makes{} could not be judged: {}. ",
            asked.len(),
            question.requests.len(),
            question.who,
            purpose(question),
            actions(asked)
        );
        let not_open: Vec<_> =
            asked.iter().filter(|a| !matches!(a.decision, Decision::Unknown { .. })).collect();
        if !self.unseen.is_empty() && !not_open.is_empty() {
            seen += &format!("What is seen does not allow them, but {}. ", self.unseen.join("; "));
        } else if !not_open.is_empty() {
            seen += "The policy names certain ids, and nothing says which will be asked for. ";
        }
        let open: Vec<_> =
            asked.iter().filter(|a| matches!(a.decision, Decision::Unknown { .. })).collect();
        if !open.is_empty() {
            seen += &reasons(open);
        }
        Outcome {
            evidence: asked.iter().map(evidence).collect(),
            ..self.outcome(question, Status::Unknown, seen.trim().to_owned())
        }
    }

    fn remedy(&self, question: &Question, asked: &[Asked]) -> Remedy {
        let mut words = Vec::new();
        let mut denied: Vec<String> = Vec::new();
        let mut limits: Vec<String> = Vec::new();
        for asked in asked {
            match &asked.decision {
                Decision::Denied { statement, layer } => {
                    denied.push(format!("{statement} ({layer})"))
                }
                Decision::NotAllowed { layer: Layer::Identity | Layer::Resource, .. } => {}
                Decision::NotAllowed { layer, .. } => limits.push(layer.to_string()),
                _ => {}
            }
        }
        denied.dedup();
        limits.dedup();
        for statement in &denied {
            words.push(format!(
                "Make {statement} leave these requests out: no other policy can overrule a deny."
            ));
        }
        for layer in &limits {
            words.push(format!(
                "Let the {layer} allow these requests as well: what it leaves out is refused, whatever the role's own policies say."
            ));
        }
        let missing = self.missing(asked);
        if !missing.is_empty() {
            words.push("Grant these statements to the role.".to_owned());
        }
        words.push(format!("`{}` prints the whole.", question.print));
        let remedy = Remedy::new(words.join(" "));
        if missing.is_empty() {
            return remedy;
        }
        let document = json!({"Version": "2012-10-17", "Statement": missing});
        remedy.document("missing-statements.json", &document)
    }

    /// Of the statements that are printed, those that allow what no policy of the role does.
    fn missing(&self, asked: &[Asked]) -> Vec<&Value> {
        let wanted: Vec<_> = asked
            .iter()
            .filter(|asked| {
                matches!(asked.decision, Decision::NotAllowed { layer: Layer::Identity, .. })
            })
            .map(|asked| asked.request.by(self.by.clone()))
            .collect();
        let allows = |statement: &&Value| {
            let text = json!({"Version": "2012-10-17", "Statement": [statement]}).to_string();
            let Ok(policy) = Policy::parse(&text) else { return false };
            let set = PolicySet {
                identity: vec![NamedPolicy::new("printed", policy)],
                ..PolicySet::default()
            };
            wanted.iter().any(|request| set.decide(request).is_allowed())
        };
        self.printed.iter().filter(allows).collect()
    }
}

fn purpose(question: &Question) -> String {
    match question.purpose {
        "" => String::new(),
        purpose => format!(" {purpose}"),
    }
}

fn status(consequence: Consequence) -> Status {
    match consequence {
        Consequence::StopsStart
        | Consequence::StopsLaunches
        | Consequence::StopsNodes
        | Consequence::StopsDeletion => Status::Fail,
        Consequence::Leaks | Consequence::Degrades | Consequence::Silent => Status::Warn,
    }
}

fn effect(consequence: Consequence) -> &'static str {
    match consequence {
        Consequence::StopsStart => "The controller ends at its start, again and again.",
        Consequence::StopsLaunches => "No node is launched, or none of those that this concerns.",
        Consequence::StopsNodes => "Instances are launched but do not work as nodes.",
        Consequence::StopsDeletion => "Nodes or NodeClasses cannot be deleted.",
        Consequence::Leaks => "Something is left behind in the account each time.",
        Consequence::Degrades => "A function is missing; the rest works.",
        Consequence::Silent => "A function is missing, and nothing says so.",
    }
}

/// The note of the first request that has one.
fn notes<'a>(asked: &[Asked<'a>]) -> &'a str {
    asked
        .iter()
        .map(|asked| asked.request.note.as_str())
        .find(|note| !note.is_empty())
        .unwrap_or_default()
}

/// The distinct actions, in order.
fn actions(asked: &[Asked<'_>]) -> String {
    let mut names: Vec<String> = Vec::new();
    for asked in asked {
        let name = format!("`{}`", asked.request.action);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(", ")
}

/// Why, in sentences: requests that fail for the same reason are told together.
fn reasons<'a, 'b: 'a>(asked: impl IntoIterator<Item = &'a Asked<'b>>) -> String {
    let mut groups: Vec<(String, String, Vec<String>)> = Vec::new();
    for asked in asked {
        let action = asked.request.action.clone();
        let key = format!("{action} {}", reason_key(&asked.decision));
        let on = kind_of_resource(&asked.request.resource);
        match groups.iter_mut().find(|group| group.0 == key) {
            Some(group) if group.2.contains(&on) => {}
            Some(group) => group.2.push(on),
            None => groups.push((key, format!("`{action}`{{}}: {}", asked.decision), vec![on])),
        }
    }
    let more = groups.len().saturating_sub(TOLD);
    let told = groups.into_iter().take(TOLD).map(|(_, reason, on)| {
        let on: Vec<_> = on.into_iter().filter(|kind| !kind.is_empty()).collect();
        let on = if on.is_empty() { String::new() } else { format!(" on {}", on.join(", ")) };
        reason.replacen("{}", &on, 1)
    });
    let mut text = told.collect::<Vec<_>>().join(". ") + ".";
    if more > 0 {
        text += &format!(" {more} more reasons are in the JSON report.");
    }
    text
}

/// The same for decisions that differ in the resource only.
fn reason_key(decision: &Decision) -> String {
    let Decision::NotAllowed { nearest: Some(nearest), .. } = decision else {
        return decision.to_string();
    };
    let clauses = nearest.failed.iter().map(|clause| match clause {
        Clause::Resource { .. } => "resource".to_owned(),
        other => other.to_string(),
    });
    format!("{} {}", nearest.statement, clauses.collect::<Vec<_>>().join(";"))
}

/// `instance` of an instance's ARN; nothing of `*`.
fn kind_of_resource(resource: &str) -> String {
    let arn: Option<Arn> = resource.parse().ok();
    arn.map(|arn| arn.resource_type().to_owned()).unwrap_or_default()
}

fn evidence(asked: &Asked<'_>) -> Evidence {
    Evidence {
        api: asked.request.action.clone(),
        path: asked.request.resource.clone(),
        value: asked.decision.to_string(),
    }
}

/// The documented errors of the requests, each once, those of most requests first.
fn quoted(asked: &[Asked<'_>]) -> Vec<QuotedError> {
    let mut ids: Vec<&String> = Vec::new();
    for id in asked.iter().flat_map(|asked| &asked.request.errors) {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    let quote = |id: &String| errors::catalogue().get(id).map(|error| error.quote.clone());
    ids.into_iter()
        .take(QUOTED)
        .map(|id| QuotedError { id: id.clone(), quote: quote(id).unwrap_or_default() })
        .collect()
}
