//! The policies that bear on a request, layer by layer.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::iam::document::Policy;

/// A kind of policy, by where it is attached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Layer {
    ServiceControl,
    ResourceControl,
    VpcEndpoint,
    Resource,
    Trust,
    Identity,
    Boundary,
    Session,
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Layer::ServiceControl => "service control policy",
            Layer::ResourceControl => "resource control policy",
            Layer::VpcEndpoint => "VPC endpoint policy",
            Layer::Resource => "resource policy",
            Layer::Trust => "trust policy",
            Layer::Identity => "identity policy",
            Layer::Boundary => "permissions boundary",
            Layer::Session => "session policy",
        })
    }
}

/// A document and the name a person knows it by.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedPolicy {
    pub name: String,
    pub policy: Policy,
}

impl NamedPolicy {
    pub fn new(name: impl Into<String>, policy: Policy) -> NamedPolicy {
        NamedPolicy { name: name.into(), policy }
    }
}

/// All the policies that bear on a request. An empty layer does not limit anything, except
/// for `identity`, without which nothing is allowed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PolicySet {
    /// Inline and attached policies of the principal, those of its groups included.
    pub identity: Vec<NamedPolicy>,
    /// The permissions boundary.
    pub boundary: Option<NamedPolicy>,
    /// Session policies; together they allow what any of them allows.
    pub session: Vec<NamedPolicy>,
    /// One list a level, root first. Every level must allow. Leave empty for principals that
    /// no service control policy applies to: the management account, service-linked roles.
    pub service_control: Vec<Vec<NamedPolicy>>,
    /// One list a level. `RCPFullAWSAccess` is always attached and is not needed here: only
    /// denies count.
    pub resource_control: Vec<Vec<NamedPolicy>>,
    pub resource: Option<NamedPolicy>,
    /// For resources such as KMS keys, whose policy must allow also within one account:
    /// an identity policy alone is not enough.
    pub resource_must_allow: bool,
    /// Policy of the VPC endpoint that the request takes.
    pub vpc_endpoint: Vec<NamedPolicy>,
}
