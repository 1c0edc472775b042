//! The commands that give a VPC its endpoints.

use std::collections::BTreeMap;

use super::super::{
    needed::{Service, is_available, is_of},
    path::Path,
};
use crate::{
    checks::{Context, remedies::quote},
    facts::{ec2::Subnet, network::VpcEndpoint},
    outcome::Remedy,
};

/// Adds the missing endpoints, behind the cluster's security group, and lets the VPC into it.
pub fn create(
    cx: &Context<'_>,
    path: &Path<'_>,
    subnets: &[&Subnet],
    missing: &[&Service],
) -> Remedy {
    let network = cx.facts.cluster.value().map(|cluster| &cluster.network);
    let group = network.and_then(|network| network.cluster_security_group_id.as_deref());
    let group = group.unwrap_or("SECURITY_GROUP_ID");
    let vpc = network.and_then(|network| network.vpc_id.as_deref()).unwrap_or("VPC_ID");
    let mut remedy = Remedy::new(
        "Create the endpoints, or give the subnets a default route to a NAT gateway. The \
         endpoints are put behind the cluster's security group, which the first command opens on \
         port 443 to the VPC; take another group if you like. IAM and the Price List have none \
         that every region offers: give EC2NodeClasses an instance profile of your own, and set \
         isolatedVPC=true.",
    );
    if missing.iter().any(|service| service.name != "s3") {
        for cidr in cx.facts.network.vpc.value().into_iter().flat_map(|vpc| &vpc.cidrs) {
            remedy = remedy.run(admit(cx, group, cidr));
        }
    }
    missing
        .iter()
        .fold(remedy, |remedy, service| remedy.run(one(cx, path, subnets, service, (vpc, group))))
}

fn one(
    cx: &Context<'_>,
    path: &Path<'_>,
    subnets: &[&Subnet],
    service: &Service,
    (vpc, group): (&str, &str),
) -> String {
    let region = quote(cx.region());
    let table = quote(&path.table.id);
    if let Some(there) = present(cx, service) {
        let id = quote(&there.id);
        return match there.kind.as_str() {
            "Gateway" => format!(
                "aws ec2 modify-vpc-endpoint --region {region} --vpc-endpoint-id {id} \
                 --add-route-table-ids {table}"
            ),
            _ => format!(
                "aws ec2 modify-vpc-endpoint --region {region} --vpc-endpoint-id {id} \
                 --private-dns-enabled"
            ),
        };
    }
    let prefix = if cx.target.partition == "aws-cn" && service.name != "s3" { "cn." } else { "" };
    let name = format!("{prefix}com.amazonaws.{region}.{}", service.name);
    let create = format!("aws ec2 create-vpc-endpoint --region {region} --vpc-id {}", quote(vpc));
    if service.name == "s3" {
        return format!(
            "{create} --service-name {name} --vpc-endpoint-type Gateway --route-table-ids {table}"
        );
    }
    // An endpoint takes one subnet a zone.
    let by_zone: BTreeMap<_, _> =
        subnets.iter().map(|subnet| (&subnet.zone, quote(&subnet.id))).collect();
    let subnets: Vec<_> = by_zone.into_values().collect();
    format!(
        "{create} --service-name {name} --vpc-endpoint-type Interface --subnet-ids {} \
         --security-group-ids {} --private-dns-enabled",
        subnets.join(" "),
        quote(group)
    )
}

/// An endpoint that is there and needs a change only.
fn present<'a>(cx: &'a Context<'_>, service: &Service) -> Option<&'a VpcEndpoint> {
    let mut endpoints = cx.facts.network.endpoints.value()?.iter();
    endpoints.find(|one| is_of(cx, one, service) && is_available(one))
}

/// The command that lets a block into a security group on port 443.
pub fn admit(cx: &Context<'_>, group: &str, cidr: &str) -> String {
    format!(
        "aws ec2 authorize-security-group-ingress --region {} --group-id {} --protocol tcp --port \
         443 --cidr {cidr}",
        quote(cx.region()),
        quote(group)
    )
}
