//! The nodes of the cluster as hosts of the controller.

use std::collections::BTreeMap;

use super::host::{Host, host};
use crate::{
    checks::{Context, Stop, remedies::listed, workloads::placed_pods},
    facts::kubernetes::{controller::Deployment, node::Node},
};

/// The nodes of the cluster, as hosts of the controller.
pub struct Hosts<'a> {
    all: Vec<(&'a Node, Host)>,
}

impl<'a> Hosts<'a> {
    pub fn of(
        cx: &Context<'a>,
        deployment: &Deployment,
        own: impl Fn(&str) -> u32,
    ) -> Result<Self, Stop> {
        let pods = placed_pods(cx)?;
        let nodes = cx.kubernetes()?.nodes.known()?.iter();
        let all: Vec<_> = nodes
            .map(|node| {
                let name = &node.meta.name;
                let used = pods.node_use.get(name).copied().unwrap_or_default();
                (node, host(deployment, node, used, own(name)))
            })
            .collect();
        let unread = all.iter().find_map(|(_, host)| match host {
            Host::Unknown(label) => Some(label),
            _ => None,
        });
        match unread {
            Some(label) => Err(Stop::unknown(format!(
                "it selects nodes by {label}, and that label of nodes is not read"
            ))),
            None => Ok(Self { all }),
        }
    }

    fn taking(&self) -> impl Iterator<Item = (&'a Node, u32)> {
        self.all.iter().filter_map(|(node, host)| match host {
            Host::Takes(count) => Some((*node, *count)),
            _ => None,
        })
    }

    pub fn take(&self) -> u32 {
        self.taking().fold(0, |sum: u32, (_, count)| sum.saturating_add(count))
    }

    pub fn names(&self) -> Vec<&'a str> {
        self.taking().map(|(node, _)| node.meta.name.as_str()).collect()
    }

    /// Which take a replica, and how many do not for which reason.
    pub fn words(&self) -> String {
        let takes = match self.names().as_slice() {
            [] => "No node can take one".to_owned(),
            names => format!("{} can take one", listed(names)),
        };
        let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
        for (_, host) in &self.all {
            if let Host::Refuses(why) = host {
                *reasons.entry(why).or_default() += 1;
            }
        }
        let reasons: Vec<_> = reasons.iter().map(|(why, count)| format!("{count} {why}")).collect();
        match reasons.as_slice() {
            [] if self.all.is_empty() => "There is no node.".to_owned(),
            [] => format!("{takes}."),
            _ => format!("{takes}. Of the other nodes are {}.", reasons.join(", ")),
        }
    }
}
