//! What the NodeClaims say: those that do not launch, and those that do not register.

mod fault;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use super::{Context, list, text};
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
use fault::Fault;

/// How many faults are told one by one.
const FAULTS: usize = 6;

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

fn run(cx: &Context<'_>) -> Verdicts {
    let claims = list(&cx.kubernetes()?.node_claims)?;
    let living: Vec<_> = claims.iter().filter(|claim| claim.meta.deleting.is_none()).collect();
    if living.is_empty() {
        return Err(Stop::skipped("there is no NodeClaim"));
    }
    let mut faults: BTreeMap<_, (Fault<'_>, Vec<&NodeClaim>)> = BTreeMap::new();
    for claim in &living {
        if let Some(fault) = Fault::of(cx, claim) {
            let group = faults.entry(fault.key(claim)).or_insert_with(|| (fault, Vec::new()));
            group.1.push(claim);
        }
    }
    if faults.is_empty() {
        let seen = match living.len() {
            1 => format!("{} is launched and registered, or on its way", living[0].meta.name),
            many => format!("all {many} NodeClaims are launched and registered, or on their way"),
        };
        return Ok(vec![Judged::new(&cx.target.cluster, || Ok(Finding::pass(seen)))]);
    }
    let mut faults: Vec<_> = faults.into_values().collect();
    // Stable: of those that are as many, the certain ones stay first.
    faults.sort_by_key(|(_, claims)| std::cmp::Reverse(claims.len()));
    let others = faults.split_off(faults.len().min(FAULTS));
    let others: usize = others.iter().map(|(_, claims)| claims.len()).sum();
    let judge = |(i, (fault, claims)): (usize, &(Fault<'_>, Vec<&NodeClaim>))| {
        let subject = format!("nodeclaim/{}", claims[0].meta.name);
        let others = if i == 0 { others } else { 0 };
        Judged::new(subject, || Ok(finding(cx, *fault, claims, others)))
    };
    Ok(faults.iter().enumerate().map(judge).collect())
}

fn finding(cx: &Context<'_>, fault: Fault<'_>, claims: &[&NodeClaim], others: usize) -> Finding {
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
    let others = match others {
        0 => String::new(),
        more => format!(" {more} more NodeClaims have other faults."),
    };
    let because = because.trim_end_matches('.');
    let seen =
        format!("The {subjects} {}{of_pools} {are} {what}{because}.{others}", listed(&names));
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
    let telling: Vec<_> =
        shown.iter().copied().filter(|c| c.kind == fault.kind.condition()).collect();
    let otherwise = "awaiting-reconciliation";
    Diagnosis::of(&text(&telling)).name_in(cx, finding, otherwise, &[describe])
}
