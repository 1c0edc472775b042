//! What the NodeClasses name: each thing is asked for once, however many NodeClasses name it.
//!
//! ```text
//! NodeClasses ─▶ DescribeSubnets, DescribeSecurityGroups; GetInstanceProfile ─▶ role
//! NodeClasses ─▶ GetParameters ─▶ DescribeImages ─▶ DescribeSnapshots of encrypted ones ─▶ key
//! NodePools ─▶ DescribeInstanceTypeOfferings
//! NodeClasses ─▶ DescribePlacementGroups, DescribeCapacityReservations
//! NodeClasses ─▶ DescribeKey, GetKeyPolicy, ListGrants
//! ```

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::join_all;
use tokio::join;

use super::{
    aws::{Aws, ec2},
    identities,
    network::keys,
    roles::Roles,
};
use crate::{
    facts::{
        Fact, arn,
        ec2::{CapacityReservation, Image, PlacementGroup, SecurityGroup, Snapshot, Subnet},
        eks::Cluster,
        iam::InstanceProfile,
        kms::Key,
        kubernetes::{
            Kubernetes,
            node_class::{AmiTerm, NodeClass, SelectorTerm},
        },
        selected::{ImageQuery, Query, Selected},
        ssm::ImageParameter,
    },
    target::{
        Scope,
        alias::Alias,
        names,
        selector::{self, Kind},
    },
};

/// What was learned about the things that NodeClasses name.
#[derive(Debug, Default)]
pub struct NodeClassFacts {
    pub subnets: Vec<Selected<Query, Subnet>>,
    pub security_groups: Vec<Selected<Query, SecurityGroup>>,
    pub parameters: BTreeMap<String, Fact<ImageParameter>>,
    pub images: BTreeMap<String, Fact<Image>>,
    pub selected_images: Vec<Selected<ImageQuery, Image>>,
    pub snapshots: BTreeMap<String, Fact<Snapshot>>,
    pub offerings: Fact<BTreeMap<String, BTreeSet<String>>>,
    pub named_profiles: BTreeMap<String, Fact<InstanceProfile>>,
    pub placement_groups: BTreeMap<String, Fact<PlacementGroup>>,
    pub reservations: Vec<Selected<SelectorTerm, CapacityReservation>>,
    /// The keys of volumes and snapshots.
    pub keys: Vec<(String, Fact<Key>)>,
}

/// Reads what the cluster's NodeClasses name. What the discovery tag selects, and the parameters
/// of the newest AL2023 images, are asked for elsewhere.
pub async fn read(
    aws: &Aws,
    roles: &Roles<'_>,
    scope: &Scope,
    cluster: Option<&Cluster>,
    kubernetes: &Kubernetes,
) -> NodeClassFacts {
    let version = cluster.map(|cluster| cluster.version.as_str());
    let of = |list: &'_ Fact<Vec<NodeClass>>| list.value().cloned().unwrap_or_default();
    let mut classes = of(&kubernetes.ec2_node_classes);
    classes.extend(of(&kubernetes.auto_node_classes));
    let by_tag = selector::by_tag(&scope.discovery_tag());
    let queries = |terms: fn(&NodeClass) -> Vec<&[SelectorTerm]>| -> BTreeSet<Query> {
        let terms = classes.iter().flat_map(terms);
        terms.flat_map(selector::queries).filter(|query| *query != by_tag).collect()
    };
    let subnets = queries(|class| vec![&class.subnet_terms, &class.pod_subnet_terms]);
    let groups =
        queries(|class| vec![&class.security_group_terms, &class.pod_security_group_terms]);
    let (subnets, security_groups, (parameters, images), selected_images, named_profiles, more) = join!(
        join_all(subnets.into_iter().map(|query| async {
            let found = aws.subnets(ec2::selected_by(Kind::Subnet, &query)).await;
            Selected { query, found }
        })),
        join_all(groups.into_iter().map(|query| async {
            let found = aws.security_groups(ec2::selected_by(Kind::SecurityGroup, &query)).await;
            Selected { query, found }
        })),
        images(aws, version, &classes),
        selected_images(aws, &classes),
        profiles(aws, roles, &classes),
        async {
            let named = classes.iter().flat_map(|class| &class.volumes);
            let named = named.filter_map(|volume| volume.kms_key.clone()).collect();
            join!(
                placement_groups(aws, &classes),
                reservations(aws, &classes),
                keys(aws, named),
                offerings(aws, kubernetes),
            )
        },
    );
    let (placement_groups, reservations, mut keys, offerings) = more;
    let found = selected_images.iter().filter_map(|one| one.found.value()).flatten();
    let found = images.values().filter_map(Fact::value).chain(found);
    let snapshots = snapshots(aws, &classes, found).await;
    keys.extend(keys_of_snapshots(aws, cluster, &snapshots, &keys).await);
    NodeClassFacts {
        subnets,
        security_groups,
        parameters,
        images,
        selected_images,
        snapshots,
        offerings,
        named_profiles,
        placement_groups,
        reservations,
        keys,
    }
}

/// The parameters of aliases and of the user's own, and the images in them and by id.
async fn images(
    aws: &Aws,
    version: Option<&str>,
    classes: &[NodeClass],
) -> (BTreeMap<String, Fact<ImageParameter>>, BTreeMap<String, Fact<Image>>) {
    let of_aliases = version.into_iter().flat_map(|version| {
        let aliases = classes.iter().filter_map(Alias::of);
        aliases.flat_map(move |alias| alias.parameters(version))
    });
    let public: BTreeSet<String> = of_aliases.map(|parameter| parameter.name).collect();
    let terms = || classes.iter().flat_map(|class| &class.ami_terms);
    let own: BTreeSet<String> = terms().filter_map(|term| term.ssm_parameter.clone()).collect();
    // The user's own may be denied where public ones are not, and that denies a whole call.
    let (public, own) = (Vec::from_iter(public), Vec::from_iter(own));
    let (mut parameters, own) = join!(aws.image_parameters(&public), aws.image_parameters(&own));
    parameters.extend(own);
    let named = parameters.values().filter_map(|fact| fact.value());
    let named = named.map(|parameter| parameter.image_id.clone());
    let ids = terms().filter_map(|term| term.id.clone()).chain(named);
    let ids: BTreeSet<String> = ids.filter(|id| id.starts_with("ami-")).collect();
    let images = aws.images(&Vec::from_iter(ids)).await;
    (parameters, images)
}

async fn selected_images(aws: &Aws, classes: &[NodeClass]) -> Vec<Selected<ImageQuery, Image>> {
    let is_query =
        |term: &&AmiTerm| term.alias.is_none() && term.id.is_none() && term.ssm_parameter.is_none();
    let terms = classes.iter().flat_map(|class| &class.ami_terms).filter(is_query);
    let queries: BTreeSet<ImageQuery> = terms.cloned().collect();
    join_all(queries.into_iter().map(|query| async {
        let found = aws.selected_images(&query).await;
        Selected { query, found }
    }))
    .await
}

/// The encrypted snapshots of images, which EKS's own have none of, and those that NodeClasses name.
async fn snapshots(
    aws: &Aws,
    classes: &[NodeClass],
    images: impl Iterator<Item = &Image>,
) -> BTreeMap<String, Fact<Snapshot>> {
    let of_images = images.flat_map(|image| &image.volumes);
    let encrypted = of_images.filter(|volume| volume.encrypted == Some(true));
    let encrypted = encrypted.filter_map(|volume| volume.snapshot.clone());
    let named = classes.iter().flat_map(|class| &class.volumes);
    let named = named.filter_map(|volume| volume.snapshot.clone());
    let ids: BTreeSet<String> = encrypted.chain(named).collect();
    aws.snapshots(&Vec::from_iter(ids)).await
}

/// The keys of snapshots, as far as they are the account's own: no other account's can be read.
async fn keys_of_snapshots(
    aws: &Aws,
    cluster: Option<&Cluster>,
    snapshots: &BTreeMap<String, Fact<Snapshot>>,
    known: &[(String, Fact<Key>)],
) -> Vec<(String, Fact<Key>)> {
    let own = cluster.and_then(|cluster| arn::account(&cluster.arn));
    let named = snapshots.values().filter_map(|fact| fact.value()?.kms_key.clone());
    let is_new = |key: &String| !known.iter().any(|(name, _)| name == key);
    keys(aws, named.filter(|key| arn::account(key) == own && is_new(key)).collect()).await
}

/// The instance profiles that NodeClasses name, and the roles in them.
async fn profiles(
    aws: &Aws,
    roles: &Roles<'_>,
    classes: &[NodeClass],
) -> BTreeMap<String, Fact<InstanceProfile>> {
    let named: BTreeSet<&str> =
        classes.iter().filter_map(|class| class.instance_profile.as_deref()).collect();
    let named = named.into_iter().filter(|name| names::is_profile_name(name));
    let profiles = join_all(named.map(|name| async move {
        let profile = aws.named_profile(name).await;
        let held = profile.value().into_iter().flat_map(|profile| profile.roles.clone());
        identities::node_roles(roles, held.collect()).await;
        (name.to_owned(), profile)
    }))
    .await;
    profiles.into_iter().collect()
}

/// Where the instance types that NodePools name are offered, in one call.
async fn offerings(aws: &Aws, kubernetes: &Kubernetes) -> Fact<BTreeMap<String, BTreeSet<String>>> {
    let pools = kubernetes.node_pools.value().into_iter().flatten();
    let named: BTreeSet<String> = pools.flat_map(names::instance_type_patterns).collect();
    if named.is_empty() {
        return Fact::not_asked("no NodePool names instance types or families");
    }
    aws.offerings(Vec::from_iter(named)).await
}

async fn placement_groups(
    aws: &Aws,
    classes: &[NodeClass],
) -> BTreeMap<String, Fact<PlacementGroup>> {
    let named: BTreeSet<&String> =
        classes.iter().filter_map(|class| class.placement_group.as_ref()).collect();
    let found =
        named.into_iter().map(|name| async { (name.clone(), aws.placement_group(name).await) });
    join_all(found).await.into_iter().collect()
}

async fn reservations(
    aws: &Aws,
    classes: &[NodeClass],
) -> Vec<Selected<SelectorTerm, CapacityReservation>> {
    let terms = classes.iter().flat_map(|class| &class.capacity_reservation_terms);
    let queries: BTreeSet<&SelectorTerm> = terms.collect();
    join_all(queries.into_iter().map(|term| async {
        Selected { query: term.clone(), found: aws.reservations(term).await }
    }))
    .await
}
