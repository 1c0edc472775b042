//! What the cluster itself says, and what of AWS is asked because of it.

use std::collections::BTreeSet;

use tokio::join;

use super::{
    aws::Aws,
    identities,
    kubernetes::{self, Reach, access::Described},
    node_classes::{self, NodeClassFacts},
    queues::{self, QueueFacts},
    roles::Roles,
};
use crate::{
    facts::{
        Fact, arn,
        eks::{FargateProfile, PodIdentityAssociation},
        kubernetes::Kubernetes,
    },
    target::{ProductChoice, Scope, cluster_says, names},
};

/// What was read from the cluster, and because of it.
pub struct InCluster {
    pub kubernetes: Kubernetes,
    /// Queues that the controllers name and nobody looked for.
    pub queues: QueueFacts,
    /// Associations of a service account that nobody looked for.
    pub associations: Option<Fact<Vec<Fact<PodIdentityAssociation>>>>,
    /// Read only where the controller lacks nodes.
    pub fargate_profiles: Fact<Vec<FargateProfile>>,
    /// What the NodeClasses name.
    pub node_classes: NodeClassFacts,
}

/// What is asked because of the controllers.
struct OfControllers {
    queues: QueueFacts,
    associations: Option<Fact<Vec<Fact<PodIdentityAssociation>>>>,
    fargate_profiles: Fact<Vec<FargateProfile>>,
}

impl InCluster {
    fn unread(access: Fact<crate::facts::kubernetes::Access>) -> Self {
        let kubernetes = Kubernetes { access, ..Kubernetes::default() };
        Self {
            kubernetes,
            queues: QueueFacts::default(),
            associations: None,
            fargate_profiles: Fact::not_asked("what the controller runs on was not read"),
            node_classes: NodeClassFacts::default(),
        }
    }
}

/// Reads the cluster, unless the user wants it left alone.
pub async fn read(
    aws: &Aws,
    reach: &Reach,
    roles: &Roles<'_>,
    scope: &Scope,
    described: &Described,
) -> InCluster {
    if scope.no_kube {
        return InCluster::unread(Fact::not_asked("the cluster is not asked (--no-kube)"));
    }
    let (server, access) = match reach.server(described, &scope.region).await {
        Fact::Known(way) => way,
        unseen => return InCluster::unread(unseen.and_then(|_| Fact::Absent)),
    };
    let cluster = described.cluster.value();
    let own = cluster.and_then(|cluster| arn::account(&cluster.arn));
    let (kubernetes, of_controllers, node_classes) = kubernetes::read(
        &server,
        access,
        async |facts| follow_controllers(aws, roles, scope, own, facts).await,
        async |facts| {
            let (node_classes, ()) = join!(
                node_classes::read(aws, roles, scope, cluster, facts),
                follow_node_classes(roles, own, facts),
            );
            node_classes
        },
    )
    .await;
    let OfControllers { queues, associations, fargate_profiles } = of_controllers;
    InCluster { kubernetes, queues, associations, fargate_profiles, node_classes }
}

/// The roles, queues and associations that the controllers name, and what else they could run
/// on.
async fn follow_controllers(
    aws: &Aws,
    roles: &Roles<'_>,
    scope: &Scope,
    own: Option<&str>,
    facts: &Kubernetes,
) -> OfControllers {
    let found = facts.controllers.value().map(Vec::as_slice).unwrap_or_default();
    let known = queues::first_queues(scope);
    let named = found.iter().filter_map(cluster_says::queue);
    let named: BTreeSet<String> = named.map(|name| names::queue_name(&name).to_owned()).collect();
    let unknown = named.into_iter().filter(|name| !known.contains(name)).collect();
    let controller_roles = found.iter().flat_map(|one| cluster_says::controller_roles(facts, one));
    let controller_roles = controller_roles.map(|role| role.value).filter(|role| is_own(role, own));
    let controller_roles: BTreeSet<_> =
        controller_roles.map(|role| arn::role_name(&role).to_owned()).collect();
    let accounts: Vec<_> = found
        .iter()
        .filter(|one| !identities::is_wanted(scope, &one.service_account))
        .map(|one| (one.meta.namespace.clone(), one.service_account.clone()))
        .collect();
    let (queues, associations, fargate_profiles, ()) = join!(
        queues::queues_of(aws, scope, unknown),
        associations(aws, roles, scope, &accounts),
        fargate_profiles(aws, scope, facts),
        roles.look_up_guessed(controller_roles),
    );
    OfControllers { queues, associations, fargate_profiles }
}

/// The Fargate profiles, where they decide whether the controller has something to run on: a
/// replica is not ready, or none is installed yet.
async fn fargate_profiles(
    aws: &Aws,
    scope: &Scope,
    facts: &Kubernetes,
) -> Fact<Vec<FargateProfile>> {
    match facts.controllers.value() {
        Some(found) if found.iter().all(|one| one.ready_replicas >= one.replicas) => {
            match found.is_empty() && scope.product != ProductChoice::AutoMode {
                true => aws.fargate_profiles(&scope.cluster).await,
                false => Fact::not_asked("every replica of the controller is ready without them"),
            }
        }
        Some(_) => aws.fargate_profiles(&scope.cluster).await,
        None => Fact::not_asked("the controllers of the cluster are not known"),
    }
}

/// The associations of service accounts that no name shows to be Karpenter's.
async fn associations(
    aws: &Aws,
    roles: &Roles<'_>,
    scope: &Scope,
    accounts: &[(String, String)],
) -> Option<Fact<Vec<Fact<PodIdentityAssociation>>>> {
    if accounts.is_empty() {
        return None;
    }
    let wanted = |name: &str| accounts.iter().any(|(_, known)| known == name);
    let read = aws.pod_identity_associations(&scope.cluster, wanted).await;
    // Another namespace may have a service account of the same name.
    let is_theirs = |found: &PodIdentityAssociation| {
        accounts.iter().any(|(namespace, name)| {
            (namespace, name) == (&found.namespace, &found.service_account)
        })
    };
    let read = read.map(|mut all| {
        all.retain(|one| one.value().is_none_or(is_theirs));
        all
    });
    identities::roles_of_associations(roles, &read).await;
    Some(read)
}

/// The roles that NodeClasses give to nodes.
async fn follow_node_classes(roles: &Roles<'_>, own: Option<&str>, facts: &Kubernetes) {
    let named = cluster_says::node_roles(facts).into_iter().map(|(role, _)| role);
    let named = named.filter(|role| is_own(role, own));
    let named: BTreeSet<_> = named.map(|role| arn::role_name(&role).to_owned()).collect();
    join!(roles.look_up_guessed(named.clone()), roles.look_up_node_roles(named));
}

/// Whether a role can be read from here: by its name, or in the cluster's own account.
fn is_own(role: &str, own: Option<&str>) -> bool {
    arn::account(role).is_none() || arn::account(role) == own
}
