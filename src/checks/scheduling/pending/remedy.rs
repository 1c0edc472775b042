//! What to do about a pod that waits, by the documented error.

use crate::{
    checks::{remedies::quote, workloads},
    facts::kubernetes::workloads::PendingPod,
    outcome::Remedy,
};

pub fn remedy(error: &str, pod: &PendingPod) -> Remedy {
    let (words, looks_at_pools) = words(error);
    let remedy = Remedy::new(words).run(edit(pod));
    match looks_at_pools {
        true => remedy.run("kubectl get nodepools --output yaml"),
        false => remedy,
    }
}

/// In words, and whether the NodePools are to be looked at as well.
fn words(error: &str) -> (&'static str, bool) {
    match error {
        "incompatible-label-unknown" => (
            "Take the selector off the pods: a label such as eks.amazonaws.com/nodegroup is only \
             on nodes of a managed node group. Or add the label to spec.template.metadata.labels \
             or to the requirements of the NodePool that is to take them.",
            true,
        ),
        "incompatible-zone" => (
            "Give the NodeClass a subnet in that zone and let the NodePool use it, or take the \
             zone off the pods. Where a volume holds them there, only the first helps.",
            true,
        ),
        "incompatible-requirement" => {
            ("Change the value that the pods ask for, or add it to the NodePool.", true)
        }
        "taint-not-tolerated" => (
            "Add the toleration to the pods if they are meant for those nodes; else add a NodePool \
             without the taint, or take the taint off.",
            true,
        ),
        "affinity-or-spread-unsatisfied" => (
            "Loosen the affinity, anti-affinity or topology spread: preferred in place of \
             required, ScheduleAnyway in place of DoNotSchedule. Or let the NodePool make nodes in \
             the zones that they ask for.",
            false,
        ),
        "node-affinity-unsatisfied" => (
            "Make the node selector or node affinity less strict, or let a NodePool make nodes \
             with those labels.",
            true,
        ),
        "volume-zone-conflict" => (
            "Give the NodeClass a subnet in the volume's zone, and use \
             volumeBindingMode: WaitForFirstConsumer for new volumes.",
            false,
        ),
        "volume-limit-reached" => (
            "Spread pods with volumes over more nodes, and use the EBS CSI driver, so that \
             Karpenter knows how many volumes a node takes.",
            false,
        ),
        "nodepool-limits-reached" => {
            ("Raise spec.limits of the NodePool, or remove what is not needed.", true)
        }
        "no-instance-type-met" | "insufficient-resources" => (
            "Set the requests to what the pods use, and let the NodePool choose larger instance \
             types. If it could take them, Karpenter's log says why no instance comes: give it to \
             `karpenter-preflight explain`.",
            true,
        ),
        _ => ("Change the pods or the NodePool as the text says.", true),
    }
}

fn edit(pod: &PendingPod) -> String {
    let namespace = quote(&pod.owner.namespace);
    match pod.owner.kind.as_str() {
        "Deployment" | "StatefulSet" | "ReplicaSet" | "Job" | "CronJob"
            if !pod.owner.name.is_empty() =>
        {
            workloads::edit(&pod.owner)
        }
        _ => format!("kubectl describe pod {} --namespace {namespace}", quote(&pod.meta.name)),
    }
}
