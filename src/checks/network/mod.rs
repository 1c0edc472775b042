//! The way from the nodes to the cluster and to AWS.
//!
//! ```text
//! node subnets ─▶ path (route table, way out) ─▶ routes, public access, endpoint access
//!                                             └▶ needed services ─▶ endpoints
//! ```

pub mod acls;
mod cidr;
pub mod dns;
pub mod endpoint_access;
pub mod endpoint_policies;
pub mod endpoints;
pub mod isolated;
mod needed;
mod path;
pub mod public_access;
pub mod routes;
pub mod tenancy;

pub use cidr::{Block, covers};
pub use path::{Path, Way};

use super::{
    Context, Stop, discovery::cluster_vpc, selection::selectors, subnets::nodes_in_cluster_subnets,
};
use crate::facts::ec2::Subnet;

const SUBNETS: &str = "ec2:DescribeSubnets";
const ROUTES: &str = "ec2:DescribeRouteTables";
const NATS: &str = "ec2:DescribeNatGateways";
const ENDPOINTS: &str = "ec2:DescribeVpcEndpoints";

/// The subnets of the cluster's VPC that nodes are launched into, each once. Those in another VPC
/// are subnets-vpc's to judge.
pub fn node_subnets<'a>(cx: &Context<'a>) -> Result<Vec<&'a Subnet>, Stop> {
    let vpc = cluster_vpc(cx)?;
    let mut subnets: Vec<&'a Subnet> = Vec::new();
    let mut add = |subnet: &'a Subnet| {
        if subnet.vpc_id == vpc && !subnets.iter().any(|known| known.id == subnet.id) {
            subnets.push(subnet);
        }
    };
    let stop = match selectors(cx) {
        Ok(selectors) => {
            for selector in selectors {
                selector.subnets(cx)?.into_iter().for_each(&mut add);
            }
            Stop::skipped(
                "no subnet of the cluster's VPC is selected (see subnets-discovered and subnets-vpc)",
            )
        }
        Err(stop @ Stop::Unknown(_)) => return Err(stop),
        Err(stop) => stop,
    };
    if nodes_in_cluster_subnets(cx) {
        let own = &cx.cluster()?.network.subnet_ids;
        let in_vpc = cx.facts.vpc_subnets.known()?.iter();
        in_vpc.filter(|subnet| own.contains(&subnet.id)).for_each(&mut add);
    }
    if subnets.is_empty() { Err(stop) } else { Ok(subnets) }
}
