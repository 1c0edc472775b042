//! Whether the volumes that pods claim can come into being.

use serde_json::json;

use crate::{
    checks::{
        Area, Check, Context, Judged, Stop, Verdicts,
        initialization::missing::provider,
        remedies::quote,
        statuses::age::Age,
        workloads::{counted, first_few, workloads},
    },
    facts::kubernetes::{
        storage::{StorageClass, Waiting},
        workloads::Named,
    },
    outcome::{Finding, Remedy},
    target::Product,
};

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
    let storage = &workloads(cx)?.storage;
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

fn make_default(cx: &Context<'_>, classes: &[StorageClass]) -> Remedy {
    let words = "Mark a StorageClass as the default.";
    match classes.first() {
        Some(class) => Remedy::new(words).run(format!(
            "kubectl patch storageclass {} --patch '{{\"metadata\":{{\"annotations\":\
             {{\"storageclass.kubernetes.io/is-default-class\":\"true\"}}}}}}'",
            quote(&class.name)
        )),
        None => new_class(Remedy::new("Make a StorageClass that is the default."), driver(cx)),
    }
}

/// The provisioner that a new class of this cluster has.
fn driver(cx: &Context<'_>) -> &'static str {
    if cx.target.runs(Product::AutoMode) { AUTO_MODE } else { EBS }
}

/// Adds the steps that make a class of this provisioner, which is the default.
fn new_class(remedy: Remedy, provisioner: &str) -> Remedy {
    let file = "storage-class.json";
    let class = json!({
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {
            "name": "gp3",
            "annotations": {"storageclass.kubernetes.io/is-default-class": "true"},
        },
        "provisioner": provisioner,
        "volumeBindingMode": "WaitForFirstConsumer",
        "parameters": {"type": "gp3", "encrypted": "true"},
    });
    remedy.document(file, &class).run(format!("kubectl apply --filename {file}"))
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

/// How volumes come to be where the driver of their class is missing.
fn with_driver(cx: &Context<'_>, provisioner: &str) -> Result<Remedy, Stop> {
    if [IN_TREE, EBS].contains(&provisioner) && cx.cluster()?.auto_mode.block_storage {
        let words = "Make a StorageClass with the provisioner of EKS Auto Mode, and make the \
                     claims anew with it.";
        return Ok(new_class(Remedy::new(words), AUTO_MODE));
    }
    let (cluster, region) = (quote(&cx.target.cluster), quote(cx.region()));
    let add_on = |name: &str, policy: &str| {
        Remedy::new(format!(
            "Install the driver as an add-on, and give the service account of its controller a \
             role with the managed policy {policy}, by Pod Identity or IRSA."
        ))
        .run(format!(
            "aws eks create-addon --region {region} --cluster-name {cluster} --addon-name {name}"
        ))
    };
    Ok(match provisioner {
        AUTO_MODE => {
            let words = "Make a StorageClass with the provisioner of the EBS CSI driver, and make \
                         the claims anew with it.";
            new_class(Remedy::new(words), EBS)
        }
        EFS => add_on("aws-efs-csi-driver", "AmazonEFSCSIDriverPolicy"),
        _ => add_on("aws-ebs-csi-driver", "AmazonEBSCSIDriverPolicy"),
    })
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

/// Adds the command that shows the events of the first of the claims.
fn describe(remedy: Remedy, claims: &Named) -> Remedy {
    match claims.names.first().and_then(|name| name.split_once('/')) {
        Some((namespace, name)) => remedy.run(format!(
            "kubectl describe persistentvolumeclaim --namespace {} {}",
            quote(namespace),
            quote(name)
        )),
        None => remedy,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status,
    };

    const NO_CLASS: &str = "claims without a class";

    fn storage(part: &Value) -> Value {
        json!({"facts": {"kubernetes": {"workloads": {"storage": part}}}})
    }

    /// One claim of a class that has waited for long, beside this class.
    fn waiting(claim: &Value, class: &Value) -> Value {
        storage(&json!({
            "classes": {"known": [class]},
            "claims": {"known": {"by_class": {"gp2": 1}, "waiting": [{
                "class": claim,
                "claims": {"count": 1, "names": ["shop/data-0"]},
                "oldest": "2026-10-01T00:00:00Z",
            }]}},
        }))
    }

    fn class(provisioner: &str, immediate: bool) -> Value {
        json!({"name": "gp2", "provisioner": provisioner, "immediate": immediate})
    }

    #[test]
    fn claims_that_wait() {
        use Status::{Pass, Warn};
        let late = class("ebs.csi.aws.com", false);
        let default = json!({"name": "gp2", "provisioner": "ebs.csi.aws.com", "is_default": true});
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[
                ("healthy", json!({}), &[(Pass, "demo")]),
                ("no class", waiting(&json!(null), &late), &[(Warn, NO_CLASS)]),
                ("a default too late", waiting(&json!(null), &default), &[(Warn, NO_CLASS)]),
                ("of no class", waiting(&json!(""), &late), &[(Warn, NO_CLASS)]),
                ("of another class", waiting(&json!("gp3"), &late), &[(Warn, "gp3")]),
                ("for its pod", waiting(&json!("gp2"), &late), &[(Pass, "gp2")]),
                ("at once, in vain", waiting(&json!("gp2"), &class(EBS, true)), &[(Warn, "gp2")]),
                (
                    "of Auto Mode's driver",
                    waiting(&json!("gp2"), &class(AUTO_MODE, false)),
                    &[(Warn, "gp2")],
                ),
                ("of EFS", waiting(&json!("gp2"), &class(EFS, true)), &[(Warn, "gp2")]),
                (
                    "of another maker",
                    waiting(&json!("gp2"), &class("nfs", false)),
                    &[(Pass, "gp2")],
                ),
                ("left alone", json!({"scope": {"no_kube": true}}), &[(Status::Skipped, "demo")]),
            ],
        );
        assert_rows(
            Account::AutoModeCluster,
            &CHECK,
            &[
                ("healthy", json!({}), &[(Pass, "demo")]),
                ("EKS's own gp2", waiting(&json!("gp2"), &class(IN_TREE, false)), &[(Warn, "gp2")]),
                (
                    "Auto Mode's driver",
                    waiting(&json!("gp2"), &class(AUTO_MODE, false)),
                    &[(Pass, "gp2")],
                ),
            ],
        );
    }

    #[test]
    fn claims_that_have_just_been_made() {
        let mut patch = waiting(&json!(null), &class(EBS, false));
        let claims = &mut patch["facts"]["kubernetes"]["workloads"]["storage"]["claims"];
        claims["known"]["waiting"][0]["oldest"] = json!("2999-01-01T00:00:00Z");
        let rows = [("just made", patch, &[(Status::Pass, NO_CLASS)][..])];
        assert_rows(Account::KarpenterCluster, &CHECK, &rows);
    }

    #[test]
    fn volumes_that_are_there() {
        let of = |class: Value| {
            storage(&json!({"classes": {"known": [class]},
                "claims": {"known": {"by_class": {"gp2": 12}}}}))
        };
        let gone = json!({"claims": {"known": {"lost": {"count": 1, "names": ["shop/a"]}}}});
        let denied = json!({"denied": {"action": "list", "message": "forbidden"}});
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[
                ("anywhere", of(class(EBS, true)), &[(Status::Warn, "gp2")]),
                ("with their pods", of(class(EBS, false)), &[(Status::Pass, "demo")]),
                ("of no zone", of(class(EFS, true)), &[(Status::Pass, "demo")]),
                ("gone", storage(&gone), &[(Status::Warn, "claims without their volume")]),
                ("not readable", storage(&json!({"claims": denied})), &[(Status::Unknown, "demo")]),
                ("nor classes", storage(&json!({"classes": denied})), &[(Status::Unknown, "demo")]),
            ],
        );
    }

    #[test]
    fn the_way_out_is_that_of_the_cluster() {
        let judged = |account: Account, patch: &Value| {
            let found = account.judge(&CHECK, patch).remove(0);
            serde_json::to_string(&found.remedy.unwrap().steps).unwrap()
        };
        let gp2 = waiting(&json!("gp2"), &class(IN_TREE, false));
        let auto = judged(Account::AutoModeCluster, &gp2);
        assert!(
            auto.contains("ebs.csi.eks.amazonaws.com") && auto.contains("kubectl apply"),
            "{auto}"
        );
        let bare = json!({"facts": {"kubernetes": {"workloads": {"daemon_sets": {"known": []}}}}});
        let mut patch = gp2;
        json_patch::merge(&mut patch, &bare);
        let karpenter = judged(Account::KarpenterCluster, &patch);
        assert!(karpenter.contains("--addon-name aws-ebs-csi-driver"), "{karpenter}");
    }
}
