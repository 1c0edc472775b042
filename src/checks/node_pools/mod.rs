//! NodePools: which NodeClass they use, and what they ask of instances.

pub mod exists;
pub mod instance_types;
pub mod node_class_ref;
pub mod zones;

use super::{
    Context,
    node_classes::{self, Class},
};
use crate::facts::kubernetes::{controller::NodeRequirement, node_pool::NodePool};

/// The NodePools that use a NodeClass.
pub fn of<'a>(cx: &Context<'a>, class: &Class<'a>) -> impl Iterator<Item = &'a NodePool> {
    let (group, kind, name) = (node_classes::group(class.product), class.kind(), class.name());
    let pools = cx.facts.kubernetes.node_pools.value().into_iter().flatten();
    pools.filter(move |pool| {
        let used = &pool.node_class;
        // Before v1 a reference need not name group and kind.
        let fits = |field: &str, value| field.is_empty() || field == value;
        used.name == name && fits(&used.group, group) && fits(&used.kind, kind)
    })
}

/// What a NodePool asks of one label.
#[derive(Debug, Default)]
pub struct Values<'a> {
    requirements: Vec<&'a NodeRequirement>,
    /// A label that its nodes get is a requirement too.
    label: Option<&'a str>,
}

impl<'a> Values<'a> {
    pub fn of(pool: &'a NodePool, key: &str) -> Self {
        let is_key = |other: &str| normalized(other) == key;
        let mut labels = pool.labels.iter().filter(|(label, _)| is_key(label));
        Self {
            requirements: pool.requirements.iter().filter(|r| is_key(&r.key)).collect(),
            label: labels.next().map(|(_, value)| value.as_str()),
        }
    }

    pub fn allows(&self, value: &str) -> bool {
        self.label.is_none_or(|label| label == value)
            && self.requirements.iter().all(|requirement| allows(requirement, value))
    }

    /// The values that are named as wanted.
    pub fn named(&self) -> Vec<&'a str> {
        let wanted = self.requirements.iter().filter(|requirement| requirement.operator == "In");
        let values = wanted.flat_map(|requirement| requirement.values.iter().map(String::as_str));
        let mut named: Vec<_> = values.chain(self.label).filter(|v| self.allows(v)).collect();
        named.sort_unstable();
        named.dedup();
        named
    }
}

fn allows(requirement: &NodeRequirement, value: &str) -> bool {
    let listed = requirement.values.iter().any(|listed| listed == value);
    let limit = requirement.values.first().and_then(|limit| limit.parse::<i64>().ok());
    let than_limit = value.parse::<i64>().ok().zip(limit);
    match requirement.operator.as_str() {
        "In" => listed,
        "NotIn" => !listed,
        "DoesNotExist" => false,
        "Gt" => than_limit.is_some_and(|(value, limit)| value > limit),
        "Lt" => than_limit.is_some_and(|(value, limit)| value < limit),
        _ => true,
    }
}

/// The label's name of today for one of yesterday, as Karpenter reads them
/// (`NormalizedLabels` in kubernetes-sigs/karpenter, `pkg/apis/v1/labels.go`).
fn normalized(key: &str) -> &str {
    match key {
        "failure-domain.beta.kubernetes.io/zone" => "topology.kubernetes.io/zone",
        "beta.kubernetes.io/arch" => "kubernetes.io/arch",
        "beta.kubernetes.io/os" => "kubernetes.io/os",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn requirements_hold_together() {
        for (requirements, allowed, named) in [
            (json!([]), "abc", ""),
            (json!([{"operator": "In", "values": ["a", "b"]}]), "ab", "ab"),
            (json!([{"operator": "NotIn", "values": ["a"]}]), "bc", ""),
            (json!([{"operator": "Exists"}]), "abc", ""),
            (json!([{"operator": "DoesNotExist"}]), "", ""),
            (
                json!([{"operator": "In", "values": ["a", "b"]}, {"operator": "NotIn", "values": ["b"]}]),
                "a",
                "a",
            ),
        ] {
            let mut pool: NodePool =
                serde_json::from_value(json!({"requirements": requirements})).unwrap();
            for requirement in &mut pool.requirements {
                requirement.key = "failure-domain.beta.kubernetes.io/zone".to_owned();
            }
            let values = Values::of(&pool, "topology.kubernetes.io/zone");
            let found: String =
                ["a", "b", "c"].into_iter().filter(|zone| values.allows(zone)).collect();
            assert_eq!((found.as_str(), values.named().concat().as_str()), (allowed, named));
        }
    }
}
