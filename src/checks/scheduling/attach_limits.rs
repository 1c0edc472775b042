//! Whether nodes have room for more volumes.

use super::volumes::{self, NodeVolumes};
use crate::{
    checks::{
        Area, Check, Context, Judged, Verdicts,
        remedies::{listed, quote},
    },
    outcome::{Finding, Remedy},
    target::Product,
};

pub static CHECK: Check = Check {
    id: "node-volume-limits",
    title: "Nodes have room for more volumes",
    area: Area::Scheduling,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["volume-attach-failed", "volume-mount-failed", "volume-limit-reached"],
    needs: &[],
    doc: "\
## What
No node has as many EBS volumes attached as nine tenths of what its CSINode says that it can take.

## Why
An instance takes a limited number of EBS volumes; most Nitro types share 28 attachments between
volumes, network interfaces and local disks. Pods with claims that the scheduler still puts on a
full node wait for a volume that cannot be attached. That happens when many of them arrive at
once, before the storage driver of a new node has said how many it takes.

## Seen as
`AttachVolume.Attach failed for volume`, `Unable to attach or mount volumes`, or
`node(s) exceed max volume count`.

## Fix
Keep pods with claims apart by `topologySpreadConstraints` or `podAntiAffinity`, and give the
NodePool the start-up taint `ebs.csi.aws.com/agent-not-ready`.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let nodes = volumes::of_nodes(cx)?;
    Ok(vec![Judged::new(&cx.target.cluster, || {
        let near: Vec<_> = nodes.iter().filter(|node| node.is_near()).collect();
        if near.is_empty() {
            let most = nodes.iter().max_by_key(|node| node.attached * 1000 / node.limit.max(1));
            return Ok(Finding::pass(most.map_or_else(
                || "No node says how many EBS volumes it takes.".to_owned(),
                |most| format!("At most {} of {} are attached.", most.attached, most.limit),
            )));
        }
        Ok(finding(&near))
    })])
}

fn finding(near: &[&NodeVolumes<'_>]) -> Finding {
    let words: Vec<_> = near
        .iter()
        .map(|node| format!("{} ({} of {})", node.name, node.attached, node.limit))
        .collect();
    let full = near.iter().filter(|node| node.attached >= node.limit).count();
    let seen = format!(
        "{} of the nodes have attached nine tenths or more of the EBS volumes that they can take, \
         {full} of them all: {}.",
        near.len(),
        listed(&words)
    );
    let remedy = Remedy::new(
        "Keep pods with claims apart: topologySpreadConstraints over kubernetes.io/hostname, or a \
         podAntiAffinity. Against the race on new nodes, give the NodePool the start-up taint \
         ebs.csi.aws.com/agent-not-ready:NoExecute. See which pods have the claims:",
    );
    let remedy = near.iter().take(1).fold(remedy, |remedy, node| {
        remedy.run(format!(
            "kubectl get pods --all-namespaces --output wide --field-selector {}",
            quote(&format!("spec.nodeName={}", node.name))
        ))
    });
    Finding::warn(
        seen,
        "The next pods with claims that land there wait in ContainerCreating for a volume that \
         cannot be attached.",
    )
    .errors(&["volume-attach-failed", "volume-mount-failed"])
    .evidence("list csinodes (Kubernetes)", "spec.drivers[].allocatable.count", words.join(", "))
    .mend(remedy)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status,
    };

    fn nodes(volumes: &[u32]) -> Value {
        let name = |i: usize| format!("ip-10-0-9-{i}.us-west-2.compute.internal");
        let node = |(i, attached): (usize, &u32)| json!({"meta": {"name": name(i)}, "attached_volumes": attached});
        let limits: serde_json::Map<_, _> =
            (0..volumes.len()).map(|i| (name(i), json!(25))).collect();
        json!({"facts": {"kubernetes": {
            "nodes": {"known": volumes.iter().enumerate().map(node).collect::<Vec<_>>()},
            "workloads": {"attach_limits": {"known": limits}}}}})
    }

    #[test]
    fn rows() {
        let denied = json!({"denied": {"action": "list csinodes", "message": "forbidden"}});
        let no_limits = json!({"facts": {"kubernetes": {"workloads": {"attach_limits": denied}}}});
        let denied = json!({"denied": {"action": "list nodes", "message": "forbidden"}});
        let no_nodes = json!({"facts": {"kubernetes": {"nodes": denied}}});
        let demo = |status| [(status, "demo")];
        for account in [Account::KarpenterCluster, Account::AutoModeCluster] {
            assert_rows(
                account,
                &CHECK,
                &[
                    ("healthy", json!({}), &demo(Status::Pass)),
                    ("room for three", nodes(&[22]), &demo(Status::Pass)),
                    ("near", nodes(&[2, 23]), &demo(Status::Warn)),
                    ("full", nodes(&[25, 25, 25, 25, 25, 25]), &demo(Status::Warn)),
                    ("limits not readable", no_limits.clone(), &demo(Status::Unknown)),
                    ("nodes not readable", no_nodes.clone(), &demo(Status::Unknown)),
                    ("left alone", json!({"scope": {"no_kube": true}}), &demo(Status::Skipped)),
                ],
            );
        }
    }
}
