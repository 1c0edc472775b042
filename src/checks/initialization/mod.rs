//! Whether the nodes that joined became usable.

pub mod missing;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use jiff::SignedDuration;

use crate::{
    checks::{
        Area, Check, Context, Judged, Stop, Verdicts,
        workloads::{counted, first_few},
    },
    facts::kubernetes::{Condition, node_pool::NodeClaim, workloads::Named},
    outcome::Finding,
    target::Product,
};
use missing::Missing;

/// How long a node may take from joining to being initialized: device plug-ins and CNIs come up
/// within a minute or two of it, and images of GPU drivers take a few to pull.
const GRACE: SignedDuration = SignedDuration::from_mins(10);

pub static CHECK: Check = Check {
    id: "nodeclaims-initialized",
    title: "The nodes that joined are initialized",
    area: Area::Join,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["node-not-initialized", "nodes-not-ready", "pod-eni-unsupported"],
    needs: &[],
    doc: "\
## What
Every NodeClaim whose node joined more than ten minutes ago has the condition `Initialized`.

## Why
Karpenter counts a node as initialized when it is Ready, has no start-up taint of its NodePool
and no taint of Kubernetes's own start any more, and offers every resource that its pods asked
for: `nvidia.com/gpu` comes from NVIDIA's device plug-in, `vpc.amazonaws.com/pod-eni` from the
VPC CNI with `ENABLE_POD_ENI=true`. Until then the pods that it was made for cannot run there,
and Karpenter neither consolidates nor replaces it.

## Seen as
`Resource \"nvidia.com/gpu\" was requested but not registered` or `StartupTaint … still exists` on
the NodeClaim; nodes in a NotReady state.

## Fix
Run the DaemonSet that offers the resource or takes the taint off, or take the taint out of
`startupTaints`. For a node that is not Ready, look at its conditions and at the kubelet's log.
",
    run,
};

/// NodeClaims of one NodePool that wait for the same thing.
struct Stuck<'a> {
    missing: Missing,
    node_pool: &'a str,
    claims: Named,
    /// One of the nodes, for the commands.
    node: &'a str,
}

fn run(cx: &Context<'_>) -> Verdicts {
    let kubernetes = cx.kubernetes()?;
    let claims = kubernetes.node_claims.found()?.map_or(&[][..], Vec::as_slice);
    let registered: Vec<_> = claims.iter().filter(|claim| is_true(claim, "Registered")).collect();
    if registered.is_empty() {
        return Err(Stop::skipped("no node of Karpenter's has joined"));
    }
    let stuck = registered.iter().copied().filter(|claim| is_stuck(cx, claim));
    let mut groups: BTreeMap<(String, &str), Stuck<'_>> = BTreeMap::new();
    for claim in stuck {
        let missing = Missing::of(cx, claim);
        let node_pool = claim.node_pool.as_deref().unwrap_or_default();
        let group = groups.entry((missing.key(), node_pool)).or_insert_with(|| Stuck {
            missing,
            node_pool,
            claims: Named::default(),
            node: claim.node.as_deref().unwrap_or_default(),
        });
        group.claims.add(|| claim.meta.name.clone());
    }
    if groups.is_empty() {
        return Ok(vec![Judged::new(&cx.target.cluster, || {
            let all = u32::try_from(registered.len()).unwrap_or(u32::MAX);
            Ok(Finding::pass(format!("{} joined and initialized.", counted(all, "node"))))
        })]);
    }
    let judge = |stuck: &Stuck<'_>| {
        let subject = match stuck.node_pool {
            "" => cx.target.cluster.clone(),
            name => format!("nodepool/{name}"),
        };
        Judged::new(subject, || judge(cx, stuck))
    };
    Ok(groups.values().map(judge).collect())
}

fn judge(cx: &Context<'_>, stuck: &Stuck<'_>) -> Result<Finding, Stop> {
    let Stuck { missing, claims, .. } = stuck;
    let seen = format!(
        "{} of it joined and did not become usable: {}. {}",
        counted(claims.count, "node"),
        first_few(claims),
        missing.words(cx)?
    );
    Ok(Finding::fail(
        seen,
        "The pods that the nodes were made for do not run, and Karpenter neither consolidates nor \
         replaces such a node: it costs money until somebody deletes it.",
    )
    .errors(&[missing.error(cx)])
    .evidence("list nodeclaims (Kubernetes)", "status.conditions[Initialized]", missing.key())
    .mend(missing.remedy(cx, stuck.node)?))
}

fn condition<'a>(claim: &'a NodeClaim, kind: &str) -> Option<&'a Condition> {
    claim.conditions.iter().find(|condition| condition.kind == kind)
}

fn is_true(claim: &NodeClaim, kind: &str) -> bool {
    condition(claim, kind).is_some_and(|condition| condition.status == "True")
}

fn is_stuck(cx: &Context<'_>, claim: &NodeClaim) -> bool {
    let joined = condition(claim, "Registered").and_then(|condition| condition.since);
    let old = joined.is_none_or(|joined| cx.now.duration_since(joined) >= GRACE);
    old && claim.meta.deleting.is_none() && !is_true(claim, "Initialized")
}
