//! Why requests are refused, in words.

use std::collections::BTreeSet;

use super::{judge::Asked, managed};
use crate::iam::{Arn, Clause, Decision, Layer};

/// Reasons told in words; the evidence has all.
const TOLD: usize = 5;

/// The distinct actions, in order.
pub fn actions(asked: &[Asked<'_>]) -> String {
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
pub fn reasons<'a, 'b: 'a>(asked: impl IntoIterator<Item = &'a Asked<'b>>) -> String {
    let mut groups: Vec<Reason> = Vec::new();
    for asked in asked {
        let key = reason_key(&asked.decision);
        let action = format!("`{}`", asked.request.action);
        let on = kind_of_resource(&asked.request.resource);
        let at = groups.iter().position(|group| group.key == key).unwrap_or_else(|| {
            let text = told(&asked.decision);
            groups.push(Reason { key, text, actions: Vec::new(), on: Vec::new() });
            groups.len() - 1
        });
        let group = &mut groups[at];
        if !group.actions.contains(&action) {
            group.actions.push(action);
        }
        if !on.is_empty() && !group.on.contains(&on) {
            group.on.push(on);
        }
    }
    let more = groups.len().saturating_sub(TOLD);
    let is_only = groups.len() == 1;
    let each: Vec<_> = groups.iter().take(TOLD).map(|group| group.sentence(is_only)).collect();
    let more = if more > 0 {
        format!(" {more} more reasons are in the JSON report.")
    } else {
        String::new()
    };
    each.join(" ") + &more
}

struct Reason {
    key: String,
    text: String,
    actions: Vec<String>,
    /// Kinds of resources.
    on: Vec<String>,
}

impl Reason {
    /// Where it is the only reason, the actions have just been said.
    fn sentence(&self, is_only: bool) -> String {
        let kinds = self.on.join(", ");
        let text = &self.text;
        match (is_only, self.on.is_empty()) {
            (true, true) => format!("Reason: {text}."),
            (true, false) => format!("On {kinds}: {text}."),
            (false, true) => format!("{}: {text}.", self.actions.join(", ")),
            (false, false) => format!("{} on {kinds}: {text}.", self.actions.join(", ")),
        }
    }
}

/// A decision in words. The statements of a stand-in are not named: its policy has others.
pub fn told(decision: &Decision) -> String {
    let stand_in = format!("statement {} of policy ", managed::SID);
    decision.to_string().replace(&stand_in, "the AWS managed policy ")
}

/// The same for decisions that differ in the action, the resource or the statement only.
fn reason_key(decision: &Decision) -> String {
    let Decision::NotAllowed { nearest: Some(nearest), .. } = decision else {
        return decision.to_string();
    };
    let clauses = nearest.failed.iter().map(|clause| match clause {
        Clause::Resource { .. } => format!("resource {}", nearest.statement),
        Clause::Action { .. } => format!("action {}", nearest.statement),
        other => other.to_string(),
    });
    format!("{} {}", nearest.statement.policy, clauses.collect::<Vec<_>>().join(";"))
}

/// `instance` of an instance's ARN; nothing of `*`.
fn kind_of_resource(resource: &str) -> String {
    let arn: Option<Arn> = resource.parse().ok();
    arn.map(|arn| arn.resource_type().to_owned()).unwrap_or_default()
}

/// What stands in the way of requests that the role's own policies may well allow.
pub fn obstacles(asked: &[Asked<'_>]) -> Vec<String> {
    let mut obstacles = BTreeSet::new();
    for asked in asked {
        let obstacle = match &asked.decision {
            Decision::Denied { statement, layer } => format!(
                "Make {statement} ({layer}) leave these requests out: no other policy can \
                 overrule a deny."
            ),
            Decision::NotAllowed { layer: Layer::Identity | Layer::Resource, .. } => continue,
            Decision::NotAllowed { layer, .. } => format!(
                "Let the {layer} allow these requests as well: what it leaves out is refused, \
                 whatever the role's own policies say."
            ),
            _ => continue,
        };
        obstacles.insert(obstacle);
    }
    obstacles.into_iter().collect()
}
