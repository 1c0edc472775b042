//! The subnets that the discovery tag selects, and the cluster's own.

pub mod cluster_free_addresses;
pub mod discovered;
pub mod free_addresses;
mod room;
pub mod vpc;
pub mod zones;

use super::{Context, Stop, discovery::selects_by_tag};
use crate::facts::ec2::Subnet;

const API: &str = "ec2:DescribeSubnets";

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
