//! Why requests are refused, in words.

use super::Refused;
use crate::iam::{Arn, Clause, Decision};

/// Reasons told in words.
const TOLD: usize = 4;

/// Why, in sentences, each with a leading space: requests that fail for the same reason are told
/// together. Nothing where no statement is even near, since the list of actions says it all.
pub fn reasons(refused: &[Refused]) -> String {
    let mut groups: Vec<Reason<'_>> = Vec::new();
    for refused in refused {
        let Some(key) = key(&refused.decision) else { continue };
        let action = refused.request.action.as_str();
        let kind = kind_of_resource(&refused.request.resource);
        let at = groups.iter().position(|group| group.key == key).unwrap_or_else(|| {
            let text = refused.decision.to_string();
            groups.push(Reason { key, text, actions: Vec::new(), kinds: Vec::new() });
            groups.len() - 1
        });
        let group = &mut groups[at];
        if !group.actions.contains(&action) {
            group.actions.push(action);
        }
        if !kind.is_empty() && !group.kinds.contains(&kind) {
            group.kinds.push(kind);
        }
    }
    let mut actions: Vec<&str> =
        refused.iter().map(|refused| refused.request.action.as_str()).collect();
    actions.dedup();
    let is_of_all = groups.len() == 1 && groups[0].actions.len() == actions.len();
    let mut text: String =
        groups.iter().take(TOLD).map(|group| group.sentence(is_of_all)).collect();
    match groups.len().saturating_sub(TOLD) {
        0 => {}
        1 => text.push_str(" One more reason is like these."),
        more => text.push_str(&format!(" {more} more reasons are like these.")),
    }
    text
}

struct Reason<'a> {
    key: String,
    text: String,
    actions: Vec<&'a str>,
    kinds: Vec<String>,
}

impl Reason<'_> {
    /// Where it is the reason for all, the actions have just been said.
    fn sentence(&self, is_of_all: bool) -> String {
        let (actions, kinds, text) = (self.actions.join(", "), self.kinds.join(", "), &self.text);
        match (is_of_all, self.kinds.is_empty()) {
            (true, true) => format!(" The reason: {text}."),
            (true, false) => format!(" On {kinds}: {text}."),
            (false, true) => format!(" {actions}: {text}."),
            (false, false) => format!(" {actions} on {kinds}: {text}."),
        }
    }
}

/// The same for decisions that differ in the action, the resource or the statement only.
fn key(decision: &Decision) -> Option<String> {
    let Decision::NotAllowed { nearest, .. } = decision else { return Some(decision.to_string()) };
    let nearest = nearest.as_ref()?;
    let clauses = nearest.failed.iter().map(|clause| match clause {
        Clause::Resource { .. } => format!("resource {}", nearest.statement),
        Clause::Action { .. } => format!("action {}", nearest.statement),
        other => other.to_string(),
    });
    Some(format!("{} {}", nearest.statement.policy, clauses.collect::<Vec<_>>().join(";")))
}

/// `instance` of an instance's ARN; nothing of `*`.
fn kind_of_resource(resource: &str) -> String {
    let arn: Option<Arn> = resource.parse().ok();
    arn.map(|arn| arn.resource_type().to_owned()).unwrap_or_default()
}
