//! Events of Karpenter's, of one reason: a cluster keeps them for an hour, and there may be many.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Deserialize;

use crate::{
    collect::kubernetes::{
        kind::{Kind, List},
        server::ApiServer,
        wire::Meta,
    },
    facts::{
        Fact,
        kubernetes::workloads::{Event, Events},
    },
};

const EVENTS: Kind = Kind::core("events");

/// How many pages are read at most.
const PAGES: usize = 4;

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Item {
    metadata: Meta,
    involved_object: Involved,
    message: String,
    last_timestamp: Option<Timestamp>,
    event_time: Option<Timestamp>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Involved {
    kind: String,
    name: String,
    namespace: String,
}

/// The newest of each object. The scheduler's own are left out: pods hold what it says.
pub async fn of_reason(server: &ApiServer, reason: &str) -> Fact<Events> {
    let fields = format!("reason={reason},source!=default-scheduler");
    let list = List::all(EVENTS).with_fields(&fields);
    let add = |newest: &mut BTreeMap<(String, String), Event>, item: Item| {
        // Karpenter says the same of a node and of its NodeClaim.
        if item.involved_object.kind == "NodeClaim" {
            return;
        }
        let event = Event {
            at: item.last_timestamp.or(item.event_time).or(item.metadata.creation_timestamp),
            namespace: item.involved_object.namespace,
            object: item.involved_object.name,
            message: item.message,
        };
        let key = (event.namespace.clone(), event.object.clone());
        let known = newest.entry(key).or_default();
        if known.at <= event.at {
            *known = event;
        }
    };
    let read = server.fold_some(&list, PAGES, BTreeMap::new, add).await;
    read.map(|(newest, more)| Events { events: newest.into_values().collect(), more })
}
