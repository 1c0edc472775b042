//! The names that the known installers give (`docs` of Karpenter's getting-started guide and
//! migration guide, eksctl, and the Terraform module terraform-aws-eks).

use std::collections::BTreeMap;

use crate::facts::{Fact, eks::Addon, kubernetes::node_pool::NodePool};

/// Names a controller role may have.
pub fn controller_roles(cluster: &str) -> [String; 3] {
    [
        format!("{cluster}-karpenter"),
        format!("KarpenterControllerRole-{cluster}"),
        format!("eksctl-{cluster}-iamservice-role"),
    ]
}

/// Names a node role may have.
pub fn node_roles(cluster: &str) -> [String; 3] {
    [
        format!("KarpenterNodeRole-{cluster}"),
        format!("Karpenter-{cluster}"),
        format!("eksctl-KarpenterNodeRole-{cluster}"),
    ]
}

/// Whether the name of a role looks like one that an installer of Karpenter gave to its nodes.
pub fn fits_node_role(name: &str, cluster: &str) -> bool {
    name.to_ascii_lowercase().contains("karpenter")
        || node_roles(cluster).iter().any(|usual| usual == name)
}

/// The service account of the VPC CNI, in `kube-system`.
pub const CNI_SERVICE_ACCOUNT: &str = "aws-node";

/// The add-ons that hand out permissions to pods, or may have a role of their own.
pub const POD_IDENTITY_AGENT: &str = "eks-pod-identity-agent";
pub const CNI_ADDON: &str = "vpc-cni";
pub const IDENTITY_ADDONS: [&str; 2] = [POD_IDENTITY_AGENT, CNI_ADDON];

/// Further add-ons that EKS Auto Mode asks to be recent.
pub const AUTO_MODE_ADDONS: [&str; 3] = ["kube-proxy", "aws-ebs-csi-driver", "snapshot-controller"];

/// Whether the VPC CNI gives nodes whole blocks of addresses, as its add-on is configured.
pub fn takes_prefixes(addons: &BTreeMap<String, Fact<Addon>>) -> bool {
    let cni = addons.get(CNI_ADDON).and_then(|addon| addon.value());
    let set = cni.and_then(|cni| cni.env.get("ENABLE_PREFIX_DELEGATION"));
    set.is_some_and(|value| value.eq_ignore_ascii_case("true"))
}

/// Names an interruption queue may have.
pub fn queues(cluster: &str) -> [String; 2] {
    [cluster.to_owned(), format!("Karpenter-{cluster}")]
}

/// IAM's limit for a role name, in characters.
pub const ROLE_NAME_LIMIT: usize = 64;

/// Whether IAM could have a role of this name at all.
pub fn is_role_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= ROLE_NAME_LIMIT
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "+=,.@_-".contains(c))
}

/// Whether IAM could have an instance profile of this name: like a role's, and up to 128
/// characters.
pub fn is_profile_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 128
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "+=,.@_-".contains(c))
}

/// The name of a queue that was given as a name, a URL or an ARN.
pub fn queue_name(named: &str) -> &str {
    named.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or(named)
}

/// CPU architectures, as the image parameters' names spell them.
pub const IMAGE_ARCHITECTURES: [&str; 2] = ["x86_64", "arm64"];

/// The public parameter with the recommended AL2023 image of a Kubernetes version
/// (`pkg/providers/amifamily/al2023.go@v0.35.0…v1.14.1`).
pub fn image_parameter(kubernetes_version: &str, architecture: &str) -> String {
    format!(
        "/aws/service/eks/optimized-ami/{kubernetes_version}/amazon-linux-2023/{architecture}/\
         standard/recommended/image_id"
    )
}

/// The parameters of every architecture.
pub fn image_parameters(kubernetes_version: &str) -> Vec<String> {
    IMAGE_ARCHITECTURES.map(|architecture| image_parameter(kubernetes_version, architecture)).into()
}

pub const INSTANCE_TYPE: &str = "node.kubernetes.io/instance-type";
pub const INSTANCE_FAMILY: &str = "karpenter.k8s.aws/instance-family";
const FAMILY_OF_AUTO_MODE: &str = "eks.amazonaws.com/instance-family";

/// The values that a NodePool wants of a label of instance types.
pub fn wanted_of<'a>(pool: &'a NodePool, key: &str) -> Vec<&'a str> {
    let is_key = |other: &str| match key {
        INSTANCE_TYPE => other == key || other == "beta.kubernetes.io/instance-type",
        _ => other == key || other == FAMILY_OF_AUTO_MODE,
    };
    let wanted = pool.requirements.iter().filter(|one| one.operator == "In" && is_key(&one.key));
    wanted.flat_map(|one| one.values.iter().map(String::as_str)).collect()
}

/// The instance types and families that a NodePool names, as EC2 filters them: `m5.large`, `m5.*`.
pub fn instance_type_patterns(pool: &NodePool) -> Vec<String> {
    let types = wanted_of(pool, INSTANCE_TYPE).into_iter().map(str::to_owned);
    let families = wanted_of(pool, INSTANCE_FAMILY).into_iter().map(|one| format!("{one}.*"));
    types.chain(families).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queues_name_is_the_last_part() {
        for given in [
            "demo",
            "arn:aws:sqs:us-west-2:111122223333:demo",
            "https://sqs.us-west-2.amazonaws.com/111122223333/demo",
            "https://sqs.us-west-2.amazonaws.com/111122223333/demo/",
        ] {
            assert_eq!(queue_name(given), "demo");
        }
    }
}
