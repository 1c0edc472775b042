//! The network around the cluster's nodes, and the keys that encrypt what it holds.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use tokio::join;

use super::aws::{Aws, ec2};
use crate::facts::{
    Fact,
    ec2::{SecurityGroup, Subnet},
    kms::Key,
    network::Network,
};

/// The VPC of the cluster with all that is in it.
pub struct VpcFacts {
    pub subnets: Fact<Vec<Subnet>>,
    pub security_groups: Fact<Vec<SecurityGroup>>,
    pub network: Network,
}

impl VpcFacts {
    pub fn not_asked(why: &str) -> Self {
        Self {
            subnets: Fact::not_asked(why),
            security_groups: Fact::not_asked(why),
            network: Network {
                vpc: Fact::not_asked(why),
                dns_support: Fact::not_asked(why),
                dns_hostnames: Fact::not_asked(why),
                dhcp_options: Fact::not_asked(why),
                route_tables: Fact::not_asked(why),
                nat_gateways: Fact::not_asked(why),
                endpoints: Fact::not_asked(why),
                acls: Fact::not_asked(why),
                public_access: Fact::not_asked(why),
                public_access_exclusions: Fact::not_asked(why),
                used_blocks: Fact::not_asked(why),
            },
        }
    }

    /// Reads the blocks of addresses in use, if they were not read yet.
    pub async fn read_used_blocks(&mut self, aws: &Aws) {
        let unread = matches!(self.network.used_blocks, Fact::NotAsked { .. });
        if let Some(vpc) = self.network.vpc.value().filter(|_| unread) {
            self.network.used_blocks = aws.used_blocks(&vpc.id).await;
        }
    }

    /// Reads it: one call a kind of thing, whatever the number of subnets.
    pub async fn read(aws: &Aws, vpc: &str, blocks: bool) -> Self {
        let (
            (subnets, (public_access, public_access_exclusions)),
            security_groups,
            (vpc_fact, dhcp_options),
            (dns_support, dns_hostnames),
            (route_tables, nat_gateways, endpoints, acls),
            used_blocks,
        ) = join!(
            subnets(aws, vpc),
            aws.security_groups(ec2::in_vpc(vpc)),
            vpc_and_options(aws, vpc),
            async { join!(aws.dns_support(vpc), aws.dns_hostnames(vpc)) },
            async {
                join!(
                    aws.route_tables(vpc),
                    aws.nat_gateways(vpc),
                    aws.vpc_endpoints(vpc),
                    aws.network_acls(vpc)
                )
            },
            used_blocks(aws, vpc, blocks),
        );
        let network = Network {
            vpc: vpc_fact,
            dns_support,
            dns_hostnames,
            dhcp_options,
            route_tables,
            nat_gateways,
            endpoints,
            acls,
            public_access,
            public_access_exclusions,
            used_blocks,
        };
        Self { subnets, security_groups, network }
    }
}

type PublicAccess = (
    Fact<crate::facts::network::PublicAccessBlock>,
    Fact<Vec<crate::facts::network::PublicAccessExclusion>>,
);

/// The subnets, and where one of them shows that public access is blocked, how.
async fn subnets(aws: &Aws, vpc: &str) -> (Fact<Vec<Subnet>>, PublicAccess) {
    let subnets = aws.subnets(ec2::in_vpc(vpc)).await;
    let blocks = |subnet: &Subnet| {
        subnet.public_access_block.as_deref().is_some_and(|mode| mode.starts_with("block-"))
    };
    let public_access = if subnets.value().into_iter().flatten().any(blocks) {
        join!(aws.public_access_block(), aws.public_access_exclusions())
    } else {
        let why = "no subnet of the cluster's VPC shows that public access is blocked";
        (Fact::not_asked(why), Fact::not_asked(why))
    };
    (subnets, public_access)
}

async fn vpc_and_options(
    aws: &Aws,
    id: &str,
) -> (Fact<crate::facts::network::Vpc>, Fact<crate::facts::network::DhcpOptions>) {
    let vpc = aws.vpc(id).await;
    let options = match &vpc {
        Fact::Known(found) => match found.dhcp_options_id.as_deref() {
            Some(id) => aws.dhcp_options(id).await,
            None => Fact::Absent,
        },
        unseen => unseen.clone().and_then(|_| Fact::Absent),
    };
    (vpc, options)
}

async fn used_blocks(
    aws: &Aws,
    vpc: &str,
    blocks: bool,
) -> Fact<std::collections::BTreeMap<String, BTreeSet<String>>> {
    if blocks {
        aws.used_blocks(vpc).await
    } else {
        Fact::not_asked("no node of this cluster takes whole blocks of addresses")
    }
}

/// The keys of these names, each once.
pub async fn keys(aws: &Aws, named: BTreeSet<String>) -> Vec<(String, Fact<Key>)> {
    // Every account has AWS's own key, which needs no look.
    let named = named.into_iter().filter(|name| !name.ends_with("alias/aws/ebs"));
    join_all(named.map(|name| async {
        let key = aws.kms_key(&name).await;
        (name, key)
    }))
    .await
}
