//! Account settings, subnets, security groups, images, placement groups and capacity
//! reservations (EC2).

use std::collections::BTreeMap;

use jiff::Timestamp;
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
    /// Whether instances get a public IPv4 address unless their launch says otherwise.
    #[serde(default)]
    pub public_addresses: bool,
    #[serde(default)]
    pub ipv6_cidrs: Vec<String>,
    /// Whether interfaces get an IPv6 address unless their launch says otherwise.
    #[serde(default)]
    pub assigns_ipv6: bool,
    /// How public access is blocked: `off`, `block-bidirectional` or `block-ingress`.
    #[serde(default)]
    pub public_access_block: Option<String>,
    /// The Outpost that it is on, by ARN.
    #[serde(default)]
    pub outpost: Option<String>,
    pub tags: BTreeMap<String, String>,
}

/// What kind of place a subnet is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    AvailabilityZone,
    LocalZone,
    WavelengthZone,
    Outpost,
}

impl Subnet {
    /// Zones beside the Region bear another place and its number in their name:
    /// `us-west-2-lax-1a`, `us-east-1-wl1-bos-wlz-1`.
    pub fn place(&self) -> Place {
        if self.outpost.is_some() {
            return Place::Outpost;
        }
        let parts: Vec<_> = self.zone.split('-').collect();
        let number = |part: &&str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        match parts.iter().rev().skip(1).find(|part| number(part)) {
            None => Place::AvailabilityZone,
            Some(_) if parts.iter().any(|part| part.starts_with("wl")) => Place::WavelengthZone,
            Some(_) => Place::LocalZone,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecurityGroup {
    pub id: String,
    pub name: String,
    pub vpc_id: Option<String>,
    /// None in facts of before they were read.
    #[serde(default)]
    pub rules: Option<GroupRules>,
    pub tags: BTreeMap<String, String>,
}

/// An image that nodes may start from (`ec2:DescribeImages`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Image {
    pub id: String,
    pub name: String,
    /// Account id of the owner.
    pub owner: Option<String>,
    /// `amazon`, `aws-marketplace` or `self`, where EC2 has such a name for the owner.
    pub owner_alias: Option<String>,
    /// `available`, `disabled`, `failed`, …
    pub state: String,
    /// `x86_64`, `arm64`, …
    pub architecture: String,
    pub created: Option<Timestamp>,
    /// From here on it is left out of lists, but can be launched.
    pub deprecated: Option<Timestamp>,
    /// Whether the account's Allowed AMIs setting allows it; in audit mode too.
    pub allowed: Option<bool>,
    /// `windows`, or nothing for everything else.
    pub platform: Option<String>,
    pub root_device: Option<String>,
    pub volumes: Vec<ImageVolume>,
}

/// A volume that an image brings along.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ImageVolume {
    pub device: Option<String>,
    pub snapshot: Option<String>,
    pub encrypted: Option<bool>,
    /// GiB.
    pub size: Option<u32>,
}

/// A snapshot that a node's volume is made from (`ec2:DescribeSnapshots`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Snapshot {
    pub id: String,
    pub owner: Option<String>,
    pub encrypted: bool,
    /// The ARN of the key that it is encrypted with.
    pub kms_key: Option<String>,
}

/// `ec2:DescribePlacementGroups`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacementGroup {
    pub id: Option<String>,
    pub name: String,
    /// `available`, `pending`, `deleting` or `deleted`.
    pub state: String,
    /// `cluster`, `partition` or `spread`.
    pub strategy: String,
}

/// An active capacity reservation (`ec2:DescribeCapacityReservations`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapacityReservation {
    pub id: String,
    pub instance_type: String,
    pub zone: Option<String>,
    /// Instances that it still has room for.
    pub free: u32,
    pub owner: Option<String>,
    /// `open` or `targeted`.
    pub matching: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GroupRules {
    pub ingress: Vec<GroupRule>,
    pub egress: Vec<GroupRule>,
}

/// What a security group lets pass, and from or to where.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GroupRule {
    /// `tcp`, `udp`, `icmp`, a number, or `-1` for all.
    pub protocol: String,
    pub from_port: Option<i32>,
    pub to_port: Option<i32>,
    /// IPv4 and IPv6 blocks.
    pub cidrs: Vec<String>,
    /// Ids of security groups.
    pub groups: Vec<String>,
    pub prefix_lists: Vec<String>,
}

/// `ec2:GetAllowedImagesSettings`: AMIs of others that the account may use.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AllowedImages {
    /// `disabled`, `audit-mode` or `enabled`.
    pub state: String,
    /// `account` or `declarative-policy`.
    pub managed_by: Option<String>,
    /// An image must meet one of these.
    pub criteria: Vec<ImageCriterion>,
}

/// An image must meet every part that is given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ImageCriterion {
    /// `amazon`, `aws-marketplace`, `aws-backup-vault`, account ids or `none`.
    pub providers: Vec<String>,
    /// May hold `*` and `?`.
    pub names: Vec<String>,
    pub marketplace_codes: Vec<String>,
    pub max_days_since_deprecated: Option<i32>,
    pub max_days_since_created: Option<i32>,
    /// Whether it asks for a watermark or a scan's result too.
    pub asks_more: bool,
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json};

    use super::*;

    #[test]
    fn places() {
        for (zone, outpost, place) in [
            ("us-west-2a", None, Place::AvailabilityZone),
            ("us-gov-west-1b", None, Place::AvailabilityZone),
            ("cn-northwest-1c", None, Place::AvailabilityZone),
            ("us-iso-east-1a", None, Place::AvailabilityZone),
            ("us-west-2-lax-1a", None, Place::LocalZone),
            ("ap-northeast-1-tpe-1a", None, Place::LocalZone),
            ("us-east-1-wl1-bos-wlz-1", None, Place::WavelengthZone),
            ("us-west-2a", Some("arn:aws:outposts:us-west-2:1:outpost/op-1"), Place::Outpost),
            ("", None, Place::AvailabilityZone),
        ] {
            let subnet: Subnet = from_value(json!({"id": "subnet-1", "vpc_id": "vpc-1",
                "zone": zone, "free_addresses": 9, "tags": {}, "outpost": outpost}))
            .unwrap();
            assert_eq!(subnet.place(), place, "{zone}");
        }
    }
}
