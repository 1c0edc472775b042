//! AWS's own simulator, as a second opinion.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
};

use super::{Grants, ROLE_POLICIES, grants::Answer, limits::each_role};
use crate::{
    checks::{
        Area, Check, Context, Stop, Verdicts,
        remedies::{listed, quote},
    },
    facts::{
        Fact,
        iam::{Role, Simulated, Simulation},
    },
    iam::{Decision, Layer},
    outcome::{Finding, Remedy},
    requirements::Request,
    target::Product,
};

pub static CHECK: Check = Check {
    id: "permissions-simulated",
    title: "AWS's own simulation of the roles' policies agrees",
    area: Area::Controller,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["denied-by-organization-policy", "unauthorized-operation"],
    needs: &[
        ROLE_POLICIES,
        "iam:ListInstanceProfiles",
        "eks:DescribeAccessEntry",
        "eks:DescribeCluster",
        "eks:DescribePodIdentityAssociation",
        "eks:ListAccessEntries",
        "eks:ListPodIdentityAssociations",
    ],
    doc: "\
## What
Only with `--simulate`, which also needs `iam:SimulatePrincipalPolicy`: AWS's policy simulator is
asked about the same requests of the same roles that the permission checks judge, and both answers
are compared. Where they differ for a reason that is known, the reason stands in the evidence.

## Why
It is a second opinion, and never a proof. The simulator leaves out service control policies with
conditions, all resource control policies, trust policies and the policies of sessions, and it
knows only the context that it is told. But it sees the service control policies without
conditions of an organisation whose policies this account may not read.

## Seen as
`with an explicit deny in a service control policy`; `UnauthorizedOperation`.

## Fix
Look up the calls in CloudTrail: it has what really happened.
",
    run,
};

/// What to ask of the simulator, with each role's name and ARN: one question for all actions
/// that share resource and context.
pub fn questions(cx: &Context<'_>) -> Vec<(String, String, Simulation)> {
    type Key = (String, String, String, BTreeMap<String, Vec<String>>);
    let all: RefCell<BTreeMap<Key, BTreeSet<String>>> = RefCell::default();
    let note = |_: &Context<'_>, role: &Role, _: &Grants, requests: Vec<Request>| {
        for request in requests {
            let context = request.known_context();
            let key = (role.name.clone(), role.arn.clone(), request.resource, context);
            all.borrow_mut().entry(key).or_default().insert(request.action);
        }
        Ok(Finding::pass(""))
    };
    // Roles that cannot be judged are not asked about.
    let _ = each_role(cx, &note);
    let questions = all.into_inner().into_iter();
    questions
        .map(|((role, arn, resource, context), actions)| {
            let actions = actions.into_iter().collect();
            let answers = Fact::default();
            (role, arn, Simulation { actions, resource, context, answers })
        })
        .collect()
}

fn run(cx: &Context<'_>) -> Verdicts {
    if cx.facts.simulations.is_empty() {
        return Err(Stop::skipped("not asked for: add --simulate"));
    }
    each_role(cx, &judge)
}

/// How the two answers to one request differ.
struct Difference {
    request: Request,
    /// Whether the simulator allows it, and the policies that were read do not.
    simulator_allows: bool,
    /// Why that need not mean anything.
    excuse: Option<String>,
    /// Whether the simulator says that the organisation refuses it.
    by_organization: bool,
}

fn judge(
    cx: &Context<'_>,
    role: &Role,
    grants: &Grants,
    requests: Vec<Request>,
) -> Result<Finding, Stop> {
    let asked = requests.len();
    let mut differences = Vec::new();
    for request in requests {
        let simulated = simulated(cx, role, &request)?;
        differences.extend(difference(cx, grants.answer(&request), simulated, request));
    }
    let (unexplained, explained): (Vec<_>, Vec<_>) =
        differences.into_iter().partition(|difference| difference.excuse.is_none());
    let finding = match unexplained.is_empty() {
        true => Finding::pass(format!(
            "the simulator agrees on {} of {asked} requests of {}, and differs on the others for \
             known reasons",
            asked - explained.len(),
            role.name
        )),
        false => disagreement(role, &unexplained),
    };
    Ok(explained.iter().fold(finding, |finding, difference| {
        let excuse = difference.excuse.as_deref().unwrap_or_default();
        with_evidence(finding, difference, excuse)
    }))
}

/// The simulator's answer to a request.
fn simulated<'a>(cx: &Context<'a>, role: &Role, request: &Request) -> Result<&'a Simulated, Stop> {
    let context = request.known_context();
    let simulations = cx.facts.simulations.get(&role.name).into_iter().flatten();
    let mut asked = simulations.filter(|simulation| {
        simulation.resource == request.resource && simulation.context == context
    });
    let found = asked.find(|simulation| simulation.actions.contains(&request.action));
    let unasked =
        || Stop::unknown(format!("{} was not simulated for {}", request.action, role.name));
    found.ok_or_else(unasked)?.answers.known()?.get(&request.action).ok_or_else(unasked)
}

fn difference(
    cx: &Context<'_>,
    ours: Answer,
    simulated: &Simulated,
    request: Request,
) -> Option<Difference> {
    let organization = simulated.allowed_by_organization == Some(false);
    let different = |simulator_allows, excuse, by_organization| {
        Some(Difference { request, simulator_allows, excuse, by_organization })
    };
    match ours {
        Answer::Refused(decision) if simulated.is_allowed() => {
            different(true, left_out(&decision).map(str::to_owned), false)
        }
        Answer::Allowed if !simulated.is_allowed() => {
            let visible = cx.facts.organization.value().and_then(|found| found.levels.value());
            let excuse = match organization {
                true => visible
                    .map(|_| "the organisation's policies were read, and they allow it".to_owned()),
                false => not_told(simulated),
            };
            different(false, excuse, organization && visible.is_none())
        }
        _ => None,
    }
}

/// What the simulator leaves out, where a refusal rests on that.
fn left_out(decision: &Decision) -> Option<&'static str> {
    let (Decision::Denied { layer, .. } | Decision::NotAllowed { layer, .. }) = decision else {
        return None;
    };
    match layer {
        Layer::ServiceControl => {
            Some("the simulator leaves out service control policies with conditions")
        }
        Layer::ResourceControl => Some("the simulator leaves out resource control policies"),
        Layer::Session => Some("the simulator knows no policy of the session"),
        _ => None,
    }
}

/// The context that the simulator missed.
fn not_told(simulated: &Simulated) -> Option<String> {
    let keys: Vec<&str> = simulated.missing_context.iter().map(String::as_str).collect();
    (!keys.is_empty()).then(|| format!("the simulator was not told {}", listed(&keys)))
}

fn disagreement(role: &Role, differences: &[Difference]) -> Finding {
    let actions = |allows: bool, organization: bool| -> Vec<&str> {
        let of_kind = |difference: &&Difference| {
            difference.simulator_allows == allows && difference.by_organization == organization
        };
        let mut actions: Vec<_> = differences
            .iter()
            .filter(of_kind)
            .map(|difference| difference.request.action.as_str())
            .collect();
        actions.dedup();
        actions
    };
    let (hidden, refused, allowed) =
        (actions(false, true), actions(false, false), actions(true, false));
    let mut seen = Vec::new();
    let name = &role.name;
    if !hidden.is_empty() {
        seen.push(format!(
            "The simulator says that a policy of the organisation, which cannot be read from \
             here, refuses {} to {name}.",
            listed(&hidden)
        ));
    }
    if !refused.is_empty() {
        seen.push(format!(
            "The simulator refuses {} to {name}, which the policies that were read allow.",
            listed(&refused)
        ));
    }
    if !allowed.is_empty() {
        seen.push(format!(
            "The simulator allows {} to {name}, which the policies that were read refuse.",
            listed(&allowed)
        ));
    }
    let effect = "One of the two is wrong, and a simulation proves nothing. If the calls are \
                  refused in fact, what they are for is not done.";
    let errors: &[&'static str] = match hidden.is_empty() {
        true => &CHECK.errors[1..],
        false => &CHECK.errors[..1],
    };
    let finding = Finding::warn(seen.join(" "), effect).errors(errors).mend(look_up(differences));
    differences.iter().fold(finding, |finding, difference| {
        with_evidence(finding, difference, "no reason for it is known")
    })
}

fn with_evidence(finding: Finding, difference: &Difference, why: &str) -> Finding {
    /// The first differences show of which kind they are.
    const SHOWN: usize = 6;
    if finding.evidence.len() >= SHOWN {
        return finding;
    }
    let request = &difference.request;
    // One resource of an action stands for the others.
    let of_action = format!("{} on ", request.action);
    if finding.evidence.iter().any(|evidence| evidence.path.starts_with(&of_action)) {
        return finding;
    }
    let verdict = if difference.simulator_allows { "allowed" } else { "refused" };
    let path = format!("{} on {}", request.action, request.resource);
    finding.evidence("iam:SimulatePrincipalPolicy", path, format!("{verdict} there only: {why}"))
}

/// CloudTrail tells who is right.
fn look_up(differences: &[Difference]) -> Remedy {
    let remedy = Remedy::new(
        "Look up the latest of these calls in CloudTrail: `errorCode` says whether it was refused, \
         and `errorMessage` by what. Ask the owners of the organisation where that names a policy \
         of theirs.",
    );
    let first = differences.first().map(|difference| &difference.request.action);
    let operation = first.and_then(|action| action.split_once(':')).map(|(_, name)| name);
    operation.into_iter().fold(remedy, |remedy, name| {
        remedy.run(format!(
            "aws cloudtrail lookup-events --max-results 5 --lookup-attributes {}",
            quote(&format!("AttributeKey=EventName,AttributeValue={name}"))
        ))
    })
}

#[cfg(test)]
mod tests;
