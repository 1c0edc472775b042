//! The interruption queue: the one that the user named, or those under the usual names.

use std::collections::BTreeMap;

use futures_util::future::join_all;

use super::{aws::Aws, network::keys};
use crate::{
    facts::{Fact, events::Rule, kms::Key, sqs::Queue},
    target::{Scope, names},
};

/// Queues, what feeds them, and the keys that encrypt them.
#[derive(Debug, Default)]
pub struct QueueFacts {
    pub queues: BTreeMap<String, Fact<Queue>>,
    pub rules: BTreeMap<String, Fact<Vec<Fact<Rule>>>>,
    pub keys: Vec<(String, Fact<Key>)>,
}

impl QueueFacts {
    pub fn and(mut self, more: Self) -> Self {
        self.queues.extend(more.queues);
        self.rules.extend(more.rules);
        self.keys.extend(more.keys);
        self
    }
}

pub async fn queues(aws: &Aws, scope: &Scope) -> QueueFacts {
    queues_of(aws, scope, first_queues(scope)).await
}

/// The queues that are looked for before anything else is known.
pub fn first_queues(scope: &Scope) -> Vec<String> {
    match &scope.interruption_queue {
        Some(named) => vec![names::queue_name(named).to_owned()],
        None => names::queues(&scope.cluster).into(),
    }
}

/// The queues of these names.
pub async fn queues_of(aws: &Aws, scope: &Scope, wanted: Vec<String>) -> QueueFacts {
    let found = join_all(wanted.into_iter().map(|name| async {
        let (queue, rules) = aws.queue_with_rules(&name, &scope.region).await;
        let attributes = queue.value().and_then(|queue| queue.attributes.value());
        let key = attributes.and_then(|attributes| attributes.kms_key.clone());
        let keys = keys(aws, key.into_iter().collect()).await;
        (name, queue, rules, keys)
    }))
    .await;
    let mut facts = QueueFacts::default();
    for (name, queue, rules, keys) in found {
        facts.keys.extend(keys);
        if queue != Fact::Absent {
            facts.rules.insert(name.clone(), rules);
        }
        facts.queues.insert(name, queue);
    }
    facts
}
