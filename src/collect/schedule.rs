//! The schedule of calls: each starts as soon as its inputs are known, so that a run takes as
//! long as its longest chain of dependent calls.
//!
//! ```text
//! ListAccessEntries ─▶ DescribeAccessEntry, ListAssociatedAccessPolicies ─▶ GetRole, ListInstanceProfilesForRole
//! ListPodIdentityAssociations ─▶ DescribePodIdentityAssociation ─▶ GetRole
//! ListInstanceProfiles ─▶ GetRole, ListInstanceProfilesForRole
//! GetQueueUrl ─▶ GetQueueAttributes
//! GetQueueUrl ─▶ ListRuleNamesByTarget ─▶ DescribeRule
//! DescribeCluster ─▶ GetRole; DescribeSubnets, DescribeSecurityGroups of the VPC; GetParameters
//! ListNodegroups ─▶ DescribeNodegroup
//! GetCallerIdentity; GetRole by usual names; DescribeSubnets, DescribeSecurityGroups by tag; …
//! ```

use std::collections::BTreeMap;

use futures_util::future::join_all;
use tokio::join;

use super::{
    aws::{Aws, ec2},
    roles::Roles,
};
use crate::{
    facts::{
        Fact, Facts, arn,
        ec2::{SecurityGroup, Subnet},
        eks::{AccessEntry, AuthenticationMode, Cluster, PodIdentityAssociation},
        events::Rule,
        iam::InstanceProfile,
        sqs::Queue,
        ssm::ImageParameter,
    },
    target::{Scope, names},
};

/// Reads everything; every chain of calls is one branch of the join.
pub async fn read(aws: &Aws, scope: &Scope) -> Facts {
    let roles = Roles::new(aws);
    let tag = scope.discovery_tag();
    let (
        caller,
        cluster,
        node_groups,
        entries,
        associations,
        profiles,
        queues,
        account,
        tagged,
        (),
    ) = join!(
        aws.caller(),
        cluster_and_network(aws, &roles, scope),
        aws.node_groups(&scope.cluster),
        access_entries(aws, &roles, scope),
        associations(aws, &roles, scope),
        instance_profiles(aws, &roles, scope),
        queues(aws, scope),
        async { join!(aws.role_of_spot(), aws.imds_defaults()) },
        async { join!(aws.subnets(ec2::tagged(&tag)), aws.security_groups(ec2::tagged(&tag))) },
        named_roles(&roles, scope),
    );
    let access_entries = match cluster.cluster.value() {
        Some(cluster) if cluster.authentication_mode == AuthenticationMode::ConfigMap => {
            Fact::not_asked("the cluster's authentication mode CONFIG_MAP knows no access entries")
        }
        _ => entries,
    };
    let (roles, role_profiles) = roles.into_facts();
    Facts {
        caller,
        cluster: cluster.cluster,
        node_groups,
        access_entries,
        pod_identity_associations: associations,
        roles,
        instance_profiles: profiles,
        role_profiles,
        spot_role: account.0,
        imds_defaults: account.1,
        discovered_subnets: tagged.0,
        vpc_subnets: cluster.subnets,
        discovered_security_groups: tagged.1,
        vpc_security_groups: cluster.security_groups,
        queue_rules: queues.rules,
        queues: queues.queues,
        image_parameters: cluster.image_parameters,
    }
}

/// The cluster, and what can be asked only once it is known.
struct ClusterFacts {
    cluster: Fact<Cluster>,
    subnets: Fact<Vec<Subnet>>,
    security_groups: Fact<Vec<SecurityGroup>>,
    image_parameters: BTreeMap<String, Fact<ImageParameter>>,
}

async fn cluster_and_network(aws: &Aws, roles: &Roles<'_>, scope: &Scope) -> ClusterFacts {
    let fact = aws.cluster(&scope.cluster).await;
    let Some(cluster) = fact.value() else {
        return ClusterFacts {
            cluster: fact,
            subnets: Fact::not_asked("the cluster, and so its VPC, could not be read"),
            security_groups: Fact::not_asked("the cluster, and so its VPC, could not be read"),
            image_parameters: BTreeMap::new(),
        };
    };
    let auto_node_role = cluster.auto_mode.node_role_arn.as_deref().map(arn::role_name);
    let parameters = names::image_parameters(&cluster.version);
    let ((subnets, security_groups), image_parameters, (), ()) = join!(
        vpc(aws, cluster.network.vpc_id.as_deref()),
        aws.image_parameters(&parameters),
        roles.look_up([arn::role_name(&cluster.role_arn).to_owned()]),
        roles.look_up_node_roles(auto_node_role.map(str::to_owned)),
    );
    ClusterFacts { cluster: fact, subnets, security_groups, image_parameters }
}

async fn vpc(aws: &Aws, id: Option<&str>) -> (Fact<Vec<Subnet>>, Fact<Vec<SecurityGroup>>) {
    match id {
        Some(id) => {
            join!(aws.subnets(ec2::in_vpc(id)), aws.security_groups(ec2::in_vpc(id)))
        }
        None => {
            let why = "eks:DescribeCluster does not say in which VPC the cluster is";
            (Fact::not_asked(why), Fact::not_asked(why))
        }
    }
}

async fn access_entries(
    aws: &Aws,
    roles: &Roles<'_>,
    scope: &Scope,
) -> Fact<BTreeMap<String, Fact<AccessEntry>>> {
    let entries = aws.access_entries(&scope.cluster).await;
    let of_nodes = entries
        .value()
        .into_iter()
        .flatten()
        .filter(|(_, entry)| entry.value().is_some_and(|entry| is_node_type(&entry.entry_type)))
        .map(|(principal, _)| arn::role_name(principal).to_owned());
    roles.look_up_node_roles(of_nodes.collect::<Vec<_>>()).await;
    entries
}

fn is_node_type(entry_type: &str) -> bool {
    ["EC2", "EC2_LINUX", "EC2_WINDOWS"].iter().any(|kind| entry_type.eq_ignore_ascii_case(kind))
}

async fn associations(
    aws: &Aws,
    roles: &Roles<'_>,
    scope: &Scope,
) -> Fact<Vec<Fact<PodIdentityAssociation>>> {
    let wanted = |service_account: &str| {
        service_account == scope.service_account()
            || service_account.to_ascii_lowercase().contains("karpenter")
    };
    let associations = aws.pod_identity_associations(&scope.cluster, wanted).await;
    let names = associations
        .value()
        .into_iter()
        .flatten()
        .filter_map(|association| association.value())
        .map(|association| arn::role_name(&association.role_arn).to_owned());
    roles.look_up(names.collect::<Vec<_>>()).await;
    associations
}

/// The instance profiles that Karpenter 1.7 and later make, under a path of the cluster's own.
async fn instance_profiles(
    aws: &Aws,
    roles: &Roles<'_>,
    scope: &Scope,
) -> Fact<Vec<InstanceProfile>> {
    let path = format!("/karpenter/{}/{}/", scope.region, scope.cluster);
    let profiles = aws.instance_profiles(&path).await;
    let held = profiles.value().into_iter().flatten().flat_map(|profile| profile.roles.clone());
    roles.look_up_node_roles(held.collect::<Vec<_>>()).await;
    profiles
}

/// The roles that the user named, and those under the usual names.
async fn named_roles(roles: &Roles<'_>, scope: &Scope) {
    let name = |role: &String| arn::role_name(role).to_owned();
    let controllers: Vec<String> = match &scope.controller_role {
        Some(role) => vec![name(role)],
        None => names::controller_roles(&scope.cluster).into(),
    };
    let nodes: Vec<String> = if scope.node_roles.is_empty() {
        names::node_roles(&scope.cluster).into()
    } else {
        scope.node_roles.iter().map(name).collect()
    };
    join!(roles.look_up(controllers), roles.look_up_node_roles(nodes));
}

struct QueueFacts {
    queues: BTreeMap<String, Fact<Queue>>,
    rules: BTreeMap<String, Fact<Vec<Fact<Rule>>>>,
}

async fn queues(aws: &Aws, scope: &Scope) -> QueueFacts {
    let wanted: Vec<String> = match &scope.interruption_queue {
        Some(named) => vec![names::queue_name(named).to_owned()],
        None => names::queues(&scope.cluster).into(),
    };
    let found = join_all(wanted.into_iter().map(|name| async {
        let (queue, rules) = aws.queue_with_rules(&name, &scope.region).await;
        (name, queue, rules)
    }))
    .await;
    let mut facts = QueueFacts { queues: BTreeMap::new(), rules: BTreeMap::new() };
    for (name, queue, rules) in found {
        if queue != Fact::Absent {
            facts.rules.insert(name.clone(), rules);
        }
        facts.queues.insert(name, queue);
    }
    facts
}
