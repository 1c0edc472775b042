//! Whether each NodePool's start-up taints are the ones that somebody takes off, and whether the
//! EBS CSI driver's is among them where it is needed.

use serde_json::json;

use super::volumes::{self, heaped};
use crate::{
    checks::{
        Area, Check, Context, Judged, Stop, Verdicts, initialization::missing::provider,
        remedies::quote, workloads::workloads,
    },
    facts::kubernetes::{Taint, node_pool::NodePool},
    outcome::{Finding, Remedy},
    target::Product,
};

/// The EBS CSI driver takes this taint off a node when it is ready there.
/// <https://github.com/kubernetes-sigs/aws-ebs-csi-driver/blob/master/docs/install.md>
const EBS: &str = "ebs.csi.aws.com/agent-not-ready";
/// Cilium puts this one on new nodes by itself, and takes it off when its agent is ready there.
/// <https://docs.cilium.io/en/stable/installation/taints/>
const CILIUM: &str = "node.cilium.io/agent-not-ready";

pub static CHECK: Check = Check {
    id: "nodepool-startup-taints",
    title: "Start-up taints fit what runs on the nodes",
    area: Area::Scheduling,
    products: &[Product::Karpenter],
    errors: &["node-not-initialized", "taint-not-tolerated", "volume-attach-failed"],
    needs: &[],
    doc: "\
## What
Each NodePool's start-up taints have somebody who takes them off, a taint that a driver takes off
is not among the lasting `taints`; where Cilium runs, its start-up taint is there, and where nodes
carry many EBS volumes, that of the EBS CSI driver.

## Why
A start-up taint that is never taken off keeps every pod off the node, and Karpenter waits for it
for ever. Under `taints`, Karpenter believes that pods must tolerate it, and makes no node for
them. Without the EBS CSI driver's, pods with volumes are put on a new node before the driver has
said how many volumes it takes, so that more land there than can be attached. Cilium taints new
nodes itself: a NodePool that does not say so counts such a node as of no use to the pods that it
was made for, and another one is made for them.

## Seen as
`StartupTaint … still exists` on the NodeClaim, `did not tolerate taint` in Karpenter's events, or
`AttachVolume.Attach failed for volume`.

## Fix
`startupTaints` of the NodePool: `ebs.csi.aws.com/agent-not-ready` with effect `NoExecute` where
the EBS CSI driver runs; take the others off or install what they wait for.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let pools = cx.kubernetes()?.node_pools.found()?.map_or(&[][..], Vec::as_slice);
    let own: Vec<_> =
        pools.iter().filter(|pool| pool.node_class.group == "karpenter.k8s.aws").collect();
    if own.is_empty() {
        return Err(Stop::skipped("there is no NodePool of Karpenter's yet"));
    }
    let judge =
        |pool: &&NodePool| Judged::new(format!("nodepool/{}", pool.meta.name), || judge(cx, pool));
    Ok(own.iter().map(judge).collect())
}

fn judge(cx: &Context<'_>, pool: &NodePool) -> Result<Finding, Stop> {
    if let Some(taint) = pool.taints.iter().find(|taint| taint.key.ends_with("/agent-not-ready")) {
        return Ok(lasting(pool, taint));
    }
    for taint in &pool.startup_taints {
        if let Some((name, from, None)) = provider(cx, &taint.key).transpose()? {
            return Ok(nobody(pool, taint, name, from));
        }
    }
    if !pool.startup_taints.iter().any(|taint| taint.key == CILIUM)
        && let Some((_, _, Some(_))) = provider(cx, CILIUM).transpose()?
    {
        return Ok(cilium_missing(pool));
    }
    if pool.startup_taints.iter().any(|taint| taint.key == EBS) {
        return Ok(Finding::pass("The EBS CSI driver's is among them."));
    }
    ebs_missing(cx, pool)
}

fn lasting(pool: &NodePool, taint: &Taint) -> Finding {
    let name = &pool.meta.name;
    let startup: Vec<_> = pool.startup_taints.iter().chain([taint]).collect();
    let taints: Vec<_> = pool.taints.iter().filter(|other| *other != taint).collect();
    let patch = json!({"spec": {"template": {"spec":
        {"taints": taints, "startupTaints": startup}}}});
    Finding::fail(
        format!(
            "NodePool {name} has {} under taints; a driver takes it off when it is ready.",
            taint.key
        ),
        "Karpenter believes that it stays: it makes a node only for pods that tolerate it.",
    )
    .errors(&["taint-not-tolerated"])
    .evidence("list nodepools (Kubernetes)", "spec.template.spec.taints", &taint.key)
    .mend(
        Remedy::new("Move it to startupTaints.").document("nodepool-patch.json", &patch).run(
            format!(
                "kubectl patch nodepool {} --type merge --patch-file nodepool-patch.json",
                quote(name)
            ),
        ),
    )
}

fn nobody(pool: &NodePool, taint: &Taint, name: &str, from: &str) -> Finding {
    Finding::fail(
        format!(
            "NodePool {} has the start-up taint {}, which {name} takes off, and no DaemonSet here looks \
             like it.",
            pool.meta.name, taint.key
        ),
        "Its nodes are never initialized: no pod without a toleration starts on them, and \
         Karpenter keeps them.",
    )
    .errors(&["node-not-initialized"])
    .evidence("list nodepools (Kubernetes)", "spec.template.spec.startupTaints", &taint.key)
    .mend(
        Remedy::new(format!("Install {name} ({from}), or take the taint off the NodePool."))
            .run(format!("kubectl edit nodepool {}", quote(&pool.meta.name))),
    )
}

/// The taint matters where volumes are many: a node with two never meets its limit.
fn ebs_missing(cx: &Context<'_>, pool: &NodePool) -> Result<Finding, Stop> {
    let Some((_, _, Some(_))) = provider(cx, EBS).transpose()? else {
        return Ok(Finding::pass("The EBS CSI driver runs on no node."));
    };
    let near = volumes::of_nodes(cx)?.iter().any(volumes::NodeVolumes::is_near);
    let heaped = heaped(workloads(cx)?.pods.known()?);
    if !near && heaped.is_empty() {
        return Ok(Finding::pass("Nodes carry few volumes, so none is needed."));
    }
    let name = &pool.meta.name;
    Ok(Finding::warn(
        format!(
            "NodePool {name} has no start-up taint {EBS}, the EBS CSI driver runs here, and nodes carry \
             many volumes."
        ),
        "Pods with volumes are put on a new node before the driver has said how many it takes; \
         those beyond the limit do not start.",
    )
    .errors(&["volume-attach-failed"])
    .evidence("list nodepools (Kubernetes)", "spec.template.spec.startupTaints", "[]")
    .mend(add(pool, EBS)))
}

fn cilium_missing(pool: &NodePool) -> Finding {
    let name = &pool.meta.name;
    Finding::warn(
        format!("Cilium runs here, and NodePool {name} has no start-up taint {CILIUM}."),
        "Cilium puts that taint on each new node. Karpenter takes it for one that stays: it makes \
         a further node for the same pods.",
    )
    .errors(&["taint-not-tolerated"])
    .evidence("list nodepools (Kubernetes)", "spec.template.spec.startupTaints", "without it")
    .mend(add(pool, CILIUM))
}

/// The steps that add a start-up taint which somebody takes off.
fn add(pool: &NodePool, key: &str) -> Remedy {
    let taint = Taint { key: key.to_owned(), value: String::new(), effect: "NoExecute".to_owned() };
    let startup: Vec<_> = pool.startup_taints.iter().chain([&taint]).collect();
    let patch = json!({"spec": {"template": {"spec": {"startupTaints": startup}}}});
    Remedy::new(
        "Add it: it is taken off each node when the driver is ready there. Karpenter replaces the \
         NodePool's nodes then, as after every change of its template.",
    )
    .document("nodepool-patch.json", &patch)
    .run(format!(
        "kubectl patch nodepool {} --type merge --patch-file nodepool-patch.json",
        quote(&pool.meta.name)
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status,
    };

    fn pool(part: &Value) -> Value {
        let mut pool = json!({"meta": {"name": "default"},
            "node_class": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}});
        json_patch::merge(&mut pool, part);
        json!({"facts": {"kubernetes": {"node_pools": {"known": [pool]}}}})
    }

    fn with(mut patch: Value, more: &Value) -> Value {
        json_patch::merge(&mut patch, more);
        patch
    }

    #[test]
    fn rows() {
        let taint = |key: &str| json!([{"key": key, "effect": "NoExecute"}]);
        let heaped = json!({"facts": {"kubernetes": {"workloads": {"pods": {"known": {"workloads": [
            {"owner": {"namespace": "shop", "kind": "StatefulSet", "name": "db"},
             "claims_on_one_node": 14}]}}}}}});
        let no_driver =
            json!({"facts": {"kubernetes": {"workloads": {"daemon_sets": {"known": []}}}}});
        let denied = json!({"denied": {"action": "list daemonsets", "message": "forbidden"}});
        let no_sets = json!({"facts": {"kubernetes": {"workloads": {"daemon_sets": denied}}}});
        let plain = || pool(&json!({}));
        let cilium = json!({"facts": {"kubernetes": {"workloads": {"daemon_sets": {"known": [
            {"meta": {"name": "cilium", "namespace": "kube-system"}, "images": []}]}}}}});
        let ebs = || pool(&json!({"startup_taints": taint(EBS)}));
        let default = |status| [(status, "nodepool/default")];
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[
                ("healthy: few volumes", json!({}), &default(Status::Pass)),
                ("many volumes", with(plain(), &heaped), &default(Status::Warn)),
                ("many volumes and the taint", with(ebs(), &heaped), &default(Status::Pass)),
                ("nobody takes it off", with(ebs(), &no_driver), &default(Status::Fail)),
                ("Cilium's is missing", with(plain(), &cilium), &default(Status::Warn)),
                (
                    "Cilium's is there",
                    with(pool(&json!({"startup_taints": taint(CILIUM)})), &cilium),
                    &default(Status::Pass),
                ),
                ("under taints", pool(&json!({"taints": taint(EBS)})), &default(Status::Fail)),
                (
                    "one that nobody knows",
                    pool(&json!({"startup_taints": taint("example.com/agent")})),
                    &default(Status::Pass),
                ),
                ("DaemonSets not readable", with(ebs(), &no_sets), &default(Status::Unknown)),
                (
                    "no NodePool",
                    json!({"facts": {"kubernetes": {"node_pools": {"known": []}}}}),
                    &[(Status::Skipped, "demo")],
                ),
                ("left alone", json!({"scope": {"no_kube": true}}), &[(Status::Skipped, "demo")]),
            ],
        );
    }
}
