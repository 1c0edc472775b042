//! The network of a VPC (EC2).

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use aws_sdk_ec2::types::{self, VpcAttributeName};

use super::{Aws, ec2::in_vpc, expect, owned};
use crate::facts::{
    Fact,
    network::{
        AclEntry, DhcpOptions, NatGateway, NetworkAcl, PublicAccessBlock, PublicAccessExclusion,
        Route, RouteTable, Vpc, VpcEndpoint,
    },
};

const PAGE: i32 = 1000;
/// The largest page of those that allow no more.
const SMALL_PAGE: i32 = 100;

impl Aws {
    pub async fn vpc(&self, id: &str) -> Fact<Vpc> {
        const ACTION: &str = "ec2:DescribeVpcs";
        let call = self.ec2.describe_vpcs().set_filters(Some(in_vpc(id))).send();
        let answer = self.ask.ask(ACTION, &[], call).await;
        answer.and_then(|answer| expect(ACTION, "VPC", answer.vpcs().first().map(vpc)))
    }

    pub async fn dns_support(&self, vpc: &str) -> Fact<bool> {
        self.dns_attribute(vpc, VpcAttributeName::EnableDnsSupport).await
    }

    pub async fn dns_hostnames(&self, vpc: &str) -> Fact<bool> {
        self.dns_attribute(vpc, VpcAttributeName::EnableDnsHostnames).await
    }

    async fn dns_attribute(&self, vpc: &str, name: VpcAttributeName) -> Fact<bool> {
        const ACTION: &str = "ec2:DescribeVpcAttribute";
        let call = self.ec2.describe_vpc_attribute().vpc_id(vpc).attribute(name).send();
        let answer = self.ask.ask(ACTION, &[], call).await;
        answer.and_then(|answer| {
            let value = answer.enable_dns_support.or(answer.enable_dns_hostnames);
            expect(ACTION, "value", value.and_then(|value| value.value))
        })
    }

    pub async fn dhcp_options(&self, id: &str) -> Fact<DhcpOptions> {
        const ACTION: &str = "ec2:DescribeDhcpOptions";
        // A VPC without a set of its own names this one.
        if id == "default" {
            return Fact::Known(DhcpOptions { id: id.to_owned(), ..DhcpOptions::default() });
        }
        let call = self.ec2.describe_dhcp_options().dhcp_options_ids(id).send();
        let answer = self.ask.ask(ACTION, &["InvalidDhcpOptionID.NotFound"], call).await;
        answer.and_then(|answer| {
            expect(ACTION, "DHCP options", answer.dhcp_options().first().map(dhcp_options))
        })
    }

    pub async fn route_tables(&self, vpc: &str) -> Fact<Vec<RouteTable>> {
        let pages =
            self.ec2.describe_route_tables().set_filters(Some(in_vpc(vpc))).max_results(SMALL_PAGE);
        let call = pages.into_paginator().items().send().collect::<Result<Vec<_>, _>>();
        let answer = self.ask.ask("ec2:DescribeRouteTables", &[], call).await;
        answer.map(|tables| tables.iter().map(route_table).collect())
    }

    pub async fn nat_gateways(&self, vpc: &str) -> Fact<Vec<NatGateway>> {
        let pages =
            self.ec2.describe_nat_gateways().set_filter(Some(in_vpc(vpc))).max_results(PAGE);
        let call = pages.into_paginator().items().send().collect::<Result<Vec<_>, _>>();
        let answer = self.ask.ask("ec2:DescribeNatGateways", &[], call).await;
        answer.map(|gateways| gateways.iter().map(nat_gateway).collect())
    }

    pub async fn vpc_endpoints(&self, vpc: &str) -> Fact<Vec<VpcEndpoint>> {
        let pages =
            self.ec2.describe_vpc_endpoints().set_filters(Some(in_vpc(vpc))).max_results(PAGE);
        let call = pages.into_paginator().items().send().collect::<Result<Vec<_>, _>>();
        let answer = self.ask.ask("ec2:DescribeVpcEndpoints", &[], call).await;
        answer.map(|endpoints| endpoints.iter().map(endpoint).collect())
    }

    pub async fn network_acls(&self, vpc: &str) -> Fact<Vec<NetworkAcl>> {
        let pages =
            self.ec2.describe_network_acls().set_filters(Some(in_vpc(vpc))).max_results(PAGE);
        let call = pages.into_paginator().items().send().collect::<Result<Vec<_>, _>>();
        let answer = self.ask.ask("ec2:DescribeNetworkAcls", &[], call).await;
        answer.map(|acls| acls.iter().map(network_acl).collect())
    }

    pub async fn public_access_block(&self) -> Fact<PublicAccessBlock> {
        const ACTION: &str = "ec2:DescribeVpcBlockPublicAccessOptions";
        let call = self.ec2.describe_vpc_block_public_access_options().send();
        let answer = self.ask.ask(ACTION, &[], call).await;
        answer.and_then(|answer| {
            let options = answer.vpc_block_public_access_options.map(|options| PublicAccessBlock {
                mode: options
                    .internet_gateway_block_mode
                    .map(|mode| mode.as_str().to_owned())
                    .unwrap_or_default(),
                managed_by: options.managed_by.map(|by| by.as_str().to_owned()),
                exclusions_allowed: options.exclusions_allowed.map(|a| a.as_str().to_owned()),
            });
            expect(ACTION, "options", options)
        })
    }

    pub async fn public_access_exclusions(&self) -> Fact<Vec<PublicAccessExclusion>> {
        let call = self.ec2.describe_vpc_block_public_access_exclusions().send();
        let answer = self.ask.ask("ec2:DescribeVpcBlockPublicAccessExclusions", &[], call).await;
        answer.map(|answer| {
            let exclusions = answer.vpc_block_public_access_exclusions.unwrap_or_default();
            exclusions.into_iter().map(exclusion).collect()
        })
    }

    /// The blocks of 16 addresses that are in use, whole or in part, by subnet of the VPC.
    pub async fn used_blocks(&self, vpc: &str) -> Fact<BTreeMap<String, BTreeSet<String>>> {
        let pages = self.ec2.describe_network_interfaces().set_filters(Some(in_vpc(vpc)));
        // EC2 leaves out what a service manages unless it is asked for it.
        let pages = pages.include_managed_resources(true).max_results(PAGE);
        let call = pages.into_paginator().items().send().collect::<Result<Vec<_>, _>>();
        let answer = self.ask.ask("ec2:DescribeNetworkInterfaces", &[], call).await;
        answer.map(|interfaces| {
            let mut used: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
            for interface in &interfaces {
                let blocks = used.entry(owned(interface.subnet_id())).or_default();
                blocks.extend(addresses(interface).filter_map(block_of));
            }
            used
        })
    }
}

fn addresses(interface: &types::NetworkInterface) -> impl Iterator<Item = &str> {
    let own = interface.private_ip_addresses().iter().filter_map(|one| one.private_ip_address());
    let prefixes = interface.ipv4_prefixes().iter().filter_map(|one| one.ipv4_prefix());
    own.chain(prefixes)
}

/// The /28 block that an address or a prefix is in.
fn block_of(address: &str) -> Option<String> {
    let address = address.split('/').next().unwrap_or(address);
    let address: Ipv4Addr = address.parse().ok()?;
    Some(Ipv4Addr::from(u32::from(address) & !15).to_string())
}

fn vpc(vpc: &types::Vpc) -> Vpc {
    let is_associated = |state: Option<&types::VpcCidrBlockState>| {
        state.and_then(|state| state.state()).is_none_or(|state| state.as_str() == "associated")
    };
    let cidrs = vpc.cidr_block_association_set().iter();
    let cidrs = cidrs
        .filter(|block| is_associated(block.cidr_block_state()))
        .filter_map(|block| block.cidr_block.clone());
    let ipv6 = vpc.ipv6_cidr_block_association_set().iter();
    let ipv6 = ipv6
        .filter(|block| is_associated(block.ipv6_cidr_block_state()))
        .filter_map(|block| block.ipv6_cidr_block.clone());
    let mut cidrs: Vec<String> = cidrs.collect();
    if let Some(first) = vpc.cidr_block().filter(|first| !cidrs.iter().any(|cidr| cidr == first)) {
        cidrs.insert(0, first.to_owned());
    }
    Vpc {
        id: owned(vpc.vpc_id()),
        cidrs,
        ipv6_cidrs: ipv6.collect(),
        dhcp_options_id: vpc.dhcp_options_id.clone(),
        owner: vpc.owner_id.clone(),
        tenancy: vpc.instance_tenancy().map(|tenancy| tenancy.as_str().to_owned()),
    }
}

fn dhcp_options(options: &types::DhcpOptions) -> DhcpOptions {
    let values = |key: &str| -> Vec<String> {
        let of_key = options.dhcp_configurations().iter().filter(|one| one.key() == Some(key));
        of_key.flat_map(|one| one.values()).filter_map(|value| value.value.clone()).collect()
    };
    DhcpOptions {
        id: owned(options.dhcp_options_id()),
        domain_names: values("domain-name"),
        domain_name_servers: values("domain-name-servers"),
    }
}

fn route_table(table: &types::RouteTable) -> RouteTable {
    let associations = table.associations();
    RouteTable {
        id: owned(table.route_table_id()),
        main: associations.iter().any(|one| one.main == Some(true)),
        subnets: associations.iter().filter_map(|one| one.subnet_id.clone()).collect(),
        routes: table.routes().iter().map(route).collect(),
    }
}

fn route(route: &types::Route) -> Route {
    let destination = route
        .destination_cidr_block()
        .or(route.destination_ipv6_cidr_block())
        .or(route.destination_prefix_list_id());
    let target = route
        .nat_gateway_id()
        .or(route.gateway_id())
        .or(route.transit_gateway_id())
        .or(route.egress_only_internet_gateway_id())
        .or(route.vpc_peering_connection_id())
        .or(route.network_interface_id())
        .or(route.instance_id())
        .or(route.carrier_gateway_id())
        .or(route.local_gateway_id())
        .or(route.core_network_arn())
        .or(route.odb_network_arn());
    Route {
        destination: owned(destination),
        target: owned(target),
        blackhole: route.state() == Some(&types::RouteState::Blackhole),
    }
}

fn nat_gateway(gateway: &types::NatGateway) -> NatGateway {
    let addresses = gateway.nat_gateway_addresses().iter();
    NatGateway {
        id: owned(gateway.nat_gateway_id()),
        subnet_id: gateway.subnet_id.clone(),
        state: gateway.state().map(|state| state.as_str().to_owned()).unwrap_or_default(),
        public: gateway.connectivity_type() != Some(&types::ConnectivityType::Private),
        public_ips: addresses.filter_map(|address| address.public_ip.clone()).collect(),
    }
}

fn endpoint(endpoint: &types::VpcEndpoint) -> VpcEndpoint {
    VpcEndpoint {
        id: owned(endpoint.vpc_endpoint_id()),
        service: owned(endpoint.service_name()),
        kind: endpoint.vpc_endpoint_type().map(|kind| kind.as_str().to_owned()).unwrap_or_default(),
        state: endpoint.state().map(|state| state.as_str().to_owned()).unwrap_or_default(),
        private_dns: endpoint.private_dns_enabled.unwrap_or_default(),
        subnets: endpoint.subnet_ids().to_vec(),
        security_groups: endpoint
            .groups()
            .iter()
            .filter_map(|group| group.group_id.clone())
            .collect(),
        route_tables: endpoint.route_table_ids().to_vec(),
        policy: endpoint.policy_document.clone(),
    }
}

fn network_acl(acl: &types::NetworkAcl) -> NetworkAcl {
    NetworkAcl {
        id: owned(acl.network_acl_id()),
        subnets: acl.associations().iter().filter_map(|one| one.subnet_id.clone()).collect(),
        entries: acl.entries().iter().map(acl_entry).collect(),
    }
}

fn acl_entry(entry: &types::NetworkAclEntry) -> AclEntry {
    AclEntry {
        number: entry.rule_number.unwrap_or_default(),
        egress: entry.egress.unwrap_or_default(),
        allow: entry.rule_action() == Some(&types::RuleAction::Allow),
        protocol: owned(entry.protocol()),
        cidr: owned(entry.cidr_block().or(entry.ipv6_cidr_block())),
        from_port: entry.port_range().and_then(|ports| ports.from),
        to_port: entry.port_range().and_then(|ports| ports.to),
    }
}

fn exclusion(exclusion: types::VpcBlockPublicAccessExclusion) -> PublicAccessExclusion {
    PublicAccessExclusion {
        resource: exclusion.resource_arn.unwrap_or_default(),
        mode: exclusion
            .internet_gateway_exclusion_mode
            .map(|mode| mode.as_str().to_owned())
            .unwrap_or_default(),
        state: exclusion.state.map(|state| state.as_str().to_owned()).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_fall_into_blocks_of_16() {
        for (address, block) in [
            ("10.0.16.5", Some("10.0.16.0")),
            ("10.0.16.31", Some("10.0.16.16")),
            ("10.0.16.32/28", Some("10.0.16.32")),
            ("fd00::1", None),
        ] {
            assert_eq!(block_of(address).as_deref(), block, "{address}");
        }
    }
}
