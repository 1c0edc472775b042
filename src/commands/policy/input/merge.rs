//! Documents that an `aws_iam_policy_document` merges into itself.
//!
//! Terraform begins with the sources, adds the own statements, then the overrides; a statement
//! takes the place of an earlier one with its Sid
//! (<https://registry.terraform.io/providers/hashicorp/aws/latest/docs/data-sources/iam_policy_document>).

use serde_json::{Value, json};

use super::{
    data_source::{anything, own, under_condition},
    list,
    plan::{Plan, Resource},
};

/// Documents are not nested deeper than this.
const DEEPEST: usize = 16;

/// What is known of a statement: itself, or several that stand for it.
pub struct Known {
    /// `None` where the Sid is not known yet.
    pub sid: Option<String>,
    pub statements: Vec<Value>,
}

impl Known {
    /// Whatever documents of which nothing is known may hold.
    pub fn nothing() -> Self {
        Self { sid: None, statements: anything() }
    }

    fn of(statement: &Value) -> Self {
        let sid = statement["Sid"].as_str().unwrap_or_default().to_owned();
        Self { sid: Some(sid), statements: vec![statement.clone()] }
    }
}

/// A document of what a plan knows of this one.
pub fn document(plan: &Plan<'_>, data: &Resource<'_>) -> Value {
    let statements = merged(plan, data, 0).into_iter().flat_map(|known| known.statements);
    let version = data.values["version"].as_str().unwrap_or("2012-10-17");
    json!({"Version": version, "Statement": statements.collect::<Vec<_>>()})
}

fn merged(plan: &Plan<'_>, data: &Resource<'_>, depth: usize) -> Vec<Known> {
    let of = |argument| sources(plan, data, argument, depth);
    let mut all: Vec<Known> =
        ["source_json", "source_policy_documents"].map(of).into_iter().flatten().collect();
    merge(&mut all, own(data.values));
    for argument in ["override_policy_documents", "override_json"] {
        merge(&mut all, of(argument));
    }
    all
}

fn merge(all: &mut Vec<Known>, more: Vec<Known>) {
    for new in more {
        match new.sid.as_deref() {
            Some("") => all.push(new),
            Some(sid) => match all.iter_mut().find(|known| known.sid.as_deref() == Some(sid)) {
                Some(known) => *known = new,
                None => all.push(new),
            },
            // It may take the place of any that has a Sid.
            None => {
                for known in all.iter_mut().filter(|known| known.sid.as_deref() != Some("")) {
                    doubt(&mut known.statements);
                }
                all.push(new);
            }
        }
    }
}

fn doubt(statements: &mut [Value]) {
    for statement in statements {
        *statement = under_condition(statement.take());
    }
}

/// The statements of the documents that an argument names, one after another.
fn sources(plan: &Plan<'_>, data: &Resource<'_>, argument: &str, depth: usize) -> Vec<Known> {
    let referred = |at: usize, of: usize| {
        let found = plan.referred_at(data, argument, "aws_iam_policy_document", at, of);
        match found.filter(|_| depth < DEEPEST) {
            Some(found) => match found.values["json"].as_str() {
                Some(text) => read(text),
                None => merged(plan, found, depth + 1),
            },
            None => vec![Known::nothing()],
        }
    };
    match data.values.get(argument) {
        Some(Value::String(text)) => read(text),
        Some(Value::Array(texts)) => {
            let each = texts.iter().enumerate();
            each.flat_map(|(at, text)| match text.as_str() {
                Some(text) => read(text),
                None => referred(at, texts.len()),
            })
            .collect()
        }
        Some(_) => Vec::new(),
        // A newer provider has no such argument, and what is known to be unset is null.
        None if plan.sets(data, argument) => referred(0, 1),
        None => Vec::new(),
    }
}

fn read(text: &str) -> Vec<Known> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    let Ok(document) = serde_json::from_str::<Value>(text) else { return vec![Known::nothing()] };
    match &document["Statement"] {
        Value::Array(_) => list(&document, "Statement").iter().map(Known::of).collect(),
        Value::Object(_) => vec![Known::of(&document["Statement"])],
        _ => Vec::new(),
    }
}
