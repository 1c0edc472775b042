//! Whether the volumes that pods claim can come into being.

mod remedy;

use crate::{
    checks::{
        Area, Check, Context, Judged, Stop, Verdicts,
        initialization::missing::provider,
        remedies::quote,
        statuses::age::Age,
        workloads::{counted, first_few},
    },
    facts::kubernetes::{
        storage::{StorageClass, Waiting},
        workloads::Named,
    },
    outcome::{Finding, Remedy},
    target::Product,
};

use remedy::{describe, make_default, with_driver};

const API: &str = "list persistentvolumeclaims (Kubernetes)";
/// A volume is made within seconds of its claim; who waits longer waits for something else.
const WAITS_FOR: i64 = 5 * 60;

/// The plug-in that was built into Kubernetes; the EBS CSI driver does its work.
const IN_TREE: &str = "kubernetes.io/aws-ebs";
const EBS: &str = "ebs.csi.aws.com";
const EFS: &str = "efs.csi.aws.com";
/// EKS Auto Mode's own driver.
const AUTO_MODE: &str = "ebs.csi.eks.amazonaws.com";

pub static CHECK: Check = Check {
    id: "volume-claims",
    title: "The volumes that pods claim can be made",
    area: Area::Scheduling,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &[
        "claim-without-storage-class",
        "storage-class-not-found",
        "volume-not-provisioned",
        "claim-of-immediate-class-unbound",
        "claim-lost-its-volume",
        "volume-zone-conflict",
    ],
    needs: &["eks:DescribeCluster"],
    doc: "\
## What
No PersistentVolumeClaim has waited for its volume for more than five minutes for want of a
StorageClass or of a driver, and none has lost its volume. EBS volumes are made where their first
pod goes (`volumeBindingMode: WaitForFirstConsumer`).

## Why
Karpenter and EKS Auto Mode make no node for a pod whose claim names no class, one that is not there,
or one that makes volumes at once and has not made this one. New clusters have no default class
since Kubernetes 1.30, and the class `gp2` that EKS makes is of the provisioner
`kubernetes.io/aws-ebs`, whose work the EBS CSI driver has to do: EKS Auto Mode's own driver,
`ebs.csi.eks.amazonaws.com`, does not. A volume that is made at once lies in a zone that was chosen
without the pod.

## Seen as
`unbound pvc must define a storage class` in the controller's log, `no persistent volumes available
for this claim and no storage class is set` on the claim, `pod has unbound immediate
PersistentVolumeClaims` on the pod.

## Fix
Mark a class as the default, or name one in the claim; install the driver, or make a class with the
provisioner of the driver that is there; make a class with `WaitForFirstConsumer`. A claim keeps
its class, and a class its provisioner: make them anew.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let storage = &cx.kubernetes()?.storage;
    let (claims, classes) = (storage.claims.known()?, storage.classes.known()?);
    let mut judged = Vec::new();
    for waiting in &claims.waiting {
        let subject = waiting.class.as_deref().filter(|class| !class.is_empty());
        let subject = subject.unwrap_or("claims without a class");
        judged.push(Judged::new(subject, || wait(cx, classes, waiting)));
    }
    let waits = |name: &str| claims.waiting.iter().any(|of| of.class.as_deref() == Some(name));
    for class in classes.iter().filter(|class| makes_volumes_of_a_zone_at_once(class)) {
        if let Some(count) = claims.by_class.get(&class.name).filter(|_| !waits(&class.name)) {
            judged.push(Judged::new(&class.name, || Ok(anywhere(class, *count))));
        }
    }
    if claims.lost.count > 0 {
        judged.push(Judged::new("claims without their volume", || Ok(lost(&claims.lost))));
    }
    if judged.is_empty() {
        let all_well = || Ok(Finding::pass("No claim waits for a volume."));
        judged.push(Judged::new(&cx.target.cluster, all_well));
    }
    Ok(judged)
}

fn makes_volumes_of_a_zone_at_once(class: &StorageClass) -> bool {
    class.immediate && [IN_TREE, EBS, AUTO_MODE].contains(&class.provisioner.as_str())
}

/// Judges the claims of one class that have no volume yet.
fn wait(cx: &Context<'_>, classes: &[StorageClass], waiting: &Waiting) -> Result<Finding, Stop> {
    let Some(age) = Age::of(cx, waiting.oldest).filter(|age| age.seconds() >= WAITS_FOR) else {
        let seen = format!("{}, made in the last five minutes.", claims(&waiting.claims));
        return Ok(Finding::pass(seen));
    };
    let name = waiting.class.as_deref().unwrap_or_default();
    let seen = format!("{}, for up to {age}, for a volume", claims(&waiting.claims));
    if name.is_empty() {
        return Ok(classless(cx, classes, waiting, &seen));
    }
    let Some(class) = classes.iter().find(|class| class.name == name) else {
        let seen = format!("{seen} of the StorageClass {name}, which is not there.");
        let finding = Finding::warn(seen, "No volume is made, and for their pods no node.");
        let remedy = Remedy::new(format!(
            "Make a StorageClass {name}, or make the claims anew with one that is there{}.",
            one_of(classes)
        ));
        let remedy = describe(remedy.run("kubectl get storageclasses"), &waiting.claims);
        return Ok(told(finding, "storage-class-not-found", &waiting.claims).mend(remedy));
    };
    let StorageClass { provisioner, .. } = class;
    if let Some(driver) = missing_driver(cx, provisioner)? {
        let seen = format!(
            "{seen} of the StorageClass {name}, whose provisioner is {provisioner}: {driver} is \
             not here."
        );
        let finding = Finding::warn(seen, "No volume is made, and their pods do not start.");
        let remedy = describe(with_driver(cx, provisioner)?, &waiting.claims);
        return Ok(told(finding, "volume-not-provisioned", &waiting.claims).mend(remedy));
    }
    if class.immediate {
        let seen = format!("{seen} of the StorageClass {name}, which makes volumes at once.");
        let effect = "Its driver does not make them, and until it does no node is made for their \
                      pods. The events of the claims say why.";
        let finding = Finding::warn(seen, effect).errors(&["claim-of-immediate-class-unbound"]);
        let words = "Read in the events of the claim what the driver lacks, which is often a \
                     permission of its role.";
        let remedy = describe(Remedy::new(words), &waiting.claims);
        return Ok(told(finding, "volume-not-provisioned", &waiting.claims).mend(remedy));
    }
    Ok(Finding::pass(format!("{seen} of the StorageClass {name}, which is made with their pods.")))
}

/// Claims that name no class.
fn classless(cx: &Context<'_>, classes: &[StorageClass], waiting: &Waiting, seen: &str) -> Finding {
    let default = classes.iter().find(|class| class.is_default);
    let (why, remedy) = match (&waiting.class, default) {
        (Some(_), _) => (
            "and want one of no class, which only people make".to_owned(),
            Remedy::new("Make the PersistentVolume, or make the claim anew with a class."),
        ),
        (None, Some(class)) => (
            format!("and were made before there was the default class {}", class.name),
            Remedy::new("Make the claims anew: they then get the default class."),
        ),
        (None, None) => (
            "name no class, and no StorageClass is the default".to_owned(),
            make_default(cx, classes),
        ),
    };
    let finding = Finding::warn(
        format!("{seen}; they {why}."),
        "No volume is made, and for their pods no node.",
    );
    let remedy = describe(remedy, &waiting.claims);
    told(finding, "claim-without-storage-class", &waiting.claims).mend(remedy)
}

/// What a provisioner needs and does not have. Of other makers' nothing is known.
fn missing_driver(cx: &Context<'_>, provisioner: &str) -> Result<Option<&'static str>, Stop> {
    let taint = match provisioner {
        IN_TREE | EBS => "ebs.csi.aws.com/agent-not-ready",
        EFS => "efs.csi.aws.com/agent-not-ready",
        AUTO_MODE => {
            let is_on = cx.cluster()?.auto_mode.block_storage;
            return Ok((!is_on).then_some("the block storage of EKS Auto Mode"));
        }
        _ => return Ok(None),
    };
    let provider = provider(cx, taint).transpose()?;
    Ok(provider.and_then(|(name, _, found)| found.is_none().then_some(name)))
}

/// A class that puts volumes where nobody looked first.
fn anywhere(class: &StorageClass, count: u32) -> Finding {
    let StorageClass { name, provisioner, .. } = class;
    Finding::warn(
        format!(
            "{} of the StorageClass {name}, whose EBS volumes are made at once \
             (volumeBindingMode: Immediate).",
            counted(count, "claim")
        ),
        "Each volume lies in a zone that was chosen without its pod: a pod with two of them, or \
         one that must run in another zone, fits on no node.",
    )
    .errors(&["volume-zone-conflict"])
    .evidence("list storageclasses (Kubernetes)", "volumeBindingMode", "Immediate")
    .mend(
        Remedy::new(format!(
            "A StorageClass cannot be changed: make one with WaitForFirstConsumer and the \
             provisioner {provisioner}, and name it in new claims."
        ))
        .run(format!("kubectl get storageclass {} --output yaml", quote(name))),
    )
}

fn lost(claims_lost: &Named) -> Finding {
    let finding = Finding::warn(
        format!(
            "The volume of {} is gone: {}.",
            counted(claims_lost.count, "claim"),
            first_few(claims_lost)
        ),
        "For their pods no node is made; what was on the volumes is not to be had by them.",
    );
    let words = "Restore the volume from a snapshot under the claim's name, or delete the claim.";
    told(finding, "claim-lost-its-volume", claims_lost)
        .mend(describe(Remedy::new(words), claims_lost))
}

/// Such as `2 claims wait (shop/data-0, shop/data-1)`.
fn claims(waiting: &Named) -> String {
    let wait = if waiting.count == 1 { "waits" } else { "wait" };
    format!("{} {wait} ({})", counted(waiting.count, "claim"), first_few(waiting))
}

fn one_of(classes: &[StorageClass]) -> String {
    let names: Vec<_> = classes.iter().map(|class| class.name.as_str()).collect();
    if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) }
}

fn told(finding: Finding, error: &'static str, claims: &Named) -> Finding {
    finding.errors(&[error]).evidence(API, "status.phase", first_few(claims))
}

#[cfg(test)]
mod tests;
