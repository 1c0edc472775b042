//! Webhooks of Karpenter's, which the API server asks before it takes an object.

use serde::{Deserialize, Serialize};

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

/// A Service by namespace and name.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct ServiceName {
    pub namespace: String,
    pub name: String,
}

impl ServiceName {
    /// `namespace/name`.
    pub fn path(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }
}
