//! Volumes of nodes and of workloads, where more than one check looks at them.

use crate::{
    checks::{Context, Stop, workloads::Tally},
    facts::kubernetes::workloads::Pods,
};

/// Claims of one workload on one node that are many: a third of the 28 attachments that most
/// Nitro instances share between volumes and network interfaces.
/// <https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/volume_limits.html>
pub const MANY_CLAIMS: u32 = 10;

/// A node and its EBS volumes.
pub struct NodeVolumes<'a> {
    pub name: &'a str,
    pub attached: u32,
    pub limit: u32,
}

impl NodeVolumes<'_> {
    /// Nine tenths are attached: on an instance that takes 25, there is room for two more.
    pub fn is_near(&self) -> bool {
        self.attached * 10 >= self.limit * 9
    }
}

/// The nodes that say how many EBS volumes they take.
pub fn of_nodes<'a>(cx: &Context<'a>) -> Result<Vec<NodeVolumes<'a>>, Stop> {
    let kubernetes = cx.kubernetes()?;
    let limits = kubernetes.workloads.attach_limits.known()?;
    let nodes = kubernetes.nodes.known()?.iter().filter_map(|node| {
        let limit = *limits.get(&node.meta.name)?;
        Some(NodeVolumes { name: &node.meta.name, attached: node.attached_volumes, limit })
    });
    Ok(nodes.filter(|node| node.limit > 0).collect())
}

/// The workloads that put many volumes on one node, and do nothing against it.
pub fn heaped(pods: &Pods) -> Tally<'_> {
    Tally::new(pods, |workload| match workload.claims_on_one_node {
        many if many >= MANY_CLAIMS && !workload.spread => many,
        _ => 0,
    })
}
