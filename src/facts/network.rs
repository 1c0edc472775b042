//! The network of the cluster's VPC: routes, endpoints, DNS, network ACLs (EC2).

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::Fact;

/// Everything that was read of the network around the cluster's nodes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Network {
    pub vpc: Fact<Vpc>,
    /// `enableDnsSupport`: the VPC's own server answers.
    pub dns_support: Fact<bool>,
    /// `enableDnsHostnames`: instances get names, and endpoints private names.
    pub dns_hostnames: Fact<bool>,
    pub dhcp_options: Fact<DhcpOptions>,
    /// Route tables of the cluster's VPC.
    pub route_tables: Fact<Vec<RouteTable>>,
    pub nat_gateways: Fact<Vec<NatGateway>>,
    pub endpoints: Fact<Vec<VpcEndpoint>>,
    pub acls: Fact<Vec<NetworkAcl>>,
    /// How the region blocks public access; asked where a subnet of the VPC shows that it does.
    pub public_access: Fact<PublicAccessBlock>,
    pub public_access_exclusions: Fact<Vec<PublicAccessExclusion>>,
    /// Blocks of 16 that hold an address in use, by subnet; asked where nodes take whole blocks.
    pub used_blocks: Fact<BTreeMap<String, BTreeSet<String>>>,
}

/// `ec2:DescribeVpcs` of the cluster's VPC.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Vpc {
    pub id: String,
    /// IPv4 blocks that are associated.
    pub cidrs: Vec<String>,
    pub ipv6_cidrs: Vec<String>,
    pub dhcp_options_id: Option<String>,
    pub owner: Option<String>,
    /// Of instances that ask for none: `default` or `dedicated`.
    pub tenancy: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DhcpOptions {
    pub id: String,
    /// As given: more than one in a text, separated by spaces, is possible.
    pub domain_names: Vec<String>,
    /// `AmazonProvidedDNS` or addresses.
    pub domain_name_servers: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RouteTable {
    pub id: String,
    /// Whether it holds for subnets without a table of their own.
    pub main: bool,
    /// Subnets that it is associated with.
    pub subnets: Vec<String>,
    pub routes: Vec<Route>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Route {
    /// A block, or the id of a prefix list.
    pub destination: String,
    /// `local`, or the id of a gateway, interface, endpoint, …
    pub target: String,
    /// The target is gone.
    pub blackhole: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NatGateway {
    pub id: String,
    pub subnet_id: Option<String>,
    /// `available`, `pending`, `failed`, `deleting` or `deleted`.
    pub state: String,
    /// A private one reaches other networks, and not the internet.
    pub public: bool,
    pub public_ips: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct VpcEndpoint {
    pub id: String,
    /// Such as `com.amazonaws.us-west-2.ec2`.
    pub service: String,
    /// `Interface`, `Gateway`, `GatewayLoadBalancer`, …
    pub kind: String,
    /// `available`, `pending`, `pendingAcceptance`, `failed`, … in the API's spelling.
    pub state: String,
    pub private_dns: bool,
    pub subnets: Vec<String>,
    pub security_groups: Vec<String>,
    /// Of gateway endpoints: the tables that have a route to it.
    pub route_tables: Vec<String>,
    /// Its own policy as JSON text.
    pub policy: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NetworkAcl {
    pub id: String,
    pub subnets: Vec<String>,
    pub entries: Vec<AclEntry>,
}

/// The entry with the lowest number that matches decides.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AclEntry {
    pub number: i32,
    pub egress: bool,
    pub allow: bool,
    /// A protocol number; `-1` for all.
    pub protocol: String,
    /// An IPv4 or IPv6 block.
    pub cidr: String,
    pub from_port: Option<i32>,
    pub to_port: Option<i32>,
}

/// `ec2:DescribeVpcBlockPublicAccessOptions`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PublicAccessBlock {
    /// `off`, `block-bidirectional` or `block-ingress`.
    pub mode: String,
    /// `account` or `declarative-policy`.
    pub managed_by: Option<String>,
    /// `allowed` or `not-allowed`.
    pub exclusions_allowed: Option<String>,
}

/// A VPC or subnet that the block leaves out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PublicAccessExclusion {
    /// The ARN of the VPC or subnet.
    pub resource: String,
    /// `allow-bidirectional` or `allow-egress`.
    pub mode: String,
    /// `create-complete`, `update-complete`, … in the API's spelling.
    pub state: String,
}
