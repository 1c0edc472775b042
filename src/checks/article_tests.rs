//! Each error that the Knowledge Center's article on scaling with Karpenter quotes leads to the
//! checks that find its cause.
//! <https://repost.aws/knowledge-center/eks-troubleshoot-karpenter-autoscaling>

use std::collections::BTreeSet;

use crate::errors::explain::explain;

/// What is printed, and the checks that must be named for it.
const ROWS: &[(&str, &[&str])] = &[
    (
        "Warning FailedScheduling 3m default-scheduler 0/1 nodes are available: 1 Insufficient memory",
        &["controller-nodes", "pod-constraints"],
    ),
    (
        "Warning FailedAttachVolume pod/example-pod AttachVolume.Attach failed for volume \" \" : rpc error: code = Internal desc = Could not attach volume \" \" to node \" \": attachment of disk \" \" failed, expected device to be attached but was attaching",
        &["node-volume-limits", "volume-spread", "nodepool-startup-taints"],
    ),
    (
        "Warning FailedMount pod/example-pod Unable to attach or mount volumes: unmounted volumes=[], unattached volumes=[]: timed out waiting for the condition",
        &["node-volume-limits", "volume-spread", "nodepool-startup-taints"],
    ),
    (
        "ERROR controller.node_state PersistentVolume source 'AWSElasticBlockStore' uses an in-tree storage plugin which is unsupported by Karpenter and is deprecated by Kubernetes",
        &["in-tree-volumes"],
    ),
    (
        "Warning OOMKilled pod/your-pod-name Container \"container-name\" was killed due to OOM (Out of Memory). Memory limit: 512Mi, Memory usage: 513Mi",
        &["pod-requests", "pods-oom-killed"],
    ),
    (
        "Failed to pull image \"mcr.microsoft.com/windows/servercore:xxx\": rpc error: code = NotFound desc = failed to pull and unpack image \"mcr.microsoft.com/windows/servercore:xxx\": no match for platform in manifest: not found",
        &["windows-pods"],
    ),
    ("Nodes provisioned by Karpenter are in a NotReady state", &["nodeclaims-initialized"]),
    (
        "Warning FailedScheduling pod/\"pod-name\" 0/3 nodes are available: 1 node(s) didn't match pod affinity rules, 2 node(s) didn't match pod topology spread constraints rules, 3 nodes(s) didn't match inter-pod anti-affinity rules",
        &["pod-constraints"],
    ),
    (
        "Warning FailedScheduling 30s (x13 over 60m) default-scheduler 0/5 nodes are available: 1 Insufficient memory. preemption: 0/5 nodes are available: 5 No preemption victims found for incoming pod",
        &["pod-constraints", "nodepool-limits"],
    ),
    (
        "0/5 nodes are available: 3 node(s) had taint {dedicated: gpu}, that the pod didn't tolerate, 2 node(s) had taint {dedicated: non-gpu}, that the pod didn't tolerate",
        &["pod-constraints"],
    ),
    (
        "Warning FailedScheduling  3m    default-scheduler 0/4 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 3 node(s) didn't satisfy existing pods anti-affinity rules, 4 node(s) didn't match Pod's node affinity rules",
        &["pod-constraints"],
    ),
    (
        "creating machine, creating instance, with fleet error(s), InsufficientFreeAddressesInSubnet: There are not enough free addresses in subnet 'subnet-a to satisfy the requested number of instances",
        &["subnets-free-addresses"],
    ),
    (
        "incompatible requirements, label \\\"eks.amazonaws.com/nodegroup\\\" does not have known values",
        &["pod-constraints"],
    ),
    (
        "incompatible requirements, key topology.kubernetes.io/zone, topology.kubernetes.io/zone In [us-east-1a] not in topology.kubernetes.io/zone In [us-east-1b us-east-1c]",
        &["pod-constraints", "subnets-zones"],
    ),
    (
        "incompatible requirements, key nodes.ktp.io/role, nodes.ktp.io/role In [ktp-atom-apps] not in nodes.ktp.io/role In [kube-apps]",
        &["pod-constraints"],
    ),
    // Of consolidation the article quotes no error; this is what Karpenter prints of it.
    (
        "Unconsolidatable: not all pods would schedule, shop/web-1 => unsatisfiable topology constraint for pod anti-affinity",
        &[
            "consolidation-constraints",
            "do-not-disrupt-pods",
            "nodepool-budgets",
            "pod-disruption-budgets",
            "pods-without-owner",
        ],
    ),
];

#[test]
fn each_error_of_the_article_leads_to_its_checks() {
    for (text, checks) in ROWS {
        let found = explain(text.as_bytes()).expect("memory can be read");
        let all = found.groups.iter().flat_map(|group| {
            std::iter::once(group).chain(&group.follow_ups).map(|group| group.entry)
        });
        let named: BTreeSet<_> = all
            .flat_map(|entry| &entry.causes)
            .flat_map(|cause| &cause.checks)
            .map(String::as_str)
            .collect();
        for check in *checks {
            assert!(named.contains(check), "{check} is not among {named:?} for: {text}");
        }
    }
}
