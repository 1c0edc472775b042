//! The interruption queue.

use super::{Origin, QueueTarget, Scope, Sourced};
use crate::{
    facts::{Facts, kubernetes::controller::Deployment},
    target::{cluster_says, names},
};

/// The queue that the user named, else the one that the controller is set to read, else those
/// under usual names.
pub fn queue(scope: &Scope, facts: &Facts, deployment: Option<&Deployment>) -> QueueTarget {
    if let Some(named) = &scope.interruption_queue {
        return QueueTarget::Named(Sourced::new(named.clone(), Origin::Flag));
    }
    if let Some(set) = deployment.and_then(cluster_says::queue) {
        return QueueTarget::Named(Sourced::new(set, Origin::Deployment));
    }
    let found = usual(scope, facts);
    let all_seen = names::queues(&scope.cluster)
        .iter()
        .all(|name| facts.queues.get(name).is_some_and(|queue| queue.found().is_ok()));
    match (found.is_empty(), all_seen) {
        (false, _) => QueueTarget::Found(found),
        (true, true) => QueueTarget::None,
        (true, false) => QueueTarget::NotSeen,
    }
}

/// The queues that exist under a usual name.
pub fn usual(scope: &Scope, facts: &Facts) -> Vec<String> {
    let exists =
        |name: &String| facts.queues.get(name).is_some_and(|queue| queue.value().is_some());
    names::queues(&scope.cluster).into_iter().filter(exists).collect()
}
