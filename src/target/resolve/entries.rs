//! Roles that the cluster lets in as nodes.

use std::collections::BTreeSet;

use crate::facts::{Facts, arn};

/// The roles that may be those of Karpenter's nodes: with an entry for nodes of one's own, and
/// neither a managed node group's nor the one that Auto Mode was switched on with.
pub fn of_karpenter(facts: &Facts) -> Vec<String> {
    let auto_mode =
        facts.cluster.value().and_then(|cluster| cluster.auto_mode.node_role_arn.as_deref());
    let mut roles = of_types(facts, &["EC2_LINUX", "EC2_WINDOWS"]);
    roles.retain(|role| auto_mode.is_none_or(|arn| arn::role_name(arn) != role));
    roles
}

/// The roles with an entry for nodes of EKS Auto Mode.
pub fn of_auto_mode(facts: &Facts) -> Vec<String> {
    of_types(facts, &["EC2"])
}

/// Names of the roles with an access entry of one of these types, without the roles of managed
/// node groups.
fn of_types(facts: &Facts, types: &[&str]) -> Vec<String> {
    let of_node_groups: BTreeSet<&str> = facts
        .node_groups
        .value()
        .into_iter()
        .flatten()
        .filter_map(|group| group.node_role_arn.as_deref())
        .collect();
    facts
        .access_entries
        .value()
        .into_iter()
        .flatten()
        .filter(|(principal, _)| !of_node_groups.contains(principal.as_str()))
        .filter(|(_, entry)| {
            entry.value().is_some_and(|entry| {
                types.iter().any(|kind| kind.eq_ignore_ascii_case(&entry.entry_type))
            })
        })
        .map(|(principal, _)| arn::role_name(principal).to_owned())
        .collect()
}
