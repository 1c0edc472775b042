//! Nodes, NodeClaims and node classes that are being deleted and do not go.

#[cfg(test)]
mod tests;

use super::{Age, Context, list, node_classes};
use crate::{
    checks::{
        Area, Check, Judged, Stop, Verdicts,
        remedies::{listed, quote},
    },
    facts::kubernetes::{
        Kubernetes, Meta, node::Node, node_class::NodeClass, node_pool::NodeClaim,
    },
    outcome::{Finding, Remedy},
    target::Product,
};

/// How long a deletion may take before it is told, in seconds. Draining a node takes minutes;
/// pods may have long grace periods.
const LONG: i64 = 30 * 60;

/// Karpenter's on nodes and NodeClaims.
const FINALIZER: &str = "karpenter.sh/termination";

/// The taint of a node that is being drained; before 1.0 the second one.
const TAINTS: [&str; 2] = ["karpenter.sh/disrupted", "karpenter.sh/disruption"];

pub static CHECK: Check = Check {
    id: "node-termination",
    title: "What is being deleted goes",
    area: Area::Disruption,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["node-deletion-blocked", "nodeclass-terminating"],
    needs: &[],
    doc: "\
## What
No node, NodeClaim or node class is being deleted for more than 30 minutes. For those that are,
the finding says which step they wait for, as far as it can be seen.

## Why
Karpenter's finalizer keeps an object until its part is done. For a node: it is tainted, its pods
are evicted within their disruption budgets, their volumes are detached, the instance is
terminated, and only then the finalizer goes. A node class waits until its NodeClaims are gone and
its instance profiles are deleted. Without Karpenter nobody takes the finalizers off.

## Seen as
`kubectl delete` does not return; `Failed to drain node` in the events; the object has a
`deletionTimestamp`.

## Fix
Mend the step it waits for. Only where Karpenter is gone for good, terminate the instance and take
the finalizer off by hand.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let facts = cx.kubernetes()?;
    let mut judged = Vec::new();
    let mut add = |whole: Result<Vec<Judged>, Stop>, kind: &str| match whole {
        Ok(found) => judged.extend(found),
        Err(stop) => judged.push(Judged::new(kind, || Err(stop))),
    };
    add(claims_and_nodes(cx, facts), "nodes and NodeClaims");
    for product in cx.target.products.iter().map(|product| product.value) {
        add(classes(cx, facts, product), "node classes");
    }
    if judged.is_empty() {
        let seen = "nothing is being deleted for more than 30 minutes";
        judged.push(Judged::new(&cx.target.cluster, || Ok(Finding::pass(seen))));
    }
    Ok(judged)
}

/// Whether an object is being deleted for long.
fn stuck(cx: &Context<'_>, meta: &Meta) -> bool {
    Age::of(cx, meta.deleting).is_some_and(|age| age.seconds() >= LONG)
}

/// The step that a node's deletion waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// Nobody takes the finalizer off.
    NoKarpenter,
    /// The node has no taint yet: the controller has not begun.
    NotBegun,
    /// Pods are being evicted.
    Drain,
    Volumes,
    Instance,
    /// Another one's finalizer is left.
    Foreign,
    NotKnown,
}

impl Step {
    /// What is waited for, and what to do.
    fn told(self) -> (&'static str, &'static str) {
        match self {
            Self::NoKarpenter => (
                "and there is no Karpenter that would take its finalizer off",
                "If Karpenter is gone for good: terminate the instances, then take the finalizers off. \
                 Otherwise install it again and let it finish.",
            ),
            Self::NotBegun => (
                "and Karpenter has not begun: the node lacks its taint",
                "See that the controller runs, and what its log says of the node.",
            ),
            Self::Drain => (
                "and its pods are still being evicted",
                "Look which pods may not be evicted: a disruption budget that allows none, or \
                 `karpenter.sh/do-not-disrupt`. Loosen it, or set `terminationGracePeriod` in the \
                 NodePool as an upper bound.",
            ),
            Self::Volumes => (
                "and volumes are still attached",
                "See that the EBS CSI driver's controller runs, and what its log says of the volumes.",
            ),
            Self::Instance => (
                "and its instance is not yet terminated",
                "Look in the controller's log for a denied `ec2:TerminateInstances`.",
            ),
            Self::Foreign => (
                "and a finalizer that is not Karpenter's keeps it",
                "Whoever set the finalizer has to take it off: see that this controller runs.",
            ),
            Self::NotKnown => (
                "and what it waits for is not to be seen here",
                "Look at its events and at the controller's log.",
            ),
        }
    }
}

/// A node or a NodeClaim that is stuck, by the name of the one that people see.
struct Leaving<'a> {
    kind: &'static str,
    meta: &'a Meta,
    step: Step,
}

fn claims_and_nodes(cx: &Context<'_>, facts: &Kubernetes) -> Result<Vec<Judged>, Stop> {
    let (nodes, claims) = (list(&facts.nodes)?, list(&facts.node_claims)?);
    let mut leaving = Vec::new();
    for claim in claims.iter().filter(|claim| stuck(cx, &claim.meta)) {
        let node = nodes.iter().find(|node| claim.node.as_deref() == Some(&node.meta.name));
        let step = step(cx, facts, &claim.meta, Some(claim), node);
        leaving.push(Leaving { kind: "nodeclaim", meta: &claim.meta, step });
    }
    // The NodeClaim stands for its node.
    let told = |node: &Node| {
        claims
            .iter()
            .any(|claim| claim.node.as_deref() == Some(&node.meta.name) && stuck(cx, &claim.meta))
    };
    for node in nodes.iter().filter(|node| stuck(cx, &node.meta) && !told(node)) {
        let claim = claims.iter().find(|claim| claim.node.as_deref() == Some(&node.meta.name));
        let step = step(cx, facts, &node.meta, claim, Some(node));
        leaving.push(Leaving { kind: "node", meta: &node.meta, step });
    }
    leaving.sort_by_key(|leaving| (leaving.step, leaving.kind));
    let alike = leaving.chunk_by(|a, b| (a.step, a.kind) == (b.step, b.kind));
    Ok(alike
        .map(|group| {
            let subject = format!("{}/{}", group[0].kind, group[0].meta.name);
            Judged::new(subject, || Ok(left_behind(cx, group)))
        })
        .collect())
}

fn step(
    cx: &Context<'_>,
    facts: &Kubernetes,
    meta: &Meta,
    claim: Option<&NodeClaim>,
    node: Option<&Node>,
) -> Step {
    if !meta.finalizers.iter().any(|finalizer| finalizer == FINALIZER) {
        return Step::Foreign;
    }
    let nobody = facts.controllers.value().is_some_and(Vec::is_empty);
    if nobody && !cx.target.runs(Product::AutoMode) {
        return Step::NoKarpenter;
    }
    // Conditions that a NodeClaim gets while it is taken away (core `pkg/apis/v1`).
    let state = |kind: &str| {
        let mut conditions = claim.into_iter().flat_map(|claim| &claim.conditions);
        conditions.find(|condition| condition.kind == kind).map(|c| c.status.as_str())
    };
    let tainted = node
        .is_some_and(|node| node.taints.iter().any(|taint| TAINTS.contains(&taint.key.as_str())));
    match (state("Drained"), state("VolumesDetached"), state("InstanceTerminating")) {
        (_, _, Some("True")) => Step::Instance,
        // False: its time is over, and the volumes are no longer waited for.
        (Some("True"), Some("Unknown"), _) => Step::Volumes,
        (Some("True"), _, _) => Step::Instance,
        (Some(_), _, _) => Step::Drain,
        (None, _, _) if node.is_none() => Step::Instance,
        (None, _, _) if tainted => Step::Drain,
        (None, _, _) if node.is_some_and(|node| node.meta.deleting.is_some()) => Step::NotBegun,
        _ => Step::NotKnown,
    }
}

fn left_behind(cx: &Context<'_>, group: &[Leaving<'_>]) -> Finding {
    let kind = group[0].kind;
    let names: Vec<_> = group.iter().map(|leaving| leaving.meta.name.as_str()).collect();
    let age = Age::of(cx, group.iter().filter_map(|leaving| leaving.meta.deleting).min());
    let age = age.map_or(String::new(), |age| format!(" for up to {age}"));
    let (waits, words) = group[0].step.told();
    let finalizers = group[0].meta.finalizers.join(", ");
    let seen = format!("The deletion of {kind} {} lasts{age}, {waits}.", listed(&names));
    let effect = "The instance is paid for as long as it runs, and no other node takes its place in \
                  the NodePool's limits.";
    let certain = group[0].step == Step::NoKarpenter;
    let describe = format!("kubectl describe {kind} {}", quote(names[0]));
    let mut remedy = Remedy::new(words).run(describe);
    if certain {
        remedy = remedy.run(format!(
            "kubectl patch {kind} {} --type=json --patch '[{{\"op\":\"remove\",\"path\":\"/metadata/finalizers\"}}]'",
            quote(names[0])
        ));
    }
    let finding = match certain {
        true => Finding::fail(seen, effect),
        false => Finding::warn(seen, effect),
    };
    finding
        .errors(&["node-deletion-blocked"])
        .evidence(format!("get {kind}"), format!("{} metadata.finalizers", names[0]), finalizers)
        .mend(remedy)
}

fn classes(cx: &Context<'_>, facts: &Kubernetes, product: Product) -> Result<Vec<Judged>, Stop> {
    let (kind, classes) = node_classes(cx, product)?;
    let stuck = classes.iter().filter(|class| stuck(cx, &class.meta));
    Ok(stuck
        .map(|class| {
            let subject = format!("{kind}/{}", class.meta.name);
            Judged::new(subject, || class_left(cx, facts, kind, class))
        })
        .collect())
}

fn class_left(
    cx: &Context<'_>,
    facts: &Kubernetes,
    kind: &str,
    class: &NodeClass,
) -> Result<Finding, Stop> {
    let name = &class.meta.name;
    let is_of_it = |claim: &&NodeClaim| {
        claim.node_class.name == *name && claim.node_class.kind.eq_ignore_ascii_case(kind)
    };
    let claims = list(&facts.node_claims)?;
    let claims: Vec<_> =
        claims.iter().filter(is_of_it).map(|claim| claim.meta.name.as_str()).collect();
    let age = Age::of(cx, class.meta.deleting);
    let age = age.map_or(String::new(), |age| format!(" for {age}"));
    let (waits, words) = if claims.is_empty() {
        (
            "no NodeClaim of it is left, so that its instance profiles or launch templates cannot \
             be deleted"
                .to_owned(),
            "Look in the controller's log for `iam:ListInstanceProfiles`, \
             `iam:GetInstanceProfile` or `ec2:DeleteLaunchTemplate`, and allow what is denied.",
        )
    } else {
        (
            format!("it waits for the NodeClaims {}", listed(&claims)),
            "Point the NodePools at another NodeClass and let the nodes drain; or create it again \
             once it is gone.",
        )
    };
    let seen = format!("The deletion of the NodeClass {name} lasts{age}: {waits}.");
    let effect = "NodePools that name it count as without a NodeClass and launch nothing.";
    Ok(Finding::warn(seen, effect)
        .errors(&["nodeclass-terminating"])
        .evidence(format!("get {kind}"), "metadata.finalizers", class.meta.finalizers.join(", "))
        .mend(Remedy::new(words).run(format!("kubectl describe {kind} {}", quote(name)))))
}
