//! The steps that create a node role.

use crate::{
    checks::{Context, remedies},
    facts::arn,
    outcome::Remedy,
    target::{Product, names},
};

/// The name to give to a new node role: the getting-started guide's, shortened where IAM would
/// refuse it
/// (<https://karpenter.sh/docs/troubleshooting/#karpenter-role-names-exceeding-64-character-limit>).
pub fn new_name(cluster: &str) -> String {
    let [usual, ..] = names::node_roles(cluster);
    usual.chars().take(names::ROLE_NAME_LIMIT).collect()
}

/// Adds the steps that create a node role with what the product's guide gives it: Karpenter's
/// getting-started template
/// (`website/content/en/docs/getting-started/getting-started-with-karpenter/cloudformation.yaml`
/// of aws/karpenter-provider-aws at v1.14.1), and for Auto Mode
/// <https://docs.aws.amazon.com/eks/latest/userguide/auto-create-node-role.html>.
pub fn create(cx: &Context<'_>, remedy: Remedy, name: &str, product: Product) -> Remedy {
    let partition = cx.target.partition;
    let trust = remedies::service_trust(arn::ec2_principal(partition), &["sts:AssumeRole"]);
    let policies: &[&str] = match product {
        Product::Karpenter => &[
            "AmazonEKSWorkerNodePolicy",
            "AmazonEKS_CNI_Policy",
            "AmazonEC2ContainerRegistryPullOnly",
            "AmazonSSMManagedInstanceCore",
        ],
        Product::AutoMode => {
            &["AmazonEKSWorkerNodeMinimalPolicy", "AmazonEC2ContainerRegistryPullOnly"]
        }
    };
    let role = remedies::NewRole { name, path: "/", trust: &trust, policies };
    remedies::create_role(remedy, partition, &role)
}
