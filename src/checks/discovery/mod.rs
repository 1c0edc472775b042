//! The discovery tag: who selects by it, what carries it, and how it is set and taken off.
//!
//! A command that writes a tag replaces its value, and one that takes it off takes it from
//! whoever selects by it. So no remedy here touches a tag that may be another cluster's.

mod missed;
mod near_miss;
mod vpc;

use std::collections::BTreeMap;

use super::{
    Context, Stop,
    remedies::{quote, tags_argument},
};
use crate::target::{Origin, Product, Tag};

pub(super) use missed::Missed;
pub(super) use near_miss::NearMisses;
pub(super) use vpc::{Found, in_vpc};

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

/// The cluster's VPC.
pub(super) fn cluster_vpc<'a>(cx: &'a Context<'_>) -> Result<&'a str, Stop> {
    let vpc = cx.cluster()?.network.vpc_id.as_deref();
    vpc.ok_or_else(|| Stop::unknown("eks:DescribeCluster shows no VPC for the cluster"))
}

/// Whether something with these tags can get the discovery tag without losing a value that may
/// be another cluster's.
pub(super) fn may_take(wanted: &Tag, tags: &BTreeMap<String, String>) -> bool {
    match (tags.get(&wanted.key), &wanted.value) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(held), Some(wanted)) => near_miss::is_same_word(wanted, held),
    }
}

/// The command that gives these a tag.
pub(super) fn tag_command(cx: &Context<'_>, tag: &Tag, ids: &[&str]) -> String {
    let value = tag.value.as_deref().unwrap_or(&cx.target.cluster);
    format!(
        "aws ec2 create-tags --region {} --resources {} --tags {}",
        quote(cx.region()),
        ids.iter().map(|id| quote(id)).collect::<Vec<_>>().join(" "),
        tags_argument(&tag.key, value)
    )
}

/// The command that takes a tag off, where its value is this cluster's name. Any other value may
/// be what another cluster selects by.
pub(super) fn untag_command(
    cx: &Context<'_>,
    tag: &Tag,
    id: &str,
    tags: &BTreeMap<String, String>,
) -> Option<String> {
    let key = &tag.key;
    let value = tags.get(key).filter(|value| **value == cx.target.cluster)?;
    Some(format!(
        "aws ec2 delete-tags --region {} --resources {} --tags {}",
        quote(cx.region()),
        quote(id),
        tags_argument(key, value)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_other_value_is_written_over() {
        let wanted: Tag = "karpenter.sh/discovery=payments-1".parse().unwrap();
        for (key, value, may) in [
            ("Name", "x", true),
            ("karpenter.sh/discovery", "payments-1", true),
            ("karpenter.sh/discovery", "Payments-1 ", true),
            ("karpenter.sh/discovery", "payments-2", false),
            ("karpenter.sh/discovery", "orders", false),
        ] {
            let tags = BTreeMap::from([(key.to_owned(), value.to_owned())]);
            assert_eq!(may_take(&wanted, &tags), may, "{key}={value}");
        }
        let any: Tag = "karpenter.sh/discovery".parse().unwrap();
        assert!(may_take(&any, &BTreeMap::new()));
        let held = BTreeMap::from([("karpenter.sh/discovery".to_owned(), "x".to_owned())]);
        assert!(!may_take(&any, &held));
    }
}
