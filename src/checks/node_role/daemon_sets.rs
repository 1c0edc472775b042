//! Whether what every node needs runs on it: a network plug-in and kube-proxy.

use crate::{
    checks::{Area, Check, Context, Judged, Stop, Verdicts, remedies::quote},
    facts::kubernetes::workloads::DaemonSet,
    outcome::{Finding, Remedy},
    target::Product,
};

const LIST: &str = "list daemonsets (Kubernetes)";
const CNI: &str = "aws-node";
const PROXY: &str = "kube-proxy";
/// What names and images of network plug-ins hold.
const PLUGINS: &[&str] = &[
    CNI,
    "amazon-k8s-cni",
    "cilium",
    "calico",
    "canal",
    "antrea",
    "weave",
    "flannel",
    "kube-ovn",
    "kube-router",
    "cni",
];
/// What only adds to the network that another plug-in makes.
const CHAINED: &[&str] =
    &["istio", "linkerd", "kuma", "consul", "multus", "sriov-cni", "ovs-cni", "whereabouts"];
/// Of the plug-ins, the ones that can take kube-proxy's place.
const WITHOUT_PROXY: &[&str] = &["cilium", "calico", "antrea", "kube-router", "kube-ovn"];

pub static CHECK: Check = Check {
    id: "cni-daemonset",
    title: "A network plug-in and kube-proxy run on the nodes",
    area: Area::Join,
    products: &[Product::Karpenter],
    errors: &["cni-not-initialized", "nodes-not-ready", "cni-not-reachable"],
    needs: &[],
    doc: "\
## What
The cluster has a DaemonSet of a network plug-in, such as `aws-node`, and of `kube-proxy` or of a
plug-in that can take its place; and at least one of their pods is ready, if any is wanted.

## Why
A cluster that is made without its default add-ons has neither. Nodes join all the same and stay
NotReady, for without a plug-in a node has no network for pods, and without kube-proxy the plug-in
does not reach the API server's Service. Nodes of EKS Auto Mode bring both along.

## Seen as
`cni plugin not initialized` in the Ready condition of the node.

## Fix
`aws eks create-addon --addon-name vpc-cni`, and the same for `kube-proxy`.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let kubernetes = cx.kubernetes()?;
    let judge = |judge: fn(&Context<'_>, &[DaemonSet]) -> Finding| {
        kubernetes.workloads.daemon_sets.known().map_err(Stop::from).map(|all| judge(cx, all))
    };
    Ok(vec![Judged::new("network plug-in", || judge(plugin)), Judged::new(PROXY, || judge(proxy))])
}

fn holds(set: &DaemonSet, marks: &[&str]) -> bool {
    marks.iter().any(|mark| {
        set.meta.name.contains(mark) || set.images.iter().any(|image| image.contains(mark))
    })
}

fn plugin(cx: &Context<'_>, all: &[DaemonSet]) -> Finding {
    let is_plugin = |set: &&DaemonSet| holds(set, PLUGINS) && !holds(set, CHAINED);
    let plugins: Vec<_> = all.iter().filter(is_plugin).collect();
    let Some(first) = plugins.first() else {
        return Finding::fail(
            "No DaemonSet of a network plug-in is there.",
            "Nodes join and stay NotReady: no pod gets a network on them.",
        )
        .errors(&["cni-not-initialized", "nodes-not-ready"])
        .evidence(LIST, "items", "no network plug-in")
        .mend(install(
            cx,
            "vpc-cni",
            "Install the VPC CNI, or the plug-in of your choice.",
        ));
    };
    match plugins.iter().find(|set| !is_down(set)) {
        Some(up) => Finding::pass(format!("{} runs.", up.meta.name)),
        None => down(first, "Nodes stay NotReady until it is.", "cni-not-initialized"),
    }
}

fn proxy(cx: &Context<'_>, all: &[DaemonSet]) -> Finding {
    let proxies = all.iter().find(|set| set.meta.name.starts_with(PROXY));
    if let Some(proxy) = proxies {
        return match is_down(proxy) {
            true => down(proxy, "Services are not reached from the nodes.", "cni-not-reachable"),
            false => Finding::pass("kube-proxy runs."),
        };
    }
    if let Some(other) = all.iter().find(|set| holds(set, WITHOUT_PROXY)) {
        return Finding::pass(format!("{} can take its place.", other.meta.name));
    }
    Finding::fail(
        "No DaemonSet kube-proxy is there, and no plug-in that takes its place.",
        "Services are not reached from the nodes, the API server's among them: the network plug-in \
         does not start, and nodes stay NotReady.",
    )
    .errors(&["nodes-not-ready", "cni-not-reachable"])
    .evidence(LIST, "items", "no kube-proxy")
    .mend(install(cx, PROXY, "Install kube-proxy."))
}

fn is_down(set: &DaemonSet) -> bool {
    set.desired > 0 && set.ready == 0
}

fn down(set: &DaemonSet, effect: &str, error: &'static str) -> Finding {
    let (name, namespace) = (&set.meta.name, &set.meta.namespace);
    Finding::warn(format!("None of the {} pods of {name} is ready.", set.desired), effect)
        .errors(&[error])
        .evidence(LIST, "status.numberReady", "0")
        .mend(Remedy::new("See why; its log and events say more.").run(format!(
            "kubectl describe daemonset {} --namespace {}",
            quote(name),
            quote(namespace)
        )))
}

fn install(cx: &Context<'_>, addon: &str, words: &str) -> Remedy {
    Remedy::new(words).run(format!(
        "aws eks create-addon --region {} --cluster-name {} --addon-name {addon}",
        quote(cx.region()),
        quote(&cx.target.cluster)
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

    fn sets(sets: &[(&str, u32, u32)]) -> Value {
        let set = |(name, desired, ready): &(&str, u32, u32)| {
            json!({"meta": {"name": name, "namespace": "kube-system"}, "desired": desired,
                   "ready": ready})
        };
        let all: Vec<_> = sets.iter().map(set).collect();
        json!({"facts": {"kubernetes": {"workloads": {"daemon_sets": {"known": all}}}}})
    }

    #[test]
    fn rows() {
        use Status::{Fail, Pass, Skipped, Unknown, Warn};
        let both = |cni, proxy| [(cni, "network plug-in"), (proxy, PROXY)];
        let denied = json!({"facts": {"kubernetes": {"workloads": {"daemon_sets":
            {"denied": {"action": "list daemonsets", "message": "no"}}}}}});
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[
                ("the defaults", json!({}), &both(Pass, Pass)),
                ("none", sets(&[]), &both(Fail, Fail)),
                ("no proxy", sets(&[(CNI, 3, 3)]), &both(Pass, Fail)),
                ("Cilium for both", sets(&[("cilium", 3, 3)]), &both(Pass, Pass)),
                ("no node yet", sets(&[(CNI, 0, 0), (PROXY, 0, 0)]), &both(Pass, Pass)),
                ("both are down", sets(&[(CNI, 3, 0), (PROXY, 3, 0)]), &both(Warn, Warn)),
                (
                    "a mesh only adds to it",
                    sets(&[(CNI, 3, 0), ("istio-cni-node", 3, 3), (PROXY, 3, 3)]),
                    &both(Warn, Pass),
                ),
                (
                    "Multus alone",
                    sets(&[("kube-multus-cni", 3, 3), (PROXY, 3, 3)]),
                    &both(Fail, Pass),
                ),
                ("one of three", sets(&[(CNI, 3, 1), (PROXY, 3, 1)]), &both(Pass, Pass)),
                ("not readable", denied, &both(Unknown, Unknown)),
                ("left alone", json!({"scope": {"no_kube": true}}), &[(Skipped, "demo")]),
            ],
        );
    }

    #[test]
    fn what_runs_is_named() {
        let patch = sets(&[(CNI, 3, 0), ("cilium", 3, 3), (PROXY, 3, 3)]);
        let found = Account::KarpenterCluster.judge(&CHECK, &patch).remove(0);
        assert_eq!((found.status, found.seen.as_str()), (Status::Pass, "cilium runs."));
    }
}
