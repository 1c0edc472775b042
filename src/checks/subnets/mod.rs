//! The subnets that NodeClasses or the discovery tag select, and the cluster's own.

pub mod cluster_free_addresses;
pub mod discovered;
pub mod free_addresses;
mod more;
pub mod prefixes;
mod room;
pub mod vpc;
pub mod zones;

use super::{
    Context, Judged, Stop, Verdicts, node_classes,
    selection::{Selector, selectors},
};
use crate::{facts::ec2::Subnet, target::Product};

const API: &str = "ec2:DescribeSubnets";

/// Judges what each selector selects, where it selects any subnet.
fn each_selection<'a>(
    cx: &Context<'a>,
    judge: impl Fn(&Selector<'a>, &[&'a Subnet]) -> Vec<Judged>,
) -> Verdicts {
    let judged = selectors(cx)?.into_iter().flat_map(|selector| match selected(cx, &selector) {
        Ok(subnets) => judge(&selector, &subnets),
        Err(stop) => vec![Judged::new(selector.subject(), || Err(stop))],
    });
    Ok(judged.collect())
}

fn selected<'a>(cx: &Context<'a>, selector: &Selector<'a>) -> Result<Vec<&'a Subnet>, Stop> {
    let subnets = selector.subnets(cx)?;
    if subnets.is_empty() {
        let words = selector.words();
        return Err(Stop::skipped(format!("{words} selects no subnet (see subnets-discovered)")));
    }
    Ok(subnets)
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
