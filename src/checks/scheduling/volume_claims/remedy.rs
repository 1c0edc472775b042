//! The ways from a claim to its volume.

use serde_json::json;

use super::{AUTO_MODE, EBS, EFS, IN_TREE};
use crate::{
    checks::{Context, Stop, remedies::quote},
    facts::kubernetes::{storage::StorageClass, workloads::Named},
    outcome::Remedy,
    target::Product,
};

pub fn make_default(cx: &Context<'_>, classes: &[StorageClass]) -> Remedy {
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

/// How volumes come to be where the driver of their class is missing.
pub fn with_driver(cx: &Context<'_>, provisioner: &str) -> Result<Remedy, Stop> {
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

/// Adds the command that shows the events of the first of the claims.
pub fn describe(remedy: Remedy, claims: &Named) -> Remedy {
    match claims.names.first().and_then(|name| name.split_once('/')) {
        Some((namespace, name)) => remedy.run(format!(
            "kubectl describe persistentvolumeclaim --namespace {} {}",
            quote(namespace),
            quote(name)
        )),
        None => remedy,
    }
}
