//! The set-up that requirements are asked for, from the target and the facts.

use std::collections::BTreeSet;

use super::{Context, Stop, selection::selectors};
use crate::{
    facts::eks::Cluster,
    requirements::{Feature, Setup},
    target::{Product, QueueTarget, names},
};

/// What `product` asks for in this cluster. What no fact shows stays as the guide leaves it.
pub fn setup(cx: &Context<'_>, product: Product) -> Result<Setup, Stop> {
    let target = cx.target;
    let account = cx.account().ok_or_else(|| {
        Stop::unknown(
            "neither sts:GetCallerIdentity nor eks:DescribeCluster could be read, and so not \
             which account this is",
        )
    })?;
    let mut setup = Setup::new(target.partition, &target.region.value, account, &target.cluster);
    setup.namespace = target.namespace.value.clone();
    setup.service_account = target.service_account.value.clone();
    setup.node_role_arns = node_roles(cx, product, account);
    if let Some(cluster) = cx.facts.cluster.value() {
        setup.kubernetes = cluster.version.parse().ok();
        if cluster.network.ip_family.as_deref() == Some("ipv6") {
            setup.features.insert(Feature::Ipv6);
        }
    }
    network(cx, product, &mut setup);
    if product == Product::Karpenter
        && let Some(queue) = queue(cx)
    {
        setup.features.insert(Feature::Queue);
        setup.queue_arn = Some(queue);
    }
    Ok(setup)
}

/// With their paths, where the roles could be read.
fn node_roles(cx: &Context<'_>, product: Product, account: &str) -> Vec<String> {
    let roles = cx.target.node_roles.iter().filter(|role| role.product == product);
    let arn = |name: &str| match cx.facts.roles.get(name).and_then(|role| role.value()) {
        Some(role) => role.arn.clone(),
        None => format!("arn:{}:iam::{account}:role/{name}", cx.target.partition),
    };
    roles.map(|role| arn(&role.name)).collect()
}

/// The subnets and security groups that launches will name.
fn network(cx: &Context<'_>, product: Product, setup: &mut Setup) {
    let of_account =
        |account: &str| format!("arn:{}:ec2:{}:{account}", setup.partition, setup.region);
    let ec2 = of_account(&setup.account);
    match product {
        Product::Karpenter => {
            let selectors = selectors(cx).unwrap_or_default();
            let subnets = selectors.iter().filter_map(|selector| selector.subnets(cx).ok());
            // A shared subnet belongs to another account.
            setup.subnet_arns = distinct(subnets.flatten().map(|subnet| {
                let owner = subnet.owner.as_deref().unwrap_or(&setup.account);
                format!("{}:subnet/{}", of_account(owner), subnet.id)
            }));
            let groups = selectors.iter().filter_map(|selector| selector.security_groups(cx).ok());
            setup.security_group_arns = distinct(
                groups.flatten().map(|group| format!("{ec2}:security-group/{}", group.id)),
            );
        }
        Product::AutoMode => {
            let network = cx.facts.cluster.value().map(|cluster: &Cluster| &cluster.network);
            let subnets = network.into_iter().flat_map(|network| &network.subnet_ids);
            setup.subnet_arns = subnets.map(|id| format!("{ec2}:subnet/{id}")).collect();
            let group = network.and_then(|network| network.cluster_security_group_id.as_ref());
            setup.security_group_arns =
                group.into_iter().map(|id| format!("{ec2}:security-group/{id}")).collect();
        }
    }
}

/// NodeClasses may select the same.
fn distinct(arns: impl Iterator<Item = String>) -> Vec<String> {
    arns.collect::<BTreeSet<_>>().into_iter().collect()
}

/// The ARN of the queue that the controller reads, if there is one.
fn queue(cx: &Context<'_>) -> Option<String> {
    let name = match &cx.target.queue {
        QueueTarget::Named(name) => names::queue_name(&name.value),
        QueueTarget::Found(found) => found.first()?,
        QueueTarget::None | QueueTarget::NotSeen => return None,
    };
    let read = cx.facts.queues.get(name).and_then(|queue| queue.value());
    let arn = read.and_then(|queue| queue.attributes.value()).map(|attributes| &attributes.arn);
    arn.cloned().or_else(|| {
        let target = cx.target;
        let account = cx.account()?;
        Some(format!("arn:{}:sqs:{}:{account}:{name}", target.partition, target.region.value))
    })
}
