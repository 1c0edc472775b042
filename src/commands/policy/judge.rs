//! From requests and decisions to outcomes: what is refused, grouped by what it does.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    questions::{Question, Weight},
    reasons::{actions, obstacles, reasons, told},
};
use crate::{
    errors,
    iam::{Clause, Decision, Layer, NamedPolicy, Policy, PolicySet, Principal},
    outcome::{Evidence, Outcome, QuotedError, Remedy, Status},
    report::OWN_PERMISSIONS,
    requirements::{Consequence, Request},
};

/// Errors quoted in one outcome: the likeliest.
const QUOTED: usize = 3;

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
pub struct Asked<'a> {
    pub request: &'a Request,
    pub decision: Decision,
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
            resource: None,
            seen,
            effect: String::new(),
            errors: Vec::new(),
            evidence: Vec::new(),
            remedy: None,
            missing_action: None,
            docs: docs(question.check),
            judged: None,
            waiver: None,
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
            remedy: Some(self.remedy(question, consequence, asked)),
            ..self.outcome(question, status, seen)
        }
    }

    fn unknown(&self, question: &Question, asked: &[Asked]) -> Outcome {
        let all = asked.len() == question.requests.len();
        let named = if all { String::new() } else { format!(": {}", actions(asked)) };
        let mut seen = format!(
            "{} of the {} requests that {} makes{} could not be judged{named}. ",
            asked.len(),
            question.requests.len(),
            question.who,
            purpose(question),
        );
        let (open, rest): (Vec<&Asked>, Vec<&Asked>) =
            asked.iter().partition(|asked| matches!(asked.decision, Decision::Unknown { .. }));
        let mut remedy = None;
        if !self.unseen.is_empty() && !rest.is_empty() {
            seen += &format!("What is seen does not allow them, but {}. ", self.unseen.join("; "));
            remedy = Some(Remedy::new(
                "Test what `terraform show -json` prints after the apply, or give the documents that \
                 are missing as files of their own.",
            ));
        } else if !rest.is_empty() {
            seen += "The policy names certain ids, and nothing says which will be asked for. ";
        }
        if !open.is_empty() {
            seen += &reasons(open);
        }
        Outcome {
            evidence: asked.iter().map(evidence).collect(),
            remedy,
            ..self.outcome(question, Status::Unknown, seen.trim().to_owned())
        }
    }

    fn remedy(&self, question: &Question, consequence: Consequence, asked: &[Asked]) -> Remedy {
        let mut words = obstacles(asked);
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
        remedy.document(format!("missing-{}.json", consequence.as_str()), &document)
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

fn evidence(asked: &Asked<'_>) -> Evidence {
    Evidence {
        api: asked.request.action.clone(),
        path: asked.request.resource.clone(),
        value: told(&asked.decision),
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

/// Where a check is documented; what this program itself needs is told beside its policy.
fn docs(check: &str) -> String {
    match check {
        OWN_PERMISSIONS => "policies/README.md".to_owned(),
        check => format!("docs/checks.md#{check}"),
    }
}
