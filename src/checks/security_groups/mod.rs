//! The security groups that NodeClasses or the discovery tag select, and what they let pass.

pub mod cluster_tag;
pub mod discovered;
pub mod reach;
mod rules;
pub mod too_many;
pub mod vpc;

pub use rules::Rules;

use super::{
    Context, Stop,
    discovery::cluster_vpc,
    selection::{Selector, selectors},
    subnets::nodes_in_cluster_subnets,
};
use crate::facts::ec2::SecurityGroup;

const API: &str = "ec2:DescribeSecurityGroups";

/// What a selector selects in the cluster's VPC. Groups of another VPC are
/// security-groups-vpc's to judge.
fn in_vpc<'a>(cx: &Context<'a>, selector: &Selector<'a>) -> Result<Vec<&'a SecurityGroup>, Stop> {
    let vpc = cluster_vpc(cx)?;
    let mut groups = selector.security_groups(cx)?;
    groups.retain(|group| group.vpc_id.as_deref() == Some(vpc));
    if groups.is_empty() {
        let words = selector.words();
        return Err(Stop::skipped(format!(
            "{words} selects no security group of the cluster's VPC (see \
             security-groups-discovered and security-groups-vpc)"
        )));
    }
    Ok(groups)
}

/// The security groups that some nodes have, by id, and under what they are judged.
pub struct NodeGroups {
    pub subject: String,
    pub ids: Result<Vec<String>, Stop>,
}

/// The groups that each selection gives to nodes, and the cluster's own for the nodes that the
/// built-in node pools of EKS Auto Mode launch.
pub fn of_nodes(cx: &Context<'_>) -> Result<Vec<NodeGroups>, Stop> {
    let mut all = Vec::new();
    let stop = match selectors(cx) {
        Ok(selectors) => {
            all.extend(selectors.iter().map(|selector| of_selection(cx, selector)));
            Stop::skipped("no security groups are selected for nodes")
        }
        Err(stop @ Stop::Unknown(_)) => return Err(stop),
        Err(stop) => stop,
    };
    if nodes_in_cluster_subnets(cx)
        && let Some(own) = &cx.cluster()?.network.cluster_security_group_id
        // Beside Karpenter, its nodes may have that group and no other as well.
        && all.iter().all(|nodes| nodes.subject != *own)
    {
        all.push(NodeGroups { subject: own.clone(), ids: Ok(vec![own.clone()]) });
    }
    if all.is_empty() { Err(stop) } else { Ok(all) }
}

fn of_selection<'a>(cx: &Context<'a>, selector: &Selector<'a>) -> NodeGroups {
    let ids = in_vpc(cx, selector)
        .map(|groups| groups.into_iter().map(|group| group.id.clone()).collect::<Vec<_>>());
    let subject = match (selector, &ids) {
        (Selector::Tag(_), Ok(ids)) => ids.join(", "),
        _ => selector.subject(),
    };
    NodeGroups { subject, ids }
}
