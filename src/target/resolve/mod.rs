//! From what the user said and what the account shows to what is checked.

mod controller;
mod entries;
mod node_roles;
mod organization;
mod product;
mod queue;
mod seen;
#[cfg(test)]
mod tests;

pub use self::node_roles::of_node_classes;
use self::{node_roles::NodeRoles, product::Judged, seen::Seen};
use super::{
    NodeRole, Origin, Product, QueueTarget, Scope, Sourced, Target, cluster_says, mismatch,
};
use crate::{
    facts::{
        Facts, arn,
        kubernetes::{Access, Kubernetes, Via, controller::Deployment},
    },
    requirements::version::KarpenterVersion,
};

/// Resolves the target. Pure: the same scope and facts give the same target.
pub fn resolve(scope: &Scope, facts: &Facts) -> Target {
    if scope.no_kube && facts.kubernetes != Kubernetes::default() {
        // Saved facts hold what this run is to leave alone.
        let without = Facts { kubernetes: Kubernetes::default(), ..facts.clone() };
        return resolve(scope, &without);
    }
    let deployment = cluster_says::controller(scope, &facts.kubernetes);
    let seen = Seen::of_karpenter(scope, facts);
    let mut notes = Vec::new();
    let judged = product::judged(scope, facts, &seen, &mut notes);
    let stage = product::stage(scope, facts, &seen, &judged, &mut notes);
    let NodeRoles { judged: node_roles, others } =
        node_roles::node_roles(scope, facts, &judged, &mut notes);
    notes.extend(organization::note(&facts.organization));
    let karpenter_version = version(scope, deployment, &judged, &mut notes);
    let controller_roles = controller::roles(scope, facts, deployment);
    let queue = queue::queue(scope, facts, deployment);
    way_in(facts, &mut notes);
    several_deployments(scope, facts, deployment, &mut notes);
    several_fit(&controller_roles, &node_roles, &queue, &mut notes);
    Target {
        cluster: scope.cluster.clone(),
        region: Sourced::new(scope.region.clone(), scope.region_origin),
        partition: arn::partition_of_region(&scope.region),
        stage,
        products: judged.products,
        product_unseen: judged.unseen,
        karpenter_version,
        namespace: said_or(
            scope.namespace.as_ref(),
            deployment.map(|deployment| deployment.meta.namespace.as_str()),
            scope.namespace(),
        ),
        service_account: said_or(
            scope.service_account.as_ref(),
            deployment.map(|deployment| deployment.service_account.as_str()),
            scope.service_account(),
        ),
        controller_roles,
        node_roles,
        other_node_roles: others,
        queue,
        discovery_tag: Sourced::new(
            scope.discovery_tag(),
            if scope.discovery_tag.is_some() { Origin::Flag } else { Origin::Default },
        ),
        node_class_tags: scope.nodeclass_tags.clone(),
        no_kube: scope.no_kube,
        thresholds: scope.thresholds,
        uses: scope.uses.clone(),
        notes,
    }
}

fn said_or(said: Option<&String>, found: Option<&str>, default: &str) -> Sourced<String> {
    match (said, found) {
        (Some(said), _) => Sourced::new(said.clone(), Origin::Flag),
        (None, Some(found)) => Sourced::new(found.to_owned(), Origin::Deployment),
        (None, None) => Sourced::new(default.to_owned(), Origin::Default),
    }
}

/// Says where the cluster was read through something that is not its endpoint.
fn way_in(facts: &Facts, notes: &mut Vec<String>) {
    let access = facts.kubernetes.access.value();
    let endpoint = facts.cluster.value().and_then(|cluster| cluster.endpoint.as_deref());
    if let (Some(Access { via: Via::Kubeconfig { context }, server, .. }), Some(endpoint)) =
        (access, endpoint)
        && !mismatch::same_server(server, endpoint)
    {
        notes.push(format!(
            "the cluster was read through {server} (context `{context}`), which is not its \
             endpoint {endpoint}: make sure that it leads there"
        ));
    }
}

/// Says where Karpenter is there more than once, of which one is judged.
fn several_deployments(
    scope: &Scope,
    facts: &Facts,
    judged: Option<&Deployment>,
    notes: &mut Vec<String>,
) {
    let found = facts.kubernetes.controllers.value().map(Vec::as_slice).unwrap_or_default();
    if let (Some(judged), true, None) = (judged, found.len() > 1, &scope.namespace) {
        let name = |one: &Deployment| format!("{}/{}", one.meta.namespace, one.meta.name);
        let all: Vec<_> = found.iter().map(name).collect();
        notes.push(format!(
            "several Deployments are Karpenter's ({}): judged is {}; name another one's with \
             --namespace",
            all.join(", "),
            name(judged)
        ));
    }
}

/// Says where several things fit, of which Karpenter uses one.
fn several_fit(
    controller_roles: &[Sourced<String>],
    node_roles: &[NodeRole],
    queue: &QueueTarget,
    notes: &mut Vec<String>,
) {
    let mut say = |names: Vec<&str>, what: &str, flag: &str| {
        if names.len() > 1 {
            let names = names.join(", ");
            notes.push(format!("several {what} ({names}); name the right one with {flag}"));
        }
    };
    let controllers = controller_roles.iter().filter(|role| role.origin != Origin::Flag);
    let controllers = controllers.map(|role| role.value.as_str()).collect();
    say(controllers, "roles could be the controller's", "--controller-role");
    // What a profile of Karpenter's holds is a node role for certain, and there may be many.
    let certain = [Origin::Flag, Origin::InstanceProfile, Origin::NodeClass];
    let karpenter = node_roles.iter().filter(|role| role.product == Product::Karpenter);
    let karpenter: Vec<_> = karpenter.collect();
    if karpenter.iter().any(|role| !certain.contains(&role.origin)) {
        let names = karpenter.iter().map(|role| role.name.as_str()).collect();
        say(names, "roles could be that of Karpenter's nodes", "--node-role");
    }
    if let QueueTarget::Found(names) = queue {
        let names = names.iter().map(String::as_str).collect();
        say(names, "queues could be the interruption queue", "--interruption-queue");
    }
}

fn version(
    scope: &Scope,
    deployment: Option<&Deployment>,
    judged: &Judged,
    notes: &mut Vec<String>,
) -> Sourced<KarpenterVersion> {
    let (oldest, newest) = (KarpenterVersion::OLDEST, KarpenterVersion::NEWEST);
    let said = scope.karpenter_version.map(|version| Sourced::new(version, Origin::Flag));
    let found = || {
        let version = deployment.and_then(cluster_says::version)?;
        Some(Sourced::new(version, Origin::Deployment))
    };
    let Some(Sourced { value: version, origin }) = said.or_else(found) else {
        if judged.runs(Product::Karpenter) {
            notes.push(format!(
                "the Karpenter version is not known: judged as {newest}, the newest known; say \
                 which with --karpenter-version"
            ));
        }
        return Sourced::new(newest, Origin::NewestKnown);
    };
    if version.is_newer_than_known() {
        notes.push(format!(
            "Karpenter {version} is newer than this build knows: judged by what {newest} asks"
        ));
    }
    if version < oldest {
        notes.push(format!(
            "Karpenter {version} is older than this build knows: judged by what {oldest} asks, \
             the first release with NodePools and EC2NodeClasses"
        ));
    }
    Sourced::new(version, origin)
}
