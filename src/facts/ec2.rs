//! Account defaults, subnets and security groups (EC2).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// `ec2:GetInstanceMetadataDefaults`. An unset member means *no preference*.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImdsDefaults {
    /// `optional` or `required`.
    pub http_tokens: Option<String>,
    /// Network hops that an IMDS answer may take.
    pub http_put_response_hop_limit: Option<i32>,
    /// `enabled` or `disabled`.
    pub http_endpoint: Option<String>,
    /// `enabled` or `disabled`.
    pub instance_metadata_tags: Option<String>,
    /// `enabled` where launches with IMDSv1 are refused.
    pub http_tokens_enforced: Option<String>,
    /// `account` or `declarative-policy`.
    pub managed_by: Option<String>,
    /// What the organisation tells those who try to change a declarative policy's value.
    pub managed_exception_message: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subnet {
    pub id: String,
    pub arn: Option<String>,
    pub vpc_id: String,
    /// Zone name, such as `us-east-1a`; differs between accounts.
    pub zone: String,
    /// Zone id, such as `use1-az3`; the same in every account.
    pub zone_id: Option<String>,
    pub cidr: Option<String>,
    /// Free IPv4 addresses.
    pub free_addresses: u32,
    pub owner: Option<String>,
    pub tags: BTreeMap<String, String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecurityGroup {
    pub id: String,
    pub name: String,
    pub vpc_id: Option<String>,
    pub tags: BTreeMap<String, String>,
}
