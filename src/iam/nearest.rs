//! The statement that comes closest to allowing a request, and what it lacks.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use crate::iam::clause::{self, Clause};
use crate::iam::condition::Condition;
use crate::iam::decision::StatementRef;
use crate::iam::document::{Effect, Statement};
use crate::iam::evaluate::refer;
use crate::iam::layers::NamedPolicy;
use crate::iam::principal_element::Reach;
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
    let mut best: Option<(Closeness, &NamedPolicy, &Statement)> = None;
    for policy in policies {
        for statement in policy.policy.statements.iter() {
            if statement.effect != Effect::Allow {
                continue;
            }
            let Some(closeness) = closeness(statement, request) else { continue };
            if best.as_ref().is_none_or(|(other, ..)| closeness > *other) {
                best = Some((closeness, policy, statement));
            }
        }
    }
    best.map(|(_, policy, statement)| Nearest {
        statement: refer((policy, statement)),
        failed: failed(statement, request),
    })
}

/// The conditions that are not met, for certain.
fn unmet<'s>(
    statement: &'s Statement,
    request: &'s Request,
) -> impl Iterator<Item = &'s Condition> + 's {
    let context = request.context();
    statement.conditions.iter().filter(move |c| c.holds(context) == Truth::No)
}

/// None for a statement that is no candidate.
fn closeness(statement: &Statement, request: &Request) -> Option<Closeness> {
    let action = statement.action.covers(request.action_lower());
    let mut likeness = if action { 0 } else { action_likeness(statement, request)? };
    let principal = statement.names(request, Reach::Account) != Truth::No;
    let resource = statement.resource_covers(request) != Truth::No;
    if !resource {
        likeness = resource_likeness(statement, request.resource());
    }
    let (mut failed_conditions, mut keys_sent) = (0, 0);
    for condition in unmet(statement, request) {
        failed_conditions += 1;
        keys_sent += usize::from(!condition.sent(request.context()).values().is_empty());
    }
    let rest_holds = principal && resource && failed_conditions == 0;
    // Either the action is all that is lacking, or it is there and something else is.
    (action != rest_holds).then_some(Closeness {
        action,
        principal,
        resource,
        failed_conditions: Reverse(failed_conditions),
        keys_sent,
        likeness,
    })
}

fn failed(statement: &Statement, request: &Request) -> Vec<Clause> {
    let mut failed = Vec::new();
    if !statement.action.covers(request.action_lower()) {
        failed.push(clause::action(statement, request));
    }
    if statement.names(request, Reach::Account) == Truth::No {
        failed.extend(clause::principal(statement, request));
    }
    if statement.resource_covers(request) == Truth::No {
        failed.extend(clause::resource(statement, request));
    }
    failed.extend(unmet(statement, request).map(|c| clause::condition(c, request.context())));
    failed
}

/// Letters in common between `action` and the nearest action of the same service that the
/// statement names; none where it names no such action.
fn action_likeness(statement: &Statement, request: &Request) -> Option<usize> {
    let action = request.action_lower();
    let service = action.split_once(':').map_or(0, |(service, _)| service.len() + 1);
    let common = statement.action.items.iter().map(|item| common(&item.text, action));
    common.max().filter(|&n| n >= service && service > 0)
}

fn resource_likeness(statement: &Statement, resource: &str) -> usize {
    let items = statement.resource.iter().flat_map(|element| &element.items);
    items.map(|item| common(&item.text, resource)).max().unwrap_or(0)
}

/// The length of the common beginning, whatever its case.
fn common(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(a, b)| a.eq_ignore_ascii_case(b)).count()
}
