//! Metadata defaults, subnets and security groups (EC2).

use std::collections::BTreeMap;

use aws_sdk_ec2::types::{self, Filter};

use super::{Aws, expect, owned};
use crate::{
    facts::{
        Fact,
        ec2::{GroupRule, GroupRules, ImdsDefaults, SecurityGroup, Subnet},
        selected::Query,
    },
    target::selector,
};

const PAGE: i32 = 1000;

impl Aws {
    pub async fn imds_defaults(&self) -> Fact<ImdsDefaults> {
        const ACTION: &str = "ec2:GetInstanceMetadataDefaults";
        let call = self.ec2.get_instance_metadata_defaults().send();
        let answer = self.ask.ask(ACTION, &[], call).await;
        answer.and_then(|answer| {
            expect(ACTION, "account level", answer.account_level.map(imds_defaults))
        })
    }

    /// The subnets that these filters select together.
    pub async fn subnets(&self, filters: Vec<Filter>) -> Fact<Vec<Subnet>> {
        let call = self
            .ec2
            .describe_subnets()
            .set_filters(Some(filters))
            .max_results(PAGE)
            .into_paginator()
            .items()
            .send()
            .collect::<Result<Vec<_>, _>>();
        let answer = self.ask.ask("ec2:DescribeSubnets", &[], call).await;
        answer.map(|subnets| subnets.into_iter().map(subnet).collect())
    }

    /// The security groups that these filters select together.
    pub async fn security_groups(&self, filters: Vec<Filter>) -> Fact<Vec<SecurityGroup>> {
        let call = self
            .ec2
            .describe_security_groups()
            .set_filters(Some(filters))
            .max_results(PAGE)
            .into_paginator()
            .items()
            .send()
            .collect::<Result<Vec<_>, _>>();
        let answer = self.ask.ask("ec2:DescribeSecurityGroups", &[], call).await;
        answer.map(|groups| groups.into_iter().map(security_group).collect())
    }
}

/// The filters that Karpenter sends for a query of a selector.
pub fn selected_by(kind: selector::Kind, query: &Query) -> Vec<Filter> {
    let filters = selector::filters(kind, query).into_iter();
    filters.map(|(name, values)| filter(&name, values)).collect()
}

pub fn in_vpc(vpc_id: &str) -> Vec<Filter> {
    vec![filter("vpc-id", vec![vpc_id.to_owned()])]
}

pub(super) fn filter(name: &str, values: Vec<String>) -> Filter {
    Filter::builder().name(name).set_values(Some(values)).build()
}

fn imds_defaults(defaults: types::InstanceMetadataDefaultsResponse) -> ImdsDefaults {
    ImdsDefaults {
        http_tokens: defaults.http_tokens.map(|value| value.as_str().to_owned()),
        http_put_response_hop_limit: defaults.http_put_response_hop_limit,
        http_endpoint: defaults.http_endpoint.map(|value| value.as_str().to_owned()),
        instance_metadata_tags: defaults
            .instance_metadata_tags
            .map(|value| value.as_str().to_owned()),
        http_tokens_enforced: defaults.http_tokens_enforced.map(|value| value.as_str().to_owned()),
        managed_by: defaults.managed_by.map(|value| value.as_str().to_owned()),
        managed_exception_message: defaults.managed_exception_message,
    }
}

fn subnet(subnet: types::Subnet) -> Subnet {
    Subnet {
        id: owned(subnet.subnet_id()),
        vpc_id: owned(subnet.vpc_id()),
        zone: owned(subnet.availability_zone()),
        zone_id: subnet.availability_zone_id,
        cidr: subnet.cidr_block,
        free_addresses: subnet
            .available_ip_address_count
            .and_then(|count| u32::try_from(count).ok())
            .unwrap_or_default(),
        owner: subnet.owner_id,
        arn: subnet.subnet_arn,
        public_addresses: subnet.map_public_ip_on_launch.unwrap_or_default(),
        ipv6_cidrs: subnet
            .ipv6_cidr_block_association_set
            .unwrap_or_default()
            .into_iter()
            .filter_map(|block| block.ipv6_cidr_block)
            .collect(),
        assigns_ipv6: subnet.assign_ipv6_address_on_creation.unwrap_or_default(),
        public_access_block: subnet
            .block_public_access_states
            .and_then(|states| states.internet_gateway_block_mode)
            .map(|mode| mode.as_str().to_owned()),
        outpost: subnet.outpost_arn,
        tags: tags(subnet.tags),
    }
}

fn security_group(group: types::SecurityGroup) -> SecurityGroup {
    SecurityGroup {
        id: owned(group.group_id()),
        name: owned(group.group_name()),
        rules: Some(GroupRules {
            ingress: group.ip_permissions().iter().map(group_rule).collect(),
            egress: group.ip_permissions_egress().iter().map(group_rule).collect(),
        }),
        vpc_id: group.vpc_id,
        tags: tags(group.tags),
    }
}

fn group_rule(rule: &types::IpPermission) -> GroupRule {
    let ipv4 = rule.ip_ranges().iter().filter_map(|range| range.cidr_ip.clone());
    let ipv6 = rule.ipv6_ranges().iter().filter_map(|range| range.cidr_ipv6.clone());
    let lists = rule.prefix_list_ids().iter().filter_map(|list| list.prefix_list_id.clone());
    let groups = rule.user_id_group_pairs().iter().filter_map(|pair| pair.group_id.clone());
    GroupRule {
        protocol: owned(rule.ip_protocol()),
        from_port: rule.from_port,
        to_port: rule.to_port,
        cidrs: ipv4.chain(ipv6).collect(),
        groups: groups.collect(),
        prefix_lists: lists.collect(),
    }
}

fn tags(tags: Option<Vec<types::Tag>>) -> BTreeMap<String, String> {
    let pairs = tags.unwrap_or_default().into_iter();
    pairs.filter_map(|tag| Some((tag.key?, tag.value.unwrap_or_default()))).collect()
}
