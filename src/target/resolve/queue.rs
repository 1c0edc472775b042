//! The interruption queue.

use super::{QueueTarget, Scope};
use crate::{facts::Facts, target::names};

/// The queue that the user named, else those under usual names.
pub fn queue(scope: &Scope, facts: &Facts) -> QueueTarget {
    if let Some(named) = &scope.interruption_queue {
        return QueueTarget::Named(named.clone());
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
