//! Whether a NodePool could make a node for a pod, by what both say of labels and taints.
//!
//! It asks less than Karpenter does, which also looks at instance types and at other pods: what
//! does not fit here fits nowhere, and what fits may still find no instance type.

use std::collections::{BTreeMap, BTreeSet};

use crate::facts::{
    Facts,
    kubernetes::{
        Taint,
        controller::{NodeRequirement, Toleration},
        node_pool::NodePool,
        workloads::PendingPod,
    },
};

const ZONE: &str = "topology.kubernetes.io/zone";
const HOST: &str = "kubernetes.io/hostname";

/// Labels that instance types bring, so that a NodePool need not name them.
/// `pkg/apis/v1/labels.go` of Karpenter and of its AWS provider, 1.14.
const WELL_KNOWN: &[&str] = &[
    "karpenter.sh/capacity-type",
    "kubernetes.io/arch",
    "kubernetes.io/os",
    "node.kubernetes.io/instance-type",
    "node.kubernetes.io/windows-build",
    "topology.kubernetes.io/region",
    "topology.k8s.aws/zone-id",
    ZONE,
];
const WELL_KNOWN_PREFIXES: &[&str] = &["karpenter.k8s.aws/", "eks.amazonaws.com/instance-"];

/// Old names of labels, which Karpenter reads as the new ones.
const NORMALIZED: &[(&str, &str)] = &[
    ("beta.kubernetes.io/arch", "kubernetes.io/arch"),
    ("beta.kubernetes.io/os", "kubernetes.io/os"),
    ("beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"),
    ("failure-domain.beta.kubernetes.io/zone", ZONE),
    ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"),
    ("topology.ebs.csi.aws.com/zone", ZONE),
];

/// Why a NodePool makes no node for a pod.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Misfit {
    Taint(String),
    /// The pod selects by a label that the NodePool does not know.
    UnknownLabel(String),
    /// Key, what the pod asks for, and what the NodePool has.
    Value(String, String, String),
    Zone(String, String),
}

impl Misfit {
    pub fn error(&self) -> &'static str {
        match self {
            Self::Taint(_) => "taint-not-tolerated",
            Self::UnknownLabel(_) => "incompatible-label-unknown",
            Self::Value(..) => "incompatible-requirement",
            Self::Zone(..) => "incompatible-zone",
        }
    }

    /// What the NodePool does, after its name.
    pub fn words(&self) -> String {
        match self {
            Self::Taint(taint) => format!("has the taint {taint}, which they do not tolerate"),
            Self::UnknownLabel(asked) => {
                format!("gives its nodes no such label as they select: {asked}")
            }
            Self::Value(key, asked, has) => {
                format!("has {key} {has}, and they ask for {key} {asked}")
            }
            Self::Zone(asked, has) => {
                format!("makes nodes in the zones {has}, and they ask for the zone {asked}")
            }
        }
    }
}

/// Why no NodePool takes a pod: the one that comes nearest, and what is in the way there. `None`
/// where one could take it.
pub fn nearest<'a>(
    facts: &Facts,
    pools: &'a [NodePool],
    pod: &PendingPod,
) -> Option<(&'a NodePool, Vec<Misfit>)> {
    let judged = pools.iter().map(|pool| (pool, misfits(facts, pool, pod)));
    judged.min_by_key(|(_, misfits)| misfits.len()).filter(|(_, misfits)| !misfits.is_empty())
}

fn misfits(facts: &Facts, pool: &NodePool, pod: &PendingPod) -> Vec<Misfit> {
    let taints = pool.taints.iter().filter(|taint| !tolerated(taint, &pod.tolerations));
    let mut found: Vec<_> = taints.map(|taint| Misfit::Taint(written(taint))).collect();
    let offered = offered(facts, pool);
    let selected: Vec<_> = pod.node_selector.iter().map(|(k, v)| is_in(k, [v.clone()])).collect();
    found.extend(selected.iter().filter_map(|wanted| misfit(wanted, &offered)));
    // One of the terms must fit.
    let terms = pod.required_node_affinity.iter().map(|term| -> Vec<Misfit> {
        term.iter().filter_map(|wanted| misfit(wanted, &offered)).collect()
    });
    found.extend(terms.min_by_key(Vec::len).into_iter().flatten());
    found
}

/// What the NodePool says of its nodes' labels.
fn offered(facts: &Facts, pool: &NodePool) -> Vec<NodeRequirement> {
    let mut offered = pool.requirements.clone();
    offered.extend(pool.labels.iter().map(|(key, value)| is_in(key, [value.clone()])));
    offered.push(is_in("karpenter.sh/nodepool", [pool.meta.name.clone()]));
    let class = &pool.node_class;
    let class_label = format!("{}/{}", class.group, class.kind.to_ascii_lowercase());
    offered.push(is_in(&class_label, [class.name.clone()]));
    if class.group == "eks.amazonaws.com" {
        offered.push(is_in("eks.amazonaws.com/compute-type", ["auto".to_owned()]));
    }
    let zones = zones(facts, pool);
    if !zones.is_empty() {
        offered.push(is_in(ZONE, zones));
    }
    offered
}

/// The zones of the subnets that the NodePool's NodeClass found; none where one is not known.
fn zones(facts: &Facts, pool: &NodePool) -> BTreeSet<String> {
    let kubernetes = &facts.kubernetes;
    let classes = [&kubernetes.ec2_node_classes, &kubernetes.auto_node_classes];
    let mut classes = classes.into_iter().filter_map(|classes| classes.value()).flatten();
    let Some(class) = classes.find(|class| class.meta.name == pool.node_class.name) else {
        return BTreeSet::new();
    };
    let known: BTreeMap<_, _> = [&facts.vpc_subnets, &facts.discovered_subnets]
        .into_iter()
        .filter_map(|subnets| subnets.value())
        .flatten()
        .map(|subnet| (subnet.id.as_str(), subnet.zone.as_str()))
        .collect();
    let zones = class.status.subnets.iter().map(|id| known.get(id.as_str()));
    zones.map(|zone| zone.map(|zone| (*zone).to_owned())).collect::<Option<_>>().unwrap_or_default()
}

fn is_in(key: &str, values: impl IntoIterator<Item = String>) -> NodeRequirement {
    NodeRequirement {
        key: key.to_owned(),
        operator: "In".to_owned(),
        values: values.into_iter().collect(),
    }
}

fn normalized(key: &str) -> &str {
    NORMALIZED.iter().find(|(old, _)| *old == key).map_or(key, |(_, new)| new)
}

fn misfit(wanted: &NodeRequirement, offered: &[NodeRequirement]) -> Option<Misfit> {
    let key = normalized(&wanted.key);
    let asked = || brief(wanted);
    if key == HOST {
        let new = "of a node that is yet to be made".to_owned();
        return (wanted.operator == "In").then(|| Misfit::Value(key.to_owned(), asked(), new));
    }
    let of_key: Vec<_> = offered.iter().filter(|has| normalized(&has.key) == key).collect();
    if let Some(has) = of_key.iter().find(|has| !meet(wanted, has)) {
        return Some(match key {
            ZONE => Misfit::Zone(wanted.values.join(", "), has.values.join(", ")),
            _ => Misfit::Value(key.to_owned(), asked(), brief(has)),
        });
    }
    let well_known = WELL_KNOWN.contains(&key)
        || WELL_KNOWN_PREFIXES.iter().any(|prefix| key.starts_with(prefix));
    let needs_it = !matches!(wanted.operator.as_str(), "NotIn" | "DoesNotExist");
    let unknown = of_key.is_empty() && !well_known && needs_it;
    unknown.then(|| Misfit::UnknownLabel(format!("{} {}", wanted.key, asked())))
}

/// Whether some value satisfies both.
fn meet(a: &NodeRequirement, b: &NodeRequirement) -> bool {
    let negative = |r: &NodeRequirement| matches!(r.operator.as_str(), "NotIn" | "DoesNotExist");
    match (a.operator.as_str(), b.operator.as_str()) {
        _ if negative(a) && negative(b) => true,
        ("DoesNotExist", _) | (_, "DoesNotExist") => false,
        ("In", _) => a.values.iter().any(|value| allows(b, value)),
        (_, "In") => b.values.iter().any(|value| allows(a, value)),
        // Two bounds may leave nothing between them; that is too rare to be looked at here.
        _ => true,
    }
}

fn allows(requirement: &NodeRequirement, value: &str) -> bool {
    let listed = || requirement.values.iter().any(|other| other == value);
    let bound = || requirement.values.first().and_then(|bound| bound.parse::<i64>().ok());
    let compare = |holds: fn(i64, i64) -> bool| match (value.parse::<i64>(), bound()) {
        (Ok(value), Some(bound)) => holds(value, bound),
        _ => false,
    };
    match requirement.operator.as_str() {
        "In" => listed(),
        "NotIn" => !listed(),
        "DoesNotExist" => false,
        "Gt" => compare(|value, bound| value > bound),
        "Lt" => compare(|value, bound| value < bound),
        "Gte" => compare(|value, bound| value >= bound),
        "Lte" => compare(|value, bound| value <= bound),
        _ => true,
    }
}

fn brief(requirement: &NodeRequirement) -> String {
    match requirement.values.as_slice() {
        [] => requirement.operator.clone(),
        values => format!("{} [{}]", requirement.operator, values.join(", ")),
    }
}

/// Whether a toleration covers a taint that keeps pods off.
pub fn tolerated(taint: &Taint, tolerations: &[Toleration]) -> bool {
    taint.effect == "PreferNoSchedule"
        || tolerations.iter().any(|toleration| {
            let effect = toleration.effect.is_empty() || toleration.effect == taint.effect;
            let exists = toleration.operator == "Exists";
            let key = toleration.key == taint.key || (toleration.key.is_empty() && exists);
            effect && key && (exists || toleration.value == taint.value)
        })
}

fn written(taint: &Taint) -> String {
    match taint.value.as_str() {
        "" => format!("{}:{}", taint.key, taint.effect),
        value => format!("{}={value}:{}", taint.key, taint.effect),
    }
}
