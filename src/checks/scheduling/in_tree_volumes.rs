//! Whether volumes use the storage plug-in that used to be built into Kubernetes.

use crate::{
    checks::{
        Area, Check, Context, Judged, Stop, Verdicts,
        initialization::missing::provider,
        workloads::{counted, first_few, workloads},
    },
    facts::kubernetes::workloads::Named,
    outcome::{Finding, Remedy},
    target::Product,
};

pub static CHECK: Check = Check {
    id: "in-tree-volumes",
    title: "EBS volumes use the CSI driver",
    area: Area::Scheduling,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["in-tree-storage-plugin"],
    needs: &[],
    doc: "\
## What
No PersistentVolume has `spec.awsElasticBlockStore`, the volume source of the plug-in that used to
be built into Kubernetes.

## Why
Karpenter does not support the built-in storage plug-ins. It learns from the CSI driver how many
volumes a node takes; Kubernetes since 1.23 hands volumes of the old kind to that driver as well,
and without it they cannot be attached at all. Karpenter before 0.30 did not count them.

## Seen as
`PersistentVolume source 'AWSElasticBlockStore' uses an in-tree storage plugin which is
unsupported by Karpenter` in the controller's log.

## Fix
Install the EBS CSI driver, make volumes anew from a StorageClass with the provisioner
`ebs.csi.aws.com`, or write static ones with `spec.csi`.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let workloads = workloads(cx)?;
    Ok(vec![Judged::new(&cx.target.cluster, || {
        let volumes = workloads.in_tree_volumes.known()?;
        if volumes.count == 0 {
            return Ok(Finding::pass("No PersistentVolume is of the old kind."));
        }
        judge(cx, volumes)
    })])
}

fn judge(cx: &Context<'_>, volumes: &Named) -> Result<Finding, Stop> {
    let seen = format!(
        "{} with spec.awsElasticBlockStore: {}.",
        counted(volumes.count, "PersistentVolume"),
        first_few(volumes)
    );
    // EKS Auto Mode's own driver, ebs.csi.eks.amazonaws.com, does not take them over.
    let driver = provider(cx, "ebs.csi.aws.com/agent-not-ready").transpose()?;
    let finding = if matches!(driver, Some((_, _, Some(_)))) {
        Finding::warn(
            seen,
            "They work as long as the EBS CSI driver takes them over, and Karpenter does not \
             support them: where it cannot see how many volumes a node has left, it believes that \
             pods fit that do not.",
        )
    } else {
        Finding::fail(
            seen,
            "No EBS CSI driver runs here that would take them over: on a new node the pods that \
             use them do not start.",
        )
    };
    Ok(finding
        .errors(&["in-tree-storage-plugin"])
        .evidence(
            "list persistentvolumes (Kubernetes)",
            "spec.awsElasticBlockStore",
            first_few(volumes),
        )
        .mend(
            Remedy::new(
                "Run the EBS CSI driver, and move to volumes of a StorageClass with the \
                 provisioner ebs.csi.aws.com: by a snapshot and a new claim, or by a new \
                 PersistentVolume with spec.csi for the same volume id.",
            )
            .run(
                "kubectl get persistentvolumes --output custom-columns=NAME:.metadata.name,\
                 VOLUME:.spec.awsElasticBlockStore.volumeID,CLAIM:.spec.claimRef.name",
            ),
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

    fn volumes(part: &Value) -> Value {
        let mut workloads =
            json!({"in_tree_volumes": {"known": {"count": 900, "names": ["pv-1"]}}});
        json_patch::merge(&mut workloads, part);
        json!({"facts": {"kubernetes": {"workloads": workloads}}})
    }

    #[test]
    fn rows() {
        let denied =
            json!({"denied": {"action": "list persistentvolumes", "message": "forbidden"}});
        let denied = json!({"facts": {"kubernetes": {"workloads": {"in_tree_volumes": denied}}}});
        let demo = |status| [(status, "demo")];
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[
                ("healthy", json!({}), &demo(Status::Pass)),
                ("with the driver", volumes(&json!({})), &demo(Status::Warn)),
                (
                    "without it",
                    volumes(&json!({"daemon_sets": {"known": []}})),
                    &demo(Status::Fail),
                ),
                ("not readable", denied, &demo(Status::Unknown)),
                ("left alone", json!({"scope": {"no_kube": true}}), &demo(Status::Skipped)),
            ],
        );
        let rows = [("healthy", json!({}), &[(Status::Pass, "demo")][..])];
        assert_rows(Account::AutoModeCluster, &CHECK, &rows);
    }
}
