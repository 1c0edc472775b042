//! The controller can resolve names before Karpenter has made a node.

use super::running::{self, Running};
use crate::{
    checks::{Area, Check, Context, Stop, Verdicts, remedies::quote},
    facts::kubernetes::node::Node,
    outcome::{Finding, Remedy},
    target::Product,
};

pub static CHECK: Check = Check {
    id: "controller-dns-policy",
    title: "The controller can resolve names",
    area: Area::Controller,
    products: &[Product::Karpenter],
    errors: &["controller-dns-not-ready", "network-dns"],
    needs: &[],
    doc: "\
## What
A controller that asks the cluster's DNS (`dnsPolicy: ClusterFirst`) is ready, or there are nodes
that are not Karpenter's for CoreDNS to run on.

## Why
From 0.34 on the chart asks the cluster's DNS. Where nothing but Fargate or Karpenter gives nodes,
CoreDNS may wait for a node that Karpenter cannot make, because it cannot resolve the names of AWS.

## Seen as
`dial tcp: lookup sts.<region>.amazonaws.com: i/o timeout` in the controller's log.

## Fix
Install with `--set dnsPolicy=Default`, or let CoreDNS run on Fargate or on a managed node group.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    running::each(cx, |one| judge(cx, one))
}

fn judge(cx: &Context<'_>, one: &Running<'_>) -> Result<Finding, Stop> {
    let policy = &one.deployment.dns_policy;
    if policy != "ClusterFirst" {
        return Ok(Finding::pass(format!("its dnsPolicy is {policy}")));
    }
    if one.pods.iter().any(|pod| pod.ready) {
        return Ok(Finding::pass("a replica is ready, and so resolves names"));
    }
    let nodes = cx.facts.kubernetes.nodes.known()?;
    let for_dns = |node: &&Node| {
        let is = |label: &str| node.labels.contains_key(label);
        let fargate = node.meta.name.starts_with("fargate-")
            || node.labels.get("eks.amazonaws.com/compute-type").is_some_and(|t| t == "fargate");
        !is("karpenter.sh/nodepool") && !fargate && !node.cordoned
    };
    if let Some(node) = nodes.iter().find(for_dns) {
        return Ok(Finding::pass(format!("CoreDNS can run on {}", node.meta.name)));
    }
    Ok(Finding::warn(
        format!(
            "{} is not ready, asks the cluster's DNS, and there is no node for CoreDNS but \
             Karpenter's own or Fargate's.",
            one.name()
        ),
        "If CoreDNS does not run on Fargate, neither it nor the controller ever starts.",
    )
    .errors(&["controller-dns-not-ready", "network-dns"])
    .evidence("get deployment", format!("{} dnsPolicy", one.name()), policy)
    .mend(
        Remedy::new(
            "See whether CoreDNS runs. If not, install Karpenter with `--set dnsPolicy=Default`, \
             for the moment with kubectl, or let CoreDNS run on Fargate or a managed node group.",
        )
        .run("kubectl get pods --namespace kube-system --selector k8s-app=kube-dns -o wide")
        .run(format!(
            "kubectl patch deployment {} --namespace {} --patch {}",
            quote(&one.deployment.meta.name),
            quote(one.namespace()),
            quote(r#"{"spec":{"template":{"spec":{"dnsPolicy":"Default"}}}}"#)
        )),
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

    #[test]
    fn rows() {
        let (pass, warn) = (
            &[(Status::Pass, "kube-system/karpenter")][..],
            &[(Status::Warn, "kube-system/karpenter")][..],
        );
        let with = |policy: &str, ready: bool, nodes: Value| {
            json!({"facts": {"kubernetes": {
                "controllers": {"known": [{"meta": {"name": "karpenter",
                    "namespace": "kube-system"}, "service_account": "karpenter",
                    "dns_policy": policy}]},
                "controller_pods": {"known": [{"meta": {"name": "p", "namespace": "kube-system"},
                    "service_account": "karpenter", "ready": ready}]},
                "nodes": {"known": nodes}}}})
        };
        let fargate = json!([{"meta": {"name": "fargate-ip-10-0-1-2"}}]);
        let own = json!([{"meta": {"name": "n"}, "labels": {"karpenter.sh/nodepool": "default"}}]);
        let group = json!([{"meta": {"name": "n"}}]);
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[
                ("the guide's", json!({}), pass),
                ("on Fargate, and it works", with("ClusterFirst", true, fargate.clone()), pass),
                ("on Fargate", with("ClusterFirst", false, fargate.clone()), warn),
                ("on Fargate, by the node's DNS", with("Default", false, fargate), pass),
                ("Karpenter's nodes alone", with("ClusterFirst", false, own), warn),
                ("a node group", with("ClusterFirst", false, group), pass),
            ],
        );
    }
}
