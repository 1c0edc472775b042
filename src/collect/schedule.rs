//! The schedule of calls: each starts as soon as its inputs are known, so that a run takes as
//! long as its longest chain of dependent calls.
//!
//! ```text
//! ListAccessEntries ─▶ DescribeAccessEntry, ListAssociatedAccessPolicies ─▶ role
//! ListPodIdentityAssociations ─▶ DescribePodIdentityAssociation ─▶ role
//! ListInstanceProfiles ─▶ role
//! role: GetRole, ListInstanceProfilesForRole, ListRolePolicies ─▶ GetRolePolicy,
//!       ListAttachedRolePolicies ─▶ GetPolicyVersion; of its boundary GetPolicy before
//! GetQueueUrl ─▶ GetQueueAttributes ─▶ DescribeKey ─▶ GetKeyPolicy, ListGrants
//! GetQueueUrl ─▶ ListRuleNamesByTarget ─▶ DescribeRule
//! DescribeCluster ─▶ role; GetOpenIDConnectProvider; GetParameters; all of the VPC;
//!       DescribeVpcs ─▶ DescribeDhcpOptions; DescribeSubnets ─▶ what blocks public access
//! DescribeCluster ─▶ the API server's lists; its Deployments ─▶ service account ─▶ role, queue;
//!       where a replica is not ready, ListFargateProfiles ─▶ DescribeFargateProfile;
//!       its NodeClasses ─▶ what they name (`node_classes.rs`)
//! ListNodegroups ─▶ DescribeNodegroup
//! GetEbsDefaultKmsKeyId ─▶ DescribeKey, GetKeyPolicy, ListGrants
//! DescribeOrganization ─▶ ListParents of the account ─▶ ListParents up to the root, beside them
//!       ListPoliciesForTarget ─▶ DescribePolicy
//! GetCallerIdentity; ListPolicies; ListServiceQuotas; DescribeInstances; DescribeLaunchTemplates; GetAccountSummary; DescribeAddon; GetRole by usual names ─▶ policies of those that exist; DescribeSubnets, DescribeSecurityGroups by tag; …
//! ```

use std::collections::BTreeMap;

use futures_util::future::join_all;
use tokio::join;

use super::{
    account,
    aws::{Aws, ec2},
    identities::{
        access_entries, all_of, associations, instance_profiles, named_roles, node_roles,
    },
    in_cluster::{self, InCluster},
    kubernetes::Reach,
    network::VpcFacts,
    organization,
    queues::queues,
    roles::Roles,
};
use crate::{
    facts::{
        Fact, Facts,
        account::Caller,
        arn,
        ec2::{SecurityGroup, Subnet},
        eks::{Addon, AuthenticationMode, Cluster},
        iam::OidcProvider,
        organizations::Organization,
        selected::Query,
        ssm::ImageParameter,
    },
    target::{
        ProductChoice, Scope, names,
        selector::{self, Kind},
    },
};

/// Reads everything; every chain of calls is one branch of the join.
pub async fn read(aws: &Aws, reach: &Reach, scope: &Scope) -> Facts {
    let roles = Roles::new(aws);
    let by_tag = selector::by_tag(&scope.discovery_tag());
    let (
        (caller, organization),
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
        caller_and_organization(aws),
        cluster_and_network(aws, reach, &roles, scope),
        aws.node_groups(&scope.cluster),
        access_entries(aws, &roles, scope),
        associations(aws, &roles, scope),
        instance_profiles(aws, &roles, scope),
        queues(aws, scope),
        account::read(aws, &scope.cluster),
        selected(aws, &by_tag),
        named_roles(&roles, scope),
    );
    roles.fetch_boundaries().await;
    let access_entries = match cluster.cluster.value() {
        Some(cluster) if cluster.authentication_mode == AuthenticationMode::ConfigMap => {
            Fact::not_asked("the cluster's authentication mode CONFIG_MAP knows no access entries")
        }
        _ => entries,
    };
    let roles = roles.into_facts();
    let InCluster {
        kubernetes,
        queues: named,
        associations: of_others,
        fargate_profiles,
        node_classes,
    } = cluster.inside;
    let mut image_parameters = cluster.image_parameters;
    image_parameters.extend(node_classes.parameters);
    let queues = queues.and(named);
    let kms_keys = account.keys.into_iter().chain(queues.keys).chain(node_classes.keys).collect();
    Facts {
        caller,
        organization,
        cluster: cluster.cluster,
        node_groups,
        fargate_profiles,
        access_entries,
        pod_identity_associations: all_of(associations, of_others),
        addons: cluster.addons,
        oidc_provider: cluster.oidc_provider,
        roles: roles.roles,
        simulations: BTreeMap::new(),
        proofs: Fact::default(),
        role_policies: roles.role_policies,
        policies: roles.policies,
        instance_profiles: profiles,
        role_profiles: roles.profiles,
        spot_role: account.spot_role,
        imds_defaults: account.imds_defaults,
        allowed_images: account.allowed_images,
        ebs_default_key: account.ebs_default_key,
        kms_keys,
        limits: account.limits,
        discovered_subnets: tagged.0,
        vpc_subnets: cluster.vpc.subnets,
        discovered_security_groups: tagged.1,
        vpc_security_groups: cluster.vpc.security_groups,
        network: cluster.vpc.network,
        selected_subnets: node_classes.subnets,
        selected_security_groups: node_classes.security_groups,
        images: node_classes.images,
        selected_images: node_classes.selected_images,
        snapshots: node_classes.snapshots,
        offerings: node_classes.offerings,
        named_profiles: node_classes.named_profiles,
        placement_groups: node_classes.placement_groups,
        selected_reservations: node_classes.reservations,
        queue_rules: queues.rules,
        queues: queues.queues,
        image_parameters,
        kubernetes,
    }
}

async fn caller_and_organization(aws: &Aws) -> (Fact<Caller>, Fact<Organization>) {
    let (caller, organization) = join!(aws.caller(), aws.organization());
    let Some(account) = caller.value().map(|caller| caller.account.clone()) else {
        let why = "the caller, and so its account, is not known";
        return (caller, organization.and_then(|_| Fact::not_asked(why)));
    };
    let organization = match organization {
        Fact::Known(ids) => Fact::Known(organization::read(aws, ids, &account).await),
        unseen => unseen.and_then(|_| Fact::Absent),
    };
    (caller, organization)
}

/// The cluster, and what can be asked only once it is known.
struct ClusterFacts {
    cluster: Fact<Cluster>,
    addons: BTreeMap<String, Fact<Addon>>,
    vpc: VpcFacts,
    image_parameters: BTreeMap<String, Fact<ImageParameter>>,
    oidc_provider: Fact<OidcProvider>,
    inside: InCluster,
}

async fn cluster_and_network(
    aws: &Aws,
    reach: &Reach,
    roles: &Roles<'_>,
    scope: &Scope,
) -> ClusterFacts {
    let (mut facts, addons) = join!(
        cluster_and_vpc(aws, reach, roles, scope),
        addons(aws, scope, &names::IDENTITY_ADDONS),
    );
    // The CNI's add-on shows it, or only the cluster itself where the CNI is no add-on.
    let inside = facts.inside.kubernetes.cni.value();
    if names::takes_prefixes(&addons) || inside.is_some_and(|cni| cni.prefix_delegation) {
        facts.vpc.read_used_blocks(aws).await;
    }
    facts.addons.extend(addons);
    facts
}

async fn cluster_and_vpc(
    aws: &Aws,
    reach: &Reach,
    roles: &Roles<'_>,
    scope: &Scope,
) -> ClusterFacts {
    let described = aws.cluster(&scope.cluster).await;
    let Some(cluster) = described.cluster.value() else {
        let inside = in_cluster::read(aws, reach, roles, scope, &described).await;
        return ClusterFacts {
            cluster: described.cluster,
            addons: BTreeMap::new(),
            vpc: VpcFacts::not_asked("the cluster, and so its VPC, could not be read"),
            image_parameters: BTreeMap::new(),
            oidc_provider: Fact::not_asked("the cluster, and so its issuer, could not be read"),
            inside,
        };
    };
    let auto_mode = cluster.auto_mode.compute || scope.product == ProductChoice::AutoMode;
    let auto_node_role = cluster.auto_mode.node_role_arn.as_deref().map(arn::role_name);
    let parameters = names::image_parameters(&cluster.version);
    let of_auto_mode = if auto_mode { names::AUTO_MODE_ADDONS.as_slice() } else { &[] };
    let (inside, vpc, image_parameters, oidc_provider, addons, (), ()) = join!(
        in_cluster::read(aws, reach, roles, scope, &described),
        vpc(aws, cluster.network.vpc_id.as_deref(), auto_mode),
        aws.image_parameters(&parameters),
        oidc_provider(aws, cluster),
        addons(aws, scope, of_auto_mode),
        cluster_role(roles, cluster, auto_mode),
        node_roles(roles, auto_node_role.map(str::to_owned).into_iter().collect()),
    );
    let cluster = described.cluster;
    ClusterFacts { cluster, addons, vpc, image_parameters, oidc_provider, inside }
}

/// Only Auto Mode acts with permissions of the cluster's role that are worth judging.
async fn cluster_role(roles: &Roles<'_>, cluster: &Cluster, auto_mode: bool) {
    let name = arn::role_name(&cluster.role_arn).to_owned();
    if auto_mode {
        roles.look_up_with_policies([name]).await;
    } else {
        roles.look_up([name]).await;
    }
}

async fn oidc_provider(aws: &Aws, cluster: &Cluster) -> Fact<OidcProvider> {
    match arn::oidc_provider(cluster) {
        Some(arn) => aws.oidc_provider(&arn).await,
        None => Fact::not_asked("eks:DescribeCluster does not say who issues the cluster's tokens"),
    }
}

async fn addons(aws: &Aws, scope: &Scope, wanted: &[&str]) -> BTreeMap<String, Fact<Addon>> {
    let found =
        join_all(wanted.iter().map(|name| async move {
            ((*name).to_owned(), aws.addon(&scope.cluster, name).await)
        }));
    found.await.into_iter().collect()
}

/// What a tag selects.
async fn selected(aws: &Aws, by_tag: &Query) -> (Fact<Vec<Subnet>>, Fact<Vec<SecurityGroup>>) {
    join!(
        aws.subnets(ec2::selected_by(Kind::Subnet, by_tag)),
        aws.security_groups(ec2::selected_by(Kind::SecurityGroup, by_tag)),
    )
}

async fn vpc(aws: &Aws, id: Option<&str>, blocks: bool) -> VpcFacts {
    match id {
        Some(id) => VpcFacts::read(aws, id, blocks).await,
        None => VpcFacts::not_asked("eks:DescribeCluster does not say in which VPC the cluster is"),
    }
}
