//! Whether EC2 makes volumes as a NodeClass wants them.

use super::volumes::images;
use crate::{
    checks::{
        Area, Check, Context, Stop, Verdicts,
        node_classes::{self, Class},
        remedies::listed,
    },
    facts::kubernetes::{node_class::Volume, quantity},
    outcome::{Finding, Remedy},
    target::Product,
};

/// What a gp3 volume has without being asked.
const GP3_IOPS: u64 = 3_000;
/// Operations a second for each MiB a second of a gp3 volume.
const IOPS_FOR_THROUGHPUT: u64 = 4;
const GIB: u64 = 1 << 30;

pub static CHECK: Check = Check {
    id: "nodeclass-volume-sizes",
    title: "EC2 makes volumes of the type and size that EC2NodeClasses want",
    area: Area::Launch,
    products: &[Product::Karpenter],
    errors: &["volume-options-invalid", "invalid-block-device-mapping"],
    needs: &["ec2:DescribeImages"],
    doc: "\
## What
Each volume in `blockDeviceMappings` is at least as large as the snapshot that the image has for its
device, and its `volumeType`, `iops` and `throughput` go together: throughput for gp3 only, at most a
quarter of the iops; iops for gp3, io1 and io2 only, and for the last two always; at most 500 (gp3),
50 (io1) or 1,000 (io2) of them for each GiB.

## Why
The CRD takes each value by itself. EC2 looks at them together, when an instance is launched, and
refuses the launch.

## Seen as
`Throughput (MiBps) to iops ratio of 0.333333 is too high; maximum is 0.250000`, or `Volume of size 8GB
is smaller than snapshot`, in the conditions of NodeClaims.

## Fix
Mend the volume in the EC2NodeClass.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    node_classes::each(cx, CHECK.products, |class| match class.spec.volumes.as_slice() {
        [] => Err(Stop::skipped("it names no volumes, so that those of its image family are made")),
        _ => Ok(judge(cx, &class)),
    })
}

fn judge(cx: &Context<'_>, class: &Class<'_>) -> Finding {
    let small: Vec<_> =
        class.spec.volumes.iter().filter_map(|volume| too_small(cx, class, volume)).collect();
    let unfit: Vec<_> = class
        .spec
        .volumes
        .iter()
        .flat_map(|volume| problems(volume).map(|what| format!("{} {what}", name(volume))))
        .collect();
    if small.is_empty() && unfit.is_empty() {
        return Finding::pass("Its volumes are of types and sizes that go together.");
    }
    let all: Vec<_> = small.iter().chain(&unfit).map(String::as_str).collect();
    let finding =
        Finding::fail(format!("{class}: {}.", all.join("; ")), "EC2 refuses every launch with it.");
    let finding = match unfit.as_slice() {
        [] => finding,
        _ => finding.errors(&["volume-options-invalid"]),
    };
    let finding = match small.as_slice() {
        [] => finding,
        _ => finding.errors(&["invalid-block-device-mapping"]),
    };
    finding
        .evidence(
            "list ec2nodeclasses (Kubernetes)",
            "spec.blockDeviceMappings[].ebs",
            listed(&all),
        )
        .mend(Remedy::new(format!("Mend blockDeviceMappings of {class}.")).run(class.edit()))
}

fn name(volume: &Volume) -> &str {
    volume.device.as_deref().unwrap_or("a volume")
}

/// Whole GiB, rounded up as Karpenter does.
fn gib(volume: &Volume) -> Option<u64> {
    let size = volume.size.as_ref()?;
    quantity::milli(size).map(|milli| milli.div_ceil(1_000).div_ceil(GIB))
}

fn too_small(cx: &Context<'_>, class: &Class<'_>, volume: &Volume) -> Option<String> {
    let size = gib(volume)?;
    // A snapshot of its own takes the place of the image's.
    if volume.snapshot.is_some() {
        return None;
    }
    let of_device = images(cx, class)
        .into_iter()
        .flat_map(|image| &image.volumes)
        .filter(|of| of.device == volume.device && of.snapshot.is_some());
    let needed = u64::from(of_device.filter_map(|of| of.size).max()?);
    (size < needed)
        .then(|| format!("{} has {size} GiB, and the image's snapshot {needed} GiB", name(volume)))
}

/// What of a volume does not go together.
fn problems(volume: &Volume) -> impl Iterator<Item = String> {
    let kind = volume.kind.as_deref().unwrap_or_default();
    let (most_for_gib, takes_iops) = match kind {
        "gp3" => (500, true),
        "io1" => (50, true),
        "io2" => (1_000, true),
        // Without a type nothing is known of it.
        "" => (u64::MAX, true),
        _ => (u64::MAX, false),
    };
    let throughput = volume.throughput.and_then(|throughput| {
        let iops = volume.iops.unwrap_or(GP3_IOPS);
        match kind {
            "" => None,
            "gp3" if throughput.saturating_mul(IOPS_FOR_THROUGHPUT) > iops => Some(format!(
                "wants {throughput} MiB/s with {iops} iops, which allow {}",
                iops / IOPS_FOR_THROUGHPUT
            )),
            "gp3" => None,
            other => Some(format!("of the type {other} wants a throughput, as only gp3 may")),
        }
    });
    let iops = match volume.iops {
        Some(_) if !takes_iops => Some(format!("of the type {kind} wants iops, which it cannot")),
        // What a volume has anyhow is not held against its size.
        Some(iops) if kind != "gp3" || iops > GP3_IOPS => gib(volume)
            .map(|size| size.saturating_mul(most_for_gib))
            .filter(|most| iops > *most)
            .map(|most| format!("wants {iops} iops, and its size allows {most}")),
        None if ["io1", "io2"].contains(&kind) => {
            Some(format!("of the type {kind} does not say its iops"))
        }
        _ => None,
    };
    throughput.into_iter().chain(iops)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status,
    };

    const AMI: &str = "ami-0bb00000000000001";

    fn class(volume: &Value) -> Value {
        let image = json!({"id": AMI, "state": "available", "root_device": "/dev/xvda",
            "volumes": [{"device": "/dev/xvda", "snapshot": "snap-01", "size": 20}]});
        let mut named = json!({"device": "/dev/xvda"});
        json_patch::merge(&mut named, volume);
        json!({"facts": {
            "kubernetes": {"ec2_node_classes": {"known": [{"meta": {"name": "default"},
                "ami_terms": [{"id": AMI}], "volumes": [named]}]}},
            "images": {AMI: {"known": image}},
        }})
    }

    #[test]
    fn rows() {
        let of = |status| [(status, "EC2NodeClass/default")];
        let (pass, fail) = (of(Status::Pass), of(Status::Fail));
        let gp3 = |size: &str, iops: u64, throughput: u64| {
            class(&json!({"kind": "gp3", "size": size, "iops": iops, "throughput": throughput}))
        };
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[
                ("none named", json!({}), &of(Status::Skipped)),
                ("the image's size", class(&json!({"size": "20Gi"})), &pass),
                ("too small", class(&json!({"size": "8Gi"})), &fail),
                (
                    "by its own snapshot",
                    class(&json!({"size": "8Gi", "snapshot": "snap-2"})),
                    &pass,
                ),
                ("another device", class(&json!({"device": "/dev/xvdb", "size": "8Gi"})), &pass),
                ("gp3 as it comes", gp3("20Gi", 3_000, 125), &pass),
                ("the most throughput", gp3("100Gi", 4_000, 1_000), &pass),
                ("too much throughput", gp3("100Gi", 3_000, 1_000), &fail),
                (
                    "the iops of nothing said",
                    class(&json!({"kind": "gp3", "throughput": 751})),
                    &fail,
                ),
                ("too many iops", gp3("20Gi", 16_000, 125), &fail),
                ("throughput of gp2", class(&json!({"kind": "gp2", "throughput": 125})), &fail),
                ("iops of gp2", class(&json!({"kind": "gp2", "iops": 3_000})), &fail),
                ("io2 without iops", class(&json!({"kind": "io2", "size": "100Gi"})), &fail),
                ("io1", class(&json!({"kind": "io1", "size": "100Gi", "iops": 5_000})), &pass),
                (
                    "io1 with too many",
                    class(&json!({"kind": "io1", "size": "100Gi", "iops": 5_001})),
                    &fail,
                ),
                ("no type", class(&json!({"iops": 90_000, "throughput": 900})), &pass),
            ],
        );
    }

    #[test]
    fn each_problem_is_told() {
        let patch =
            class(&json!({"kind": "gp3", "size": "8Gi", "iops": 5_000, "throughput": 2_000}));
        let found = Account::KarpenterCluster.judge(&CHECK, &patch).remove(0);
        for words in ["8 GiB, and the image's snapshot 20", "which allow 1250", "allows 4000"] {
            assert!(found.seen.contains(words), "{}", found.seen);
        }
        let ids: Vec<_> = found.errors.iter().map(|error| error.id.as_str()).collect();
        assert_eq!(ids, ["volume-options-invalid", "invalid-block-device-mapping"]);
    }
}
