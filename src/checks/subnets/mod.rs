//! The subnets that NodeClasses or the discovery tag select, and the cluster's own.

pub mod cluster_free_addresses;
pub mod custom_networking;
pub mod discovered;
pub mod free_addresses;
pub mod ipv6;
mod more;
pub mod place;
pub mod prefixes;
mod room;
pub mod vpc;
pub mod zones;

use super::{
    Context, Judged, Verdicts, node_classes,
    selection::{self, Selector},
};
use crate::{facts::ec2::Subnet, target::Product};

const API: &str = "ec2:DescribeSubnets";

/// Judges what each selector selects, where it selects any subnet.
fn each_selection<'a>(
    cx: &Context<'a>,
    judge: impl Fn(&Selector<'a>, &[&'a Subnet]) -> Vec<Judged>,
) -> Verdicts {
    let select = |selector: &Selector<'a>| selector.subnets(cx);
    selection::each(cx, select, "no subnet (see subnets-discovered)", judge)
}

/// Whether EKS launches nodes into the cluster's subnets: the NodeClass that comes with the
/// built-in node pools names them, and comes only with a pool. Where the NodeClasses are known,
/// subnets-free-addresses judges for them.
pub(super) fn nodes_in_cluster_subnets(cx: &Context<'_>) -> bool {
    if node_classes::known(cx).iter().any(|class| class.product == Product::AutoMode) {
        return false;
    }
    let cluster = cx.facts.cluster.value();
    cx.target.runs(Product::AutoMode)
        && cluster.is_some_and(|cluster| !cluster.auto_mode.node_pools.is_empty())
}
