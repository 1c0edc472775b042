//! What the account shows of Karpenter.

use super::{Origin, Scope, controller, entries, queue};
use crate::{
    facts::{Facts, Unseen, eks::AuthenticationMode},
    target::names,
};

/// Whether anything of Karpenter is there. What the user said is no sign of it: people name
/// what they are about to create.
pub enum Seen {
    /// It is, and what shows it.
    Yes(Origin),
    /// Every place where it leaves a trace was read, and there is none.
    No,
    /// No trace was found, and one of the places could not be read.
    NotKnown(Unseen),
}

impl Seen {
    pub fn of_karpenter(scope: &Scope, facts: &Facts) -> Self {
        match trace(scope, facts) {
            Some(origin) => Self::Yes(origin),
            None => unread(scope, facts).map_or(Self::No, Self::NotKnown),
        }
    }
}

/// What the cluster itself says: whether a controller or a NodeClass of Karpenter's is there.
/// Nothing where it could not be read, and of a Deployment alone.
pub fn in_cluster(facts: &Facts) -> Option<Result<Origin, ()>> {
    let kubernetes = &facts.kubernetes;
    let controllers = kubernetes.controllers.value()?;
    if !controllers.is_empty() {
        return Some(Ok(Origin::Deployment));
    }
    // A controller may run elsewhere; what it works with is in the cluster.
    match kubernetes.ec2_node_classes.found().ok()? {
        Some(classes) if !classes.is_empty() => Some(Ok(Origin::NodeClass)),
        _ => Some(Err(())),
    }
}

/// The surest trace of Karpenter.
fn trace(scope: &Scope, facts: &Facts) -> Option<Origin> {
    let cluster = &scope.cluster;
    let auto_mode = facts.cluster.value().is_some_and(|cluster| cluster.auto_mode.compute);
    match in_cluster(facts) {
        Some(Ok(origin)) => return Some(origin),
        // What an earlier install left in the account runs no nodes beside Auto Mode.
        Some(Err(())) if auto_mode => return None,
        _ => {}
    }
    let mut entries = entries::of_karpenter(facts).into_iter();
    let controllers = names::controller_roles(cluster).into_iter();
    let mut usual_roles = controllers.chain(names::node_roles(cluster));
    if !controller::associated(scope, facts).is_empty() {
        Some(Origin::PodIdentityAssociation)
    } else if facts.instance_profiles.value().is_some_and(|profiles| !profiles.is_empty()) {
        Some(Origin::InstanceProfile)
    } else if entries.any(|name| names::fits_node_role(&name, cluster)) {
        Some(Origin::AccessEntry)
    } else if usual_roles.any(|name| role_exists(facts, &name))
        || !queue::usual(scope, facts).is_empty()
    {
        Some(Origin::UsualName)
    } else {
        None
    }
}

pub fn role_exists(facts: &Facts, name: &str) -> bool {
    facts.roles.get(name).is_some_and(|role| role.value().is_some())
}

/// The first place without an answer where Karpenter would have left a trace. Roles and queues
/// of usual names are not looked for where the user says that they have others.
fn unread(scope: &Scope, facts: &Facts) -> Option<Unseen> {
    if in_cluster(facts).is_some() {
        return None;
    }
    let cluster = &scope.cluster;
    let mut roles = Vec::new();
    if scope.controller_role.is_none() {
        roles.extend(names::controller_roles(cluster));
    }
    if scope.node_roles.is_empty() {
        roles.extend(names::node_roles(cluster));
    }
    let roles = roles.iter().filter(|name| names::is_role_name(name)).map(|name| {
        let role = facts.roles.get(name).ok_or_else(|| never_read("role", name));
        role.and_then(|role| role.found().map(|_| ()))
    });
    let queues = if scope.interruption_queue.is_none() { &names::queues(cluster)[..] } else { &[] };
    let queues = queues.iter().map(|name| {
        let queue = facts.queues.get(name).ok_or_else(|| never_read("queue", name));
        queue.and_then(|queue| queue.found().map(|_| ()))
    });
    let mut all = [associations(facts), profiles(facts), entries(facts)]
        .into_iter()
        .chain(roles)
        .chain(queues);
    all.find_map(Result::err)
}

fn never_read(what: &str, name: &str) -> Unseen {
    Unseen::NotAsked { why: format!("the {what} {name} was not read") }
}

fn associations(facts: &Facts) -> Result<(), Unseen> {
    for association in facts.pod_identity_associations.found()?.into_iter().flatten() {
        association.found()?;
    }
    Ok(())
}

fn profiles(facts: &Facts) -> Result<(), Unseen> {
    facts.instance_profiles.found().map(|_| ())
}

fn entries(facts: &Facts) -> Result<(), Unseen> {
    let mode = facts.cluster.value().map(|cluster| cluster.authentication_mode);
    if mode == Some(AuthenticationMode::ConfigMap) {
        return Ok(());
    }
    for entry in facts.access_entries.found()?.into_iter().flat_map(|entries| entries.values()) {
        entry.found()?;
    }
    Ok(())
}
