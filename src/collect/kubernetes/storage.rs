//! StorageClasses, and the claims for volumes.

use std::collections::BTreeMap;

use serde::Deserialize;
use tokio::join;

use super::{
    kind::{Kind, List},
    server::ApiServer,
    wire::{Meta, Object},
};
use crate::facts::kubernetes::storage::{Claims, Storage, StorageClass, Waiting};

const CLASSES: Kind = Kind::built_in("storage.k8s.io", "storageclasses");
const CLAIMS: Kind = Kind::core("persistentvolumeclaims");

/// What marks the default class, today and before 1.6.
const DEFAULT: [&str; 2] = [
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
];
/// Where claims named their class before they had a field for it. It still counts first.
const CLASS: &str = "volume.beta.kubernetes.io/storage-class";

pub async fn read(server: &ApiServer) -> Storage {
    let classes = List::all(CLASSES);
    let claims = List::all(CLAIMS);
    let (classes, claims) = join!(
        server.list(&classes, Class::into_facts),
        server.fold(&claims, Fold::default, Fold::add),
    );
    Storage { classes, claims: claims.map(Fold::finish) }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Class {
    metadata: Meta,
    provisioner: String,
    volume_binding_mode: String,
}

impl Class {
    pub fn into_facts(self) -> StorageClass {
        let annotations = &self.metadata.annotations;
        StorageClass {
            is_default: DEFAULT
                .iter()
                .any(|mark| annotations.get(*mark).is_some_and(|value| value == "true")),
            name: self.metadata.name,
            provisioner: self.provisioner,
            immediate: self.volume_binding_mode != "WaitForFirstConsumer",
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ClaimSpec {
    storage_class_name: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct ClaimStatus {
    phase: String,
}

/// The claims as they are read.
#[derive(Debug, Default)]
pub struct Fold {
    claims: Claims,
    waiting: BTreeMap<Option<String>, Waiting>,
}

impl Fold {
    pub fn add(&mut self, claim: Object<ClaimSpec, ClaimStatus>) {
        let Object { mut metadata, spec, status } = claim;
        let class = metadata.annotations.remove(CLASS).or(spec.storage_class_name);
        if let Some(class) = class.clone().filter(|class| !class.is_empty()) {
            *self.claims.by_class.entry(class).or_default() += 1;
        }
        let name = || format!("{}/{}", metadata.namespace, metadata.name);
        match status.phase.as_str() {
            "Lost" => self.claims.lost.add(name),
            // One that is being deleted waits for no volume.
            "Pending" if metadata.deletion_timestamp.is_none() => {
                let waiting = self.waiting.entry(class.clone()).or_default();
                waiting.class = class;
                waiting.claims.add(name);
                let created = metadata.creation_timestamp;
                waiting.oldest = waiting.oldest.into_iter().chain(created).min();
            }
            _ => {}
        }
    }

    pub fn finish(mut self) -> Claims {
        self.claims.waiting = self.waiting.into_values().collect();
        self.claims
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json};

    use super::*;

    #[test]
    fn classes() {
        for (class, is_default, immediate) in [
            (json!({"volumeBindingMode": "WaitForFirstConsumer"}), false, false),
            (json!({"volumeBindingMode": "Immediate"}), false, true),
            (json!({"metadata": {"annotations": {DEFAULT[0]: "true"}}}), true, true),
            (json!({"metadata": {"annotations": {DEFAULT[1]: "true"}}}), true, true),
            (json!({"metadata": {"annotations": {DEFAULT[0]: "false"}}}), false, true),
        ] {
            let found = from_value::<Class>(class.clone()).unwrap().into_facts();
            assert_eq!((found.is_default, found.immediate), (is_default, immediate), "{class}");
        }
    }

    #[test]
    fn claims() {
        let mut fold = Fold::default();
        for (name, class, phase, created) in [
            ("a", json!("gp3"), "Bound", "2026-11-01T00:00:00Z"),
            ("b", json!("gp3"), "Pending", "2026-11-02T00:00:00Z"),
            ("c", json!("gp3"), "Pending", "2026-11-01T00:00:00Z"),
            ("d", json!(null), "Pending", "2026-11-01T00:00:00Z"),
            ("e", json!(""), "Pending", "2026-11-01T00:00:00Z"),
            ("f", json!("gp3"), "Lost", "2026-11-01T00:00:00Z"),
        ] {
            let claim = json!({"spec": {"storageClassName": class}, "status": {"phase": phase},
                "metadata": {"name": name, "namespace": "shop", "creationTimestamp": created}});
            fold.add(from_value(claim).unwrap());
        }
        fold.add(
            from_value(json!({"status": {"phase": "Pending"}, "metadata": {"name": "g",
                "namespace": "shop", "deletionTimestamp": "2026-11-01T00:00:00Z"}}))
            .unwrap(),
        );
        fold.add(
            from_value(json!({"status": {"phase": "Pending"}, "spec": {"storageClassName": "new"},
                "metadata": {"name": "h", "namespace": "shop", "annotations": {CLASS: "old"}}}))
            .unwrap(),
        );
        let claims = fold.finish();
        assert_eq!(claims.by_class, BTreeMap::from([("gp3".to_owned(), 4), ("old".to_owned(), 1)]));
        assert_eq!(claims.lost.names, ["shop/f"]);
        let waiting: Vec<_> = claims
            .waiting
            .iter()
            .map(|of| (of.class.as_deref(), of.claims.names.join(" "), of.oldest.is_some()))
            .collect();
        let expected = [
            (None, "shop/d".to_owned(), true),
            (Some(""), "shop/e".to_owned(), true),
            (Some("gp3"), "shop/b shop/c".to_owned(), true),
            (Some("old"), "shop/h".to_owned(), false),
        ];
        assert_eq!(waiting, expected);
        assert_eq!(claims.waiting[2].oldest, Some("2026-11-01T00:00:00Z".parse().unwrap()));
    }
}
