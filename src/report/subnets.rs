//! The room in the subnets that nodes and the cluster run in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    facts::{Facts, ec2::Subnet},
    target::Product,
    target::Target,
};

/// EC2 keeps the first four addresses of a subnet and the last one.
/// <https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html>
const RESERVED: u32 = 5;

/// A subnet and its free IPv4 addresses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SubnetRoom {
    pub id: String,
    /// Name of the availability zone.
    pub zone: String,
    pub cidr: Option<String>,
    pub free_addresses: u32,
    /// How many an empty subnet of this size has.
    pub addresses: Option<u32>,
    /// Whether a NodeClass or the discovery tag selects it.
    pub selected: bool,
    /// Whether it was given to EKS for the cluster.
    pub of_cluster: bool,
}

/// Those that NodeClasses select, else those with the discovery tag, and the cluster's own.
pub(super) fn of(target: &Target, facts: &Facts) -> Vec<SubnetRoom> {
    let tagged = facts.discovered_subnets.value().filter(|_| target.runs(Product::Karpenter));
    let of_classes = facts.selected_subnets.iter().filter_map(|selected| selected.found.value());
    // What a NodeClass selects decides; the tag is a guess.
    let mut selected: Vec<&Subnet> = of_classes.flatten().collect();
    if selected.is_empty() {
        selected = tagged.into_iter().flatten().collect();
    }
    selected.sort_by(|a, b| a.id.cmp(&b.id));
    selected.dedup_by(|a, b| a.id == b.id);
    let cluster = facts.cluster.value();
    let own = cluster.map(|cluster| cluster.network.subnet_ids.as_slice()).unwrap_or_default();
    let is_selected = |subnet: &Subnet| selected.iter().any(|other| other.id == subnet.id);
    let of_cluster = facts.vpc_subnets.value().into_iter().flatten();
    let of_cluster = of_cluster.filter(|subnet| own.contains(&subnet.id) && !is_selected(subnet));
    let mut rooms: Vec<_> = selected
        .iter()
        .copied()
        .chain(of_cluster)
        .map(|subnet| SubnetRoom {
            id: subnet.id.clone(),
            zone: subnet.zone.clone(),
            cidr: subnet.cidr.clone(),
            free_addresses: subnet.free_addresses,
            addresses: subnet.cidr.as_deref().and_then(size),
            selected: is_selected(subnet),
            of_cluster: own.contains(&subnet.id),
        })
        .collect();
    rooms.sort_by(|a, b| (&a.zone, &a.id).cmp(&(&b.zone, &b.id)));
    rooms
}

/// The addresses that EC2 hands out of an IPv4 range.
fn size(cidr: &str) -> Option<u32> {
    let bits: u32 = cidr.rsplit_once('/')?.1.parse().ok()?;
    let addresses = 2_u64.checked_pow(32_u32.checked_sub(bits)?)?;
    u32::try_from(addresses).ok()?.checked_sub(RESERVED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{checks::testing::Account, target::resolve::resolve};

    #[test]
    fn sizes() {
        for (cidr, addresses) in [
            ("10.0.1.0/24", Some(251)),
            ("10.0.0.0/16", Some(65531)),
            ("10.0.0.0/28", Some(11)),
            ("10.0.0.0/31", None),
            ("0.0.0.0/0", None),
            ("10.0.0.0/33", None),
            ("nonsense", None),
        ] {
            assert_eq!(size(cidr), addresses, "{cidr}");
        }
    }

    #[test]
    fn selected_and_own() {
        for (account, selected, own) in [(Account::Karpenter, 3, 3), (Account::AutoMode, 0, 3)] {
            let saved = account.patched(&serde_json::json!({}));
            let rooms = of(&resolve(&saved.scope, &saved.facts), &saved.facts);
            let count = |is: fn(&SubnetRoom) -> bool| rooms.iter().filter(|room| is(room)).count();
            assert_eq!(count(|room| room.selected), selected, "{account:?}: {rooms:#?}");
            assert_eq!(count(|room| room.of_cluster), own, "{account:?}: {rooms:#?}");
        }
    }
}
