//! The set-up that requirements are asked for, from the target and the facts.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Context, Stop, node_classes,
    node_classes::Class,
    node_pools::{self, Values},
    selection::selectors,
};
use crate::{
    facts::{eks::Cluster, kubernetes::controller::Deployment},
    requirements::{Feature, Request, Setup},
    target::{
        Product, QueueTarget,
        alias::{Alias, Family},
        cluster_says::setting,
        names,
    },
};

/// What `product` asks for in this cluster, once for each NodeClass: its name and its tags are in
/// the requests. Without NodeClasses, once.
pub fn setups(cx: &Context<'_>, product: Product) -> Result<Vec<Setup>, Stop> {
    let base = setup(cx, product)?;
    let of_class = |class: &Class<'_>| {
        let mut setup = base.clone();
        setup.node_class = class.name().to_owned();
        setup.tags.extend(class.spec.tags.clone());
        if product == Product::Karpenter {
            setup.launch.extend(launch(class));
        }
        if let Some(pool) = node_pools::of(cx, class).next() {
            setup.node_pool.clone_from(&pool.meta.name);
        }
        setup
    };
    let classes = of_product(cx, product);
    Ok(if classes.is_empty() { vec![base] } else { classes.iter().map(of_class).collect() })
}

/// What a NodeClass decides of launches, where Karpenter or its custom resource has no other
/// default.
fn launch(class: &Class<'_>) -> BTreeMap<String, String> {
    let mut launch = BTreeMap::new();
    let mut set = |key: &str, value: String| launch.insert(key.to_owned(), value);
    if let Some(options) = &class.spec.metadata_options {
        if let Some(tokens) = &options.http_tokens {
            set("ec2:MetadataHttpTokens", tokens.clone());
        }
        if let Some(endpoint) = &options.http_endpoint {
            set("ec2:MetadataHttpEndpoint", endpoint.clone());
        }
        if let Some(hops) = options.http_put_response_hop_limit {
            set("ec2:MetadataHttpPutResponseHopLimit", hops.to_string());
        }
    }
    let custom = class.spec.ami_family.as_deref() == Some("Custom");
    let all = |wanted| class.spec.volumes.iter().all(|one| one.encrypted == Some(wanted));
    // Karpenter's own volumes are encrypted; of an image's own nothing is said.
    match class.spec.volumes.as_slice() {
        [] if custom => {}
        _ if all(true) => {
            set("ec2:Encrypted", "true".to_owned());
        }
        volumes if volumes.iter().any(|one| one.encrypted == Some(false)) => {
            set("ec2:Encrypted", "false".to_owned());
        }
        _ => {}
    }
    launch
}

/// The requests of several set-ups, each once.
pub fn distinct_requests(
    setups: &[Setup],
    requests: impl Fn(&Setup) -> Vec<Request>,
) -> Vec<Request> {
    let mut all: Vec<Request> = Vec::new();
    for request in setups.iter().flat_map(requests) {
        if !all.contains(&request) {
            all.push(request);
        }
    }
    all
}

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
    setup.tags.clone_from(&target.node_class_tags);
    if product == Product::Karpenter {
        of_node_classes(cx, &mut setup);
        of_controller(cx, &mut setup);
    }
    network(cx, product, &mut setup);
    if product == Product::Karpenter
        && let Some(queue) = queues(cx).into_iter().next()
    {
        setup.features.insert(Feature::Queue);
        setup.queue_arn = Some(queue);
    }
    said(cx, &mut setup);
    Ok(setup)
}

/// What the user says is in use, whatever the facts show.
fn said(cx: &Context<'_>, setup: &mut Setup) {
    let uses = &cx.target.uses;
    setup.features.extend(&uses.features);
    if !uses.ami_parameters.is_empty() {
        setup.ami_parameters = uses.ami_parameters.clone();
        setup.features.insert(Feature::SsmParameterAmi);
    }
}

fn of_product<'a>(cx: &Context<'a>, product: Product) -> Vec<Class<'a>> {
    node_classes::known(cx).into_iter().filter(|class| class.product == product).collect()
}

fn switch(setup: &mut Setup, feature: Feature, on: bool) {
    if on {
        setup.features.insert(feature);
    } else {
        setup.features.remove(&feature);
    }
}

/// What the EC2NodeClasses and their NodePools use, where they are known.
fn of_node_classes(cx: &Context<'_>, setup: &mut Setup) {
    let classes = of_product(cx, Product::Karpenter);
    if classes.is_empty() {
        return;
    }
    let any = |uses: &dyn Fn(&Class<'_>) -> bool| classes.iter().any(uses);
    let families = classes.iter().filter_map(|class| Alias::of(class.spec));
    let families: Vec<Family> = families.map(|alias| alias.family).collect();
    let is_al2023 = |class: &Class<'_>| class.spec.ami_family.as_deref() == Some("AL2023");
    switch(setup, Feature::Role, any(&|class| class.spec.role.is_some()));
    switch(setup, Feature::AliasAmi, !families.is_empty());
    switch(setup, Feature::Al2023, families.contains(&Family::Al2023) || any(&is_al2023));
    switch(setup, Feature::PlacementGroups, any(&|class| class.spec.placement_group.is_some()));
    let reserves = |class: &Class<'_>| !class.spec.capacity_reservation_terms.is_empty();
    switch(setup, Feature::CapacityReservations, any(&reserves));
    let snapshots = |class: &Class<'_>| class.spec.volumes.iter().any(|one| one.snapshot.is_some());
    switch(setup, Feature::Snapshots, any(&snapshots));
    let terms = classes.iter().flat_map(|class| &class.spec.ami_terms);
    let parameters = terms.filter_map(|term| term.ssm_parameter.as_deref());
    // An ARN ends with the name.
    let name = |parameter: &str| {
        let name = parameter.rsplit_once(":parameter").map_or(parameter, |(_, name)| name);
        name.trim_start_matches('/').to_owned()
    };
    setup.ami_parameters = distinct(parameters.map(name));
    switch(setup, Feature::SsmParameterAmi, !setup.ami_parameters.is_empty());
    if cx.facts.kubernetes.node_pools.value().is_some() {
        let mut pools = classes.iter().flat_map(|class| node_pools::of(cx, class));
        let spot = pools.any(|pool| Values::of(pool, "karpenter.sh/capacity-type").allows("spot"));
        switch(setup, Feature::Spot, spot);
    }
}

/// What the controller's own settings make it ask for, where they are known.
fn of_controller(cx: &Context<'_>, setup: &mut Setup) {
    let Ok(kubernetes) = cx.kubernetes() else { return };
    let is_it = |one: &&Deployment| {
        one.meta.namespace == setup.namespace && one.service_account == setup.service_account
    };
    let mut found = kubernetes.controllers.value().into_iter().flatten();
    let Some(controller) = found.find(is_it) else { return };
    let on = |name: &str| {
        setting(controller, name).is_some_and(|value| value.eq_ignore_ascii_case("true"))
    };
    switch(setup, Feature::ZonalShift, on("ENABLE_ZONAL_SHIFT"));
    switch(setup, Feature::NotIsolatedVpc, !on("ISOLATED_VPC"));
    switch(setup, Feature::EksControlPlane, on("EKS_CONTROL_PLANE"));
    switch(setup, Feature::DryRun, !on("DISABLE_DRY_RUN"));
    let endpoint = setting(controller, "CLUSTER_ENDPOINT");
    switch(setup, Feature::EndpointDiscovery, endpoint.is_none());
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

/// NodeClasses may name the same.
fn distinct(arns: impl Iterator<Item = String>) -> Vec<String> {
    arns.collect::<BTreeSet<_>>().into_iter().collect()
}

/// The ARNs of the queues that the controller may read: the named one, or those found under a
/// usual name, of which one is Karpenter's.
pub fn queues(cx: &Context<'_>) -> Vec<String> {
    let names: Vec<&str> = match &cx.target.queue {
        QueueTarget::Named(name) => vec![names::queue_name(&name.value)],
        QueueTarget::Found(found) => found.iter().map(String::as_str).collect(),
        QueueTarget::None | QueueTarget::NotSeen => Vec::new(),
    };
    names.into_iter().filter_map(|name| queue_arn(cx, name)).collect()
}

fn queue_arn(cx: &Context<'_>, name: &str) -> Option<String> {
    let read = cx.facts.queues.get(name).and_then(|queue| queue.value());
    let arn = read.and_then(|queue| queue.attributes.value()).map(|attributes| &attributes.arn);
    arn.cloned().or_else(|| {
        let target = cx.target;
        let account = cx.account()?;
        Some(format!("arn:{}:sqs:{}:{account}:{name}", target.partition, target.region.value))
    })
}
