//! The commands that mend an access entry, and those that look where there is none.

use crate::{
    checks::{Context, remedies::quote},
    outcome::Remedy,
    target::Product,
};

/// The access policy that nodes of EKS Auto Mode need, without its partition.
pub const AUTO_NODE_POLICY: &str = "eks::aws:cluster-access-policy/AmazonEKSAutoNodePolicy";

/// The type of entry that a product's nodes need.
pub fn entry_type(product: Product) -> &'static str {
    match product {
        Product::Karpenter => "EC2_LINUX",
        Product::AutoMode => "EC2",
    }
}

/// Adds the steps that give the role an entry of a type, and what nodes under it need.
pub fn create(cx: &Context<'_>, remedy: Remedy, role_arn: &str, entry_type: &str) -> Remedy {
    let remedy =
        remedy.run(eks(cx, "create-access-entry", role_arn, &format!("--type {entry_type}")));
    match entry_type {
        "EC2" => associate(cx, remedy, role_arn),
        _ => remedy,
    }
}

/// Adds the steps that delete an entry and create the right one.
pub fn create_again(cx: &Context<'_>, remedy: Remedy, role_arn: &str, entry_type: &str) -> Remedy {
    create(cx, remedy.run(eks(cx, "delete-access-entry", role_arn, "")), role_arn, entry_type)
}

/// Adds the step that gives an entry the access policy of Auto Mode's nodes.
pub fn associate(cx: &Context<'_>, remedy: Remedy, role_arn: &str) -> Remedy {
    let options = format!("{} --access-scope type=cluster", policy_option(cx));
    remedy.run(eks(cx, "associate-access-policy", role_arn, &options))
}

/// Adds the steps that associate that policy anew, for the whole cluster.
pub fn associate_again(cx: &Context<'_>, remedy: Remedy, role_arn: &str) -> Remedy {
    let remove = eks(cx, "disassociate-access-policy", role_arn, &policy_option(cx));
    associate(cx, remedy.run(remove), role_arn)
}

fn policy_option(cx: &Context<'_>) -> String {
    format!("--policy-arn arn:{}:{AUTO_NODE_POLICY}", cx.target.partition)
}

/// Adds the steps that show which roles the managed node groups and Karpenter's nodes have.
pub fn look_at_other_users(cx: &Context<'_>, remedy: Remedy) -> Remedy {
    let options =
        format!("--cluster-name {} --region {}", quote(&cx.target.cluster), quote(cx.region()));
    remedy
        .run(format!(
            "for group in $(aws eks list-nodegroups {options} --query nodegroups --output text); \
             do aws eks describe-nodegroup {options} --nodegroup-name \"$group\" \
             --query nodegroup.nodeRole --output text; done"
        ))
        .run("kubectl get ec2nodeclasses -o yaml")
}

/// How to find out whether the ConfigMap lets the role in, and what it must hold. `aws-auth`
/// knows no paths (<https://docs.aws.amazon.com/eks/latest/userguide/auth-configmap.html>).
pub fn look_into_aws_auth(cx: &Context<'_>, account: &str, role_name: &str) -> Remedy {
    let partition = cx.target.partition;
    let remedy = Remedy::new(format!(
        "Look whether mapRoles in aws-auth has the role: rolearn: \
         arn:{partition}:iam::{account}:role/{role_name}, without any path; username: \
         system:node:{{{{EC2PrivateDNSName}}}}; groups: system:bootstrappers and system:nodes.",
    ));
    remedy.run("kubectl -n kube-system get configmap aws-auth -o yaml").run(format!(
        "eksctl get iamidentitymapping --cluster {} --region {}",
        quote(&cx.target.cluster),
        quote(cx.region())
    ))
}

fn eks(cx: &Context<'_>, verb: &str, role_arn: &str, options: &str) -> String {
    let space = if options.is_empty() { "" } else { " " };
    format!(
        "aws eks {verb} --cluster-name {} --principal-arn {}{space}{options} --region {}",
        quote(&cx.target.cluster),
        quote(role_arn),
        quote(cx.region())
    )
}
