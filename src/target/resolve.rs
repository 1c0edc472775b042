//! From what the user said and what the account shows to what is checked.

use std::collections::BTreeSet;

use super::{
    NodeRole, Origin, Product, ProductChoice, QueueTarget, Scope, Sourced, Stage, StageChoice,
    Target, names,
};
use crate::{
    facts::{Facts, Unseen, arn, eks::PodIdentityAssociation},
    requirements::version::KarpenterVersion,
};

/// Resolves the target. Pure: the same scope and facts give the same target.
pub fn resolve(scope: &Scope, facts: &Facts) -> Target {
    let mut notes = Vec::new();
    let controller_roles = controller_roles(scope, facts);
    let queue = queue(scope, facts);
    let karpenter_nodes = karpenter_node_roles(scope, facts);
    let karpenter_seen = !controller_roles.is_empty()
        || !karpenter_nodes.is_empty()
        || matches!(queue, QueueTarget::Found(_));
    let (products, product_unseen) = products(scope, facts, karpenter_seen, &mut notes);
    let mut node_roles = Vec::new();
    for product in &products {
        match product.value {
            Product::Karpenter => node_roles.extend(karpenter_nodes.clone()),
            Product::AutoMode => node_roles.extend(auto_mode_node_roles(scope, facts)),
        }
    }
    notes.push(
        "permissions are judged without your organisation's policies (SCPs and RCPs), which a \
         member account cannot read"
            .to_owned(),
    );
    if let (Err(unseen), true) = (facts.node_groups.known(), found_by_entry(&node_roles)) {
        notes.push(format!(
            "the managed node groups are not known ({unseen}): a role of theirs may be among the \
             node roles"
        ));
    }
    let karpenter_version = version(scope, &products, &mut notes);
    if controller_roles.len() > 1 {
        let found: Vec<_> = controller_roles.iter().map(|role| role.value.as_str()).collect();
        notes.push(format!(
            "several roles could be the controller's ({}); name the right one with --controller-role",
            found.join(", ")
        ));
    }
    Target {
        cluster: scope.cluster.clone(),
        region: Sourced::new(scope.region.clone(), scope.region_origin),
        partition: arn::partition_of_region(&scope.region),
        stage: stage(scope, karpenter_seen, &products),
        products,
        product_unseen,
        karpenter_version,
        namespace: said_or(scope.namespace.as_ref(), scope.namespace()),
        service_account: said_or(scope.service_account.as_ref(), scope.service_account()),
        controller_roles,
        node_roles,
        queue,
        discovery_tag: Sourced::new(
            scope.discovery_tag(),
            if scope.discovery_tag.is_some() { Origin::Flag } else { Origin::Default },
        ),
        notes,
    }
}

fn found_by_entry(roles: &[NodeRole]) -> bool {
    roles.iter().any(|role| role.origin == Origin::AccessEntry)
}

fn said_or(said: Option<&String>, value: &str) -> Sourced<String> {
    let origin = if said.is_some() { Origin::Flag } else { Origin::Default };
    Sourced::new(value.to_owned(), origin)
}

fn products(
    scope: &Scope,
    facts: &Facts,
    karpenter_seen: bool,
    notes: &mut Vec<String>,
) -> (Vec<Sourced<Product>>, Option<Unseen>) {
    match scope.product {
        ProductChoice::Karpenter => (vec![Sourced::new(Product::Karpenter, Origin::Flag)], None),
        ProductChoice::AutoMode => (vec![Sourced::new(Product::AutoMode, Origin::Flag)], None),
        ProductChoice::Auto => {
            let (auto_mode, unseen) = match facts.cluster.known() {
                Ok(cluster) => (cluster.auto_mode.compute, None),
                Err(unseen) => (false, Some(unseen)),
            };
            let mut found = Vec::new();
            if karpenter_seen || said_something_of_karpenter(scope) {
                found.push(Sourced::new(Product::Karpenter, Origin::UsualName));
            } else if !auto_mode && unseen.is_none() {
                found.push(Sourced::new(Product::Karpenter, Origin::Default));
                notes.push(
                    "nothing of Karpenter was found, and EKS Auto Mode is off: judged as before \
                     an install of Karpenter"
                        .to_owned(),
                );
            }
            if auto_mode {
                found.push(Sourced::new(Product::AutoMode, Origin::Cluster));
            }
            if let Some(unseen) = &unseen {
                notes.push(format!(
                    "whether EKS Auto Mode is on is not known ({unseen}); say what runs the nodes \
                     with --product"
                ));
            }
            (found, unseen)
        }
    }
}

fn said_something_of_karpenter(scope: &Scope) -> bool {
    scope.karpenter_version.is_some()
        || scope.controller_role.is_some()
        || scope.interruption_queue.is_some()
}

fn stage(scope: &Scope, karpenter_seen: bool, products: &[Sourced<Product>]) -> Sourced<Stage> {
    match scope.stage {
        StageChoice::Before => Sourced::new(Stage::Before, Origin::Flag),
        StageChoice::After => Sourced::new(Stage::After, Origin::Flag),
        StageChoice::Auto => {
            let auto_mode = products.iter().any(|found| found.origin == Origin::Cluster);
            let stage = if karpenter_seen || auto_mode { Stage::After } else { Stage::Before };
            Sourced::new(stage, Origin::Default)
        }
    }
}

fn version(
    scope: &Scope,
    products: &[Sourced<Product>],
    notes: &mut Vec<String>,
) -> Sourced<KarpenterVersion> {
    let newest = KarpenterVersion::NEWEST;
    let runs_karpenter = products.iter().any(|found| found.value == Product::Karpenter);
    match scope.karpenter_version {
        Some(version) => {
            if version.is_newer_than_known() {
                notes.push(format!(
                    "Karpenter {version} is newer than this build knows: judged by what {newest} asks"
                ));
            }
            Sourced::new(version, Origin::Flag)
        }
        None => {
            if runs_karpenter {
                notes.push(format!(
                    "the Karpenter version is not known: judged as {newest}, the newest known; \
                     say which with --karpenter-version"
                ));
            }
            Sourced::new(newest, Origin::NewestKnown)
        }
    }
}

/// The roles that may be the controller's: named, else associated with its service account,
/// else under a usual name.
fn controller_roles(scope: &Scope, facts: &Facts) -> Vec<Sourced<String>> {
    if let Some(role) = &scope.controller_role {
        return vec![Sourced::new(arn::role_name(role).to_owned(), Origin::Flag)];
    }
    let associations: Vec<&PodIdentityAssociation> = facts
        .pod_identity_associations
        .value()
        .into_iter()
        .flatten()
        .filter_map(|association| association.value())
        .filter(|association| association.service_account != names::CNI_SERVICE_ACCOUNT)
        .collect();
    let exact = associations.iter().filter(|association| {
        association.namespace == scope.namespace()
            && association.service_account == scope.service_account()
    });
    let mut associated: BTreeSet<&str> =
        exact.map(|association| arn::role_name(&association.role_arn)).collect();
    if associated.is_empty() && scope.service_account.is_none() {
        // Another namespace, or a service account by another name that says Karpenter.
        let any = associations.iter().map(|association| arn::role_name(&association.role_arn));
        associated = any.collect();
    }
    if !associated.is_empty() {
        return associated
            .into_iter()
            .map(|name| Sourced::new(name.to_owned(), Origin::PodIdentityAssociation))
            .collect();
    }
    names::controller_roles(&scope.cluster)
        .into_iter()
        .filter(|name| role_exists(facts, name))
        .map(|name| Sourced::new(name, Origin::UsualName))
        .collect()
}

fn role_exists(facts: &Facts, name: &str) -> bool {
    facts.roles.get(name).is_some_and(|role| role.value().is_some())
}

/// The roles that Karpenter's nodes may run with: named, else held by instance profiles that
/// Karpenter made, else mapped by an access entry that is no node group's, else under a usual
/// name.
fn karpenter_node_roles(scope: &Scope, facts: &Facts) -> Vec<NodeRole> {
    let found = |name: String, origin| NodeRole { name, product: Product::Karpenter, origin };
    let mut seen = BTreeSet::new();
    let mut roles = Vec::new();
    let mut add = |name: &str, origin| {
        if seen.insert(name.to_owned()) {
            roles.push(found(name.to_owned(), origin));
        }
    };
    // With both products and no choice made, a named role is judged for the one whose access
    // entry it has; see `auto_mode_node_roles`.
    let named: Vec<_> =
        scope.node_roles.iter().filter(|role| !is_auto_mode_role(scope, facts, role)).collect();
    if !scope.node_roles.is_empty() {
        named.iter().for_each(|role| add(arn::role_name(role), Origin::Flag));
        return roles;
    }
    for profile in facts.instance_profiles.value().into_iter().flatten() {
        profile.roles.iter().for_each(|role| add(role, Origin::InstanceProfile));
    }
    for name in entry_roles(facts, &["EC2_LINUX", "EC2_WINDOWS"]) {
        if names::fits_node_role(&name, &scope.cluster) {
            add(&name, Origin::AccessEntry);
        }
    }
    for name in names::node_roles(&scope.cluster) {
        if role_exists(facts, &name) {
            add(&name, Origin::UsualName);
        }
    }
    roles
}

fn auto_mode_node_roles(scope: &Scope, facts: &Facts) -> Vec<NodeRole> {
    let found =
        |name: &str, origin| NodeRole { name: name.to_owned(), product: Product::AutoMode, origin };
    let named: Vec<_> = scope
        .node_roles
        .iter()
        .filter(|role| is_auto_mode_role(scope, facts, role))
        .map(|role| found(arn::role_name(role), Origin::Flag))
        .collect();
    if !named.is_empty() {
        return named;
    }
    let mut roles = Vec::new();
    let built_in =
        facts.cluster.value().and_then(|cluster| cluster.auto_mode.node_role_arn.as_deref());
    roles.extend(built_in.map(|role| found(arn::role_name(role), Origin::Cluster)));
    for name in entry_roles(facts, &["EC2"]) {
        if roles.iter().all(|role| role.name != name) {
            roles.push(found(&name, Origin::AccessEntry));
        }
    }
    roles
}

/// Whether a role that the user named is Auto Mode's: by the user's choice of product, else by
/// the cluster's own node role or the type of the role's access entry.
fn is_auto_mode_role(scope: &Scope, facts: &Facts, role: &str) -> bool {
    match scope.product {
        ProductChoice::Karpenter => false,
        ProductChoice::AutoMode => true,
        ProductChoice::Auto => {
            let name = arn::role_name(role);
            let built_in = facts
                .cluster
                .value()
                .and_then(|cluster| cluster.auto_mode.node_role_arn.as_deref())
                .is_some_and(|built_in| arn::role_name(built_in) == name);
            built_in || entry_roles(facts, &["EC2"]).iter().any(|found| found == name)
        }
    }
}

/// Names of the roles with an access entry of one of these types, without the roles of managed
/// node groups.
fn entry_roles(facts: &Facts, types: &[&str]) -> Vec<String> {
    let of_node_groups: BTreeSet<&str> = facts
        .node_groups
        .value()
        .into_iter()
        .flatten()
        .filter_map(|group| group.node_role_arn.as_deref())
        .collect();
    facts
        .access_entries
        .value()
        .into_iter()
        .flatten()
        .filter(|(principal, _)| !of_node_groups.contains(principal.as_str()))
        .filter(|(_, entry)| {
            entry.value().is_some_and(|entry| {
                types.iter().any(|kind| kind.eq_ignore_ascii_case(&entry.entry_type))
            })
        })
        .map(|(principal, _)| arn::role_name(principal).to_owned())
        .collect()
}

fn queue(scope: &Scope, facts: &Facts) -> QueueTarget {
    if let Some(named) = &scope.interruption_queue {
        return QueueTarget::Named(named.clone());
    }
    let usual = names::queues(&scope.cluster);
    let found: Vec<String> = usual
        .iter()
        .filter(|name| facts.queues.get(*name).is_some_and(|queue| queue.value().is_some()))
        .cloned()
        .collect();
    let all_seen =
        usual.iter().all(|name| facts.queues.get(name).is_some_and(|queue| queue.found().is_ok()));
    match (found.is_empty(), all_seen) {
        (false, _) => QueueTarget::Found(found),
        (true, true) => QueueTarget::None,
        (true, false) => QueueTarget::NotSeen,
    }
}
