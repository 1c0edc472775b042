//! The subnets that the discovery tag selects, and the cluster's own.

pub mod cluster_free_addresses;
pub mod discovered;
pub mod free_addresses;
pub mod near_miss;
pub mod vpc;
pub mod zones;

use super::{Context, Stop, remedies::quote};
use crate::{
    facts::ec2::Subnet,
    target::{Origin, Product},
};

const API: &str = "ec2:DescribeSubnets";

/// Whether anything selects by the discovery tag. The node pools that EKS Auto Mode brings
/// along do not; a NodeClass of your own may, and then the user names the tag.
pub(super) fn selects_by_tag(cx: &Context<'_>) -> Result<(), Stop> {
    let named = cx.target.discovery_tag.origin == Origin::Flag;
    if cx.target.runs(Product::Karpenter) || named {
        return Ok(());
    }
    Err(Stop::skipped(
        "the node pools of EKS Auto Mode need no discovery tag; if a NodeClass of your own \
         selects by one, name it with --discovery-tag",
    ))
}

/// The subnets that the discovery tag selects, where there are any to judge.
fn selected<'a>(cx: &'a Context<'_>) -> Result<&'a [Subnet], Stop> {
    selects_by_tag(cx)?;
    match cx.facts.discovered_subnets.found()?.map(Vec::as_slice) {
        None | Some([]) => Err(Stop::skipped(format!(
            "no subnet has the tag {} (see subnets-discovered)",
            cx.target.discovery_tag.value
        ))),
        Some(subnets) => Ok(subnets),
    }
}

/// The cluster's VPC.
pub(super) fn cluster_vpc<'a>(cx: &'a Context<'_>) -> Result<&'a str, Stop> {
    let vpc = cx.cluster()?.network.vpc_id.as_deref();
    vpc.ok_or_else(|| Stop::unknown("eks:DescribeCluster shows no VPC for the cluster"))
}

/// The command that takes the discovery tag off a subnet or security group.
pub(super) fn untag(cx: &Context<'_>, id: &str) -> String {
    let tag = &cx.target.discovery_tag.value;
    format!(
        "aws ec2 delete-tags --region {} --resources {id} --tags {}",
        quote(cx.region()),
        quote(&format!("Key={}", tag.key))
    )
}
