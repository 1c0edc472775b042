//! What the NodeClaims say: those that do not launch, and those that do not register.

use std::collections::{BTreeMap, BTreeSet};

use super::{Age, Context, UNKNOWN_FOR, list, text};
use crate::{
    checks::{
        Area, Check, Judged, Stop, Verdicts,
        diagnosis::Diagnosis,
        remedies::{listed, quote},
    },
    facts::kubernetes::{Condition, node_pool::NodeClaim},
    outcome::Finding,
    target::Product,
};

/// A node registers within a minute or two; from here on it is late, in seconds …
const LATE: i64 = 5 * 60;
/// … and from here on Karpenter deletes the NodeClaim
/// (core `pkg/controllers/nodeclaim/lifecycle/liveness.go`).
const GIVEN_UP: i64 = 15 * 60;

pub static CHECK: Check = Check {
    id: "nodeclaim-status",
    title: "NodeClaims are launched and registered",
    area: Area::Launch,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["awaiting-reconciliation"],
    needs: &[],
    doc: "\
## What
Every NodeClaim is launched, and its node is registered within some minutes. NodeClaims with the
same fault are one finding, with the first of them by name. What they say is looked up in the
catalogue of documented errors, and the finding names the likeliest cause.

## Why
Karpenter deletes a NodeClaim that is not launched after 5 minutes or whose node has not
registered after 15, and makes another one. The pods wait, the instances are paid for, and the
NodeClaim that says why is soon gone.

## Seen as
`Launched` or `Registered` is Unknown or False in `kubectl describe nodeclaim`, for example with
`Node not registered with cluster` or `Error getting launch template configs`.

## Fix
Mend what the message names. `karpenter-preflight explain <error> --cluster <cluster>` says which of
its causes holds.
",
    run,
};

/// What is wrong with a NodeClaim; those that are alike are judged together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Fault<'a> {
    certain: bool,
    kind: Kind,
    reason: &'a str,
    message: &'a str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    NotLaunched,
    NotRegistered,
    TooSmall,
}

impl Kind {
    /// What is the case, and what comes of it.
    fn told(self) -> (&'static str, &'static str) {
        match self {
            Self::NotLaunched => (
                "not launched",
                "No instance comes up: Karpenter deletes such a NodeClaim after 5 minutes and tries \
                 again, and the pods stay Pending.",
            ),
            Self::NotRegistered => (
                "launched and not registered within 5 minutes",
                "The instances run and are no nodes. Karpenter deletes them after 15 minutes and tries \
                 again; the pods stay Pending.",
            ),
            Self::TooSmall => (
                "not as Karpenter had reckoned",
                "Pods that Karpenter made the node for may find no room on it.",
            ),
        }
    }
}

fn run(cx: &Context<'_>) -> Verdicts {
    let claims = list(&cx.kubernetes()?.node_claims)?;
    let living: Vec<_> = claims.iter().filter(|claim| claim.meta.deleting.is_none()).collect();
    if living.is_empty() {
        return Err(Stop::skipped("there is no NodeClaim"));
    }
    let mut faults: BTreeMap<Fault<'_>, Vec<&NodeClaim>> = BTreeMap::new();
    for claim in &living {
        if let Some(fault) = fault(cx, claim) {
            faults.entry(fault).or_default().push(claim);
        }
    }
    if faults.is_empty() {
        let seen = match living.len() {
            1 => format!("{} is launched and registered, or on its way", living[0].meta.name),
            many => format!("all {many} NodeClaims are launched and registered, or on their way"),
        };
        return Ok(vec![Judged::new(&cx.target.cluster, || Ok(Finding::pass(seen)))]);
    }
    let judge = |(fault, claims): (&Fault<'_>, &Vec<&NodeClaim>)| {
        let subject = format!("nodeclaim/{}", claims[0].meta.name);
        Judged::new(subject, || Ok(finding(cx, fault, claims)))
    };
    Ok(faults.iter().map(judge).collect())
}

fn condition<'a>(claim: &'a NodeClaim, kind: &str) -> Option<&'a Condition> {
    claim.conditions.iter().find(|condition| condition.kind == kind)
}

fn fault<'a>(cx: &Context<'_>, claim: &'a NodeClaim) -> Option<Fault<'a>> {
    let age = |condition: Option<&Condition>| {
        let since = condition.and_then(|condition| condition.since).or(claim.meta.created);
        Age::of(cx, since).map_or(0, Age::seconds)
    };
    let of = |kind, certain, condition: Option<&'a Condition>| Fault {
        certain,
        kind,
        reason: condition.map_or("", |condition| &condition.reason),
        message: condition.map_or("", |condition| &condition.message),
    };
    let is = |condition: Option<&Condition>| condition.is_some_and(|c| c.status == "True");
    let launched = condition(claim, "Launched");
    if !is(launched) {
        let said = launched.is_some_and(|condition| {
            !matches!(condition.reason.as_str(), "" | "AwaitingReconciliation")
        });
        let failing = said || age(launched) >= UNKNOWN_FOR;
        return failing.then(|| of(Kind::NotLaunched, true, launched));
    }
    let registered = condition(claim, "Registered");
    if !is(registered) {
        let waits = age(launched);
        return (waits >= LATE).then(|| of(Kind::NotRegistered, waits >= GIVEN_UP, registered));
    }
    let consistent = condition(claim, "ConsistentStateFound");
    let differs = consistent.is_some_and(|condition| condition.status == "False");
    differs.then(|| of(Kind::TooSmall, false, consistent))
}

fn finding(cx: &Context<'_>, fault: &Fault<'_>, claims: &[&NodeClaim]) -> Finding {
    let names: Vec<_> = claims.iter().map(|claim| claim.meta.name.as_str()).collect();
    let pools: BTreeSet<_> = claims.iter().filter_map(|claim| claim.node_pool.as_deref()).collect();
    let pools: Vec<_> = pools.into_iter().collect();
    let of_pools = match pools.as_slice() {
        [] => String::new(),
        [one] => format!(" of the NodePool {one}"),
        many => format!(" of the NodePools {}", listed(many)),
    };
    let (what, effect) = fault.kind.told();
    let because = match (fault.reason, fault.message) {
        ("", "") => String::new(),
        ("", text) | (text, "") => format!(": {text}"),
        (reason, message) => format!(": {reason}: {message}"),
    };
    let (subjects, are) = match names.len() {
        1 => ("NodeClaim", "is"),
        _ => ("NodeClaims", "are"),
    };
    let seen = format!("The {subjects} {}{of_pools} {are} {what}{because}.", listed(&names));
    let finding = if fault.certain { Finding::fail } else { Finding::warn }(seen, effect);
    let shown: Vec<&Condition> =
        claims[0].conditions.iter().filter(|c| c.status != "True").collect();
    let finding = shown.iter().fold(finding, |finding, condition| {
        finding.evidence(
            "get nodeclaim",
            format!("{} status.conditions[{}]", names[0], condition.kind),
            format!("{} {} {}", condition.status, condition.reason, condition.message).trim(),
        )
    });
    let describe = format!("kubectl describe nodeclaim {}", quote(names[0]));
    // Conditions that only wait for this one would hide it.
    let telling: Vec<_> = shown.iter().copied().filter(|c| is_of(c, fault.kind)).collect();
    let otherwise = "awaiting-reconciliation";
    Diagnosis::of(&text(&telling)).name_in(cx, finding, otherwise, &[describe])
}

fn is_of(condition: &Condition, kind: Kind) -> bool {
    condition.kind
        == match kind {
            Kind::NotLaunched => "Launched",
            Kind::NotRegistered => "Registered",
            Kind::TooSmall => "ConsistentStateFound",
        }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status,
    };

    fn condition(kind: &str, status: &str, reason: &str, message: &str, since: &str) -> Value {
        let since = format!("2026-11-01T{since}Z");
        json!({"type": kind, "status": status, "reason": reason, "message": message, "since": since})
    }

    fn claim(name: &str, conditions: &Value) -> Value {
        json!({"meta": {"name": name, "created": "2026-11-01T11:30:00Z"}, "node_pool": "default",
            "conditions": conditions})
    }

    fn claims(claims: &[Value]) -> Value {
        json!({"facts": {"kubernetes": {"node_claims": {"known": claims}}}})
    }

    /// As the blog shows it.
    fn launch_failed(name: &str) -> Value {
        claim(
            name,
            &json!([
                condition(
                    "Initialized",
                    "Unknown",
                    "AwaitingReconciliation",
                    "object is awaiting reconciliation",
                    "11:59:00"
                ),
                condition(
                    "Launched",
                    "Unknown",
                    "LaunchFailed",
                    "Error getting launch template configs",
                    "11:59:00"
                ),
                condition(
                    "Registered",
                    "Unknown",
                    "NodeNotFound",
                    "Node not registered with cluster",
                    "11:59:00"
                ),
                condition(
                    "Ready",
                    "Unknown",
                    "ReconcilingDependents",
                    "Initialized=Unknown, Launched=Unknown, Registered=Unknown",
                    "11:59:00"
                )
            ]),
        )
    }

    fn not_registered(name: &str, launched: &str) -> Value {
        claim(
            name,
            &json!([
                condition("Launched", "True", "Launched", "", launched),
                condition(
                    "Registered",
                    "Unknown",
                    "NodeNotFound",
                    "Node not registered with cluster",
                    launched
                )
            ]),
        )
    }

    #[test]
    fn rows() {
        let subject = "nodeclaim/a";
        let new = claim(
            "a",
            &json!([condition(
                "Launched",
                "Unknown",
                "AwaitingReconciliation",
                "object is awaiting reconciliation",
                "11:58:00"
            )]),
        );
        let old = claim(
            "a",
            &json!([condition(
                "Launched",
                "Unknown",
                "AwaitingReconciliation",
                "object is awaiting reconciliation",
                "11:50:00"
            )]),
        );
        let smaller = claim(
            "a",
            &json!([
                condition("Launched", "True", "", "", "11:00:00"),
                condition("Registered", "True", "", "", "11:00:00"),
                condition(
                    "ConsistentStateFound",
                    "False",
                    "ConsistencyCheckFailed",
                    "Consistency Check Failed",
                    "11:00:00"
                )
            ]),
        );
        let mut leaving = not_registered("a", "11:00:00");
        leaving["meta"]["deleting"] = json!("2026-11-01T11:59:00Z");
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[
                ("ready", json!({}), &[(Status::Pass, "demo")]),
                ("launch failed", claims(&[launch_failed("a")]), &[(Status::Fail, subject)]),
                ("new", claims(&[new]), &[(Status::Pass, "demo")]),
                ("nobody looks at it", claims(&[old]), &[(Status::Fail, subject)]),
                ("starting", claims(&[not_registered("a", "11:58:00")]), &[(Status::Pass, "demo")]),
                ("late", claims(&[not_registered("a", "11:52:00")]), &[(Status::Warn, subject)]),
                (
                    "given up",
                    claims(&[not_registered("a", "11:44:00")]),
                    &[(Status::Fail, subject)],
                ),
                ("smaller", claims(&[smaller]), &[(Status::Warn, subject)]),
                ("being deleted", claims(&[leaving]), &[(Status::Skipped, "demo")]),
                ("none", claims(&[]), &[(Status::Skipped, "demo")]),
            ],
        );
        let pass = &[(Status::Pass, "demo")];
        assert_rows(Account::AutoModeCluster, &CHECK, &[("Auto Mode", json!({}), pass)]);
    }

    #[test]
    fn many_with_one_fault_are_one_finding() {
        let mut all: Vec<_> = (0..3_000).map(|n| launch_failed(&format!("a{n:04}"))).collect();
        all.extend((0..2_000).map(|n| not_registered(&format!("b{n:04}"), "11:30:00")));
        let found = Account::KarpenterCluster.judge(&CHECK, &claims(&all));
        let subjects: Vec<_> = found.iter().map(|outcome| outcome.subject.as_str()).collect();
        assert_eq!(subjects, ["nodeclaim/a0000", "nodeclaim/b0000"]);
        assert!(found[0].seen.contains("a0003 and 2996 more"), "{}", found[0].seen);
        let ids: Vec<_> = found.iter().map(|outcome| outcome.errors[0].id.as_str()).collect();
        assert_eq!(ids, ["launch-template-configs", "node-not-registered"]);
    }
}
