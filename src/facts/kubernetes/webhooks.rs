//! Webhooks that the API server asks before it takes an object.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::facts::Fact;

/// An admission webhook under a name of Karpenter's.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct Webhook {
    /// `validatingwebhookconfiguration` or `mutatingwebhookconfiguration`.
    pub kind: String,
    /// The object that holds it.
    pub configuration: String,
    /// Such as `validation.webhook.karpenter.sh`.
    pub name: String,
    /// Who answers; none where it is a URL.
    pub service: Option<ServiceName>,
    /// What it does not answer is refused (`failurePolicy: Fail`).
    pub required: bool,
    /// What it is asked about, such as `karpenter.sh/v1beta1 nodepools`.
    pub asked_about: Vec<String>,
}

/// A Service, not of Karpenter's, without whose answer the API server takes no object of some kinds
/// that a cluster cannot do without.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Gatekeeper {
    pub service: ServiceName,
    /// Kind and name of the objects that say so.
    pub configurations: BTreeSet<String>,
    /// The resources, such as `pods`.
    pub asked_about: BTreeSet<String>,
    /// It is asked only about objects, or in namespaces, that have certain labels.
    pub limited: bool,
    /// How many of its endpoints are ready.
    pub ready: Fact<u32>,
}

/// A Service by namespace and name.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct ServiceName {
    pub namespace: String,
    pub name: String,
}

impl Gatekeeper {
    /// The Service, as `namespace/name`.
    pub fn path(&self) -> String {
        self.service.path()
    }
}

impl ServiceName {
    /// `namespace/name`.
    pub fn path(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }
}
