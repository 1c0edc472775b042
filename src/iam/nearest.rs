//! The statement that comes closest to allowing a request, and what it lacks.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use crate::iam::clause::{self, Clause};
use crate::iam::decision::StatementRef;
use crate::iam::document::{Effect, Statement};
use crate::iam::evaluate::refer;
use crate::iam::layers::NamedPolicy;
use crate::iam::principal::Reach;
use crate::iam::request::Request;
use crate::iam::truth::Truth;

/// A statement that would allow the request but for some of its clauses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Nearest {
    pub statement: StatementRef,
    /// What fails, the most telling first. Never empty.
    pub failed: Vec<Clause>,
}

/// How close a statement comes; the greater, the closer. The order of the fields is the order
/// of what matters.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Closeness {
    action: bool,
    principal: bool,
    resource: bool,
    failed_conditions: Reverse<usize>,
    /// Failed conditions whose key is sent, if with another value.
    keys_sent: usize,
    /// Letters in common with the action or resource it names.
    likeness: usize,
}

/// The allow statement of `policies` that comes closest. A statement that does not list the
/// action counts only if that is all it lacks and it lists others of the same service.
pub(crate) fn nearest(policies: &[NamedPolicy], request: &Request) -> Option<Nearest> {
    let mut best: Option<(Closeness, Nearest)> = None;
    for policy in policies {
        for statement in &policy.policy.statements {
            if statement.effect != Effect::Allow {
                continue;
            }
            let Some((closeness, failed)) = judge(statement, request) else { continue };
            if best.as_ref().is_none_or(|(other, _)| closeness > *other) {
                best = Some((closeness, Nearest { statement: refer((policy, statement)), failed }));
            }
        }
    }
    best.map(|(_, nearest)| nearest)
}

fn judge(statement: &Statement, request: &Request) -> Option<(Closeness, Vec<Clause>)> {
    let action = statement.action.covers(request.action_lower());
    let principal = statement.names(request, Reach::Account) != Truth::No;
    let resource = statement.resource_covers(request) != Truth::No;
    let context = request.context();
    let unmet: Vec<_> =
        statement.conditions.iter().filter(|c| c.holds(context) == Truth::No).collect();
    let mut failed = Vec::new();
    let mut likeness = 0;
    if !action {
        likeness = action_likeness(statement, request.action_lower())?;
        if !principal || !resource || !unmet.is_empty() {
            return None;
        }
        failed.push(clause::action(statement, request));
    }
    if !principal {
        failed.extend(clause::principal(statement, request));
    }
    if !resource {
        failed.extend(clause::resource(statement, request));
        likeness = resource_likeness(statement, request.resource());
    }
    let keys_sent = unmet.iter().filter(|c| !c.sent(context).values().is_empty()).count();
    let failed_conditions = Reverse(unmet.len());
    failed.extend(unmet.into_iter().map(|c| clause::condition(c, context)));
    if failed.is_empty() {
        return None;
    }
    let closeness =
        Closeness { action, principal, resource, failed_conditions, keys_sent, likeness };
    Some((closeness, failed))
}

/// Letters in common between `action` and the nearest action of the same service that the
/// statement names; none where it names no such action.
fn action_likeness(statement: &Statement, action: &str) -> Option<usize> {
    let service = action.split_once(':').map_or(0, |(service, _)| service.len() + 1);
    let common =
        statement.action.items.iter().map(|i| common(&i.text.to_ascii_lowercase(), action));
    common.max().filter(|&n| n >= service && service > 0)
}

fn resource_likeness(statement: &Statement, resource: &str) -> usize {
    let items = statement.resource.iter().flat_map(|element| &element.items);
    items.map(|item| common(&item.text, resource)).max().unwrap_or(0)
}

/// The length of the common beginning.
fn common(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()
}
