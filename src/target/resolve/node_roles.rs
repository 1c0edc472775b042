//! The roles that nodes run with.

use super::{Judged, NodeRole, Origin, Product, Scope, entries, seen::role_exists};
use crate::{
    facts::{Facts, arn},
    target::{ProductChoice, names},
};

pub struct NodeRoles {
    /// Of the products that are judged.
    pub judged: Vec<NodeRole>,
    /// Of the product that is not.
    pub others: Vec<NodeRole>,
}

pub fn node_roles(
    scope: &Scope,
    facts: &Facts,
    judged: &Judged,
    notes: &mut Vec<String>,
) -> NodeRoles {
    let mut found = NodeRoles { judged: Vec::new(), others: Vec::new() };
    for product in [Product::Karpenter, Product::AutoMode] {
        let shown = of_node_classes(facts, product).unwrap_or_else(|| match product {
            Product::Karpenter => shown_of_karpenter(scope, facts),
            Product::AutoMode => shown_of_auto_mode(facts),
        });
        if !judged.runs(product) {
            found.others.extend(shown);
            continue;
        }
        let named: Vec<_> = scope
            .node_roles
            .iter()
            .filter(|role| product_of_named(scope, facts, judged, role) == product)
            .map(|role| node_role(arn::role_name(role), product, Origin::Flag))
            .collect();
        found.judged.extend(match product {
            _ if !named.is_empty() => named,
            Product::Karpenter if shown.is_empty() => let_in(facts, notes),
            _ => shown,
        });
    }
    let by_entry = found.judged.iter().any(|role| role.origin == Origin::AccessEntry);
    if let (Err(unseen), true) = (facts.node_groups.known(), by_entry) {
        notes.push(format!(
            "the managed node groups are not known ({unseen}): a role of theirs may be among the \
             node roles"
        ));
    }
    found
}

fn node_role(name: &str, product: Product, origin: Origin) -> NodeRole {
    NodeRole { name: name.to_owned(), product, origin }
}

/// The roles that NodeClasses name, where that is certain to be all: each of them names one, or an
/// instance profile that was read.
pub fn of_node_classes(facts: &Facts, product: Product) -> Option<Vec<NodeRole>> {
    let classes = match product {
        Product::Karpenter => &facts.kubernetes.ec2_node_classes,
        Product::AutoMode => &facts.kubernetes.auto_node_classes,
    };
    let classes = classes.value().filter(|classes| !classes.is_empty())?;
    let mut roles: Vec<NodeRole> = Vec::new();
    for class in classes {
        let named = match (&class.role, &class.instance_profile) {
            (Some(role), _) => vec![arn::role_name(role)],
            (None, Some(profile)) => in_profile(facts, profile)?,
            (None, None) => return None,
        };
        for name in named {
            if roles.iter().all(|role| role.name != name) {
                roles.push(node_role(name, product, Origin::NodeClass));
            }
        }
    }
    Some(roles)
}

/// The roles in an instance profile that a NodeClass names. One that does not exist has none.
fn in_profile<'a>(facts: &'a Facts, name: &str) -> Option<Vec<&'a str>> {
    if !names::is_profile_name(name) {
        return Some(Vec::new());
    }
    let profile = facts.named_profiles.get(name)?.found().ok()?;
    let roles = profile.into_iter().flat_map(|profile| &profile.roles);
    Some(roles.map(String::as_str).collect())
}

/// Whose a role is that the user named: by the choice of product or what is judged at all, else
/// Auto Mode's if it is the cluster's own node role or has an entry of Auto Mode's type.
fn product_of_named(scope: &Scope, facts: &Facts, judged: &Judged, role: &str) -> Product {
    let name = arn::role_name(role);
    let is_name = |found: &NodeRole| found.name == name;
    match scope.product {
        ProductChoice::Karpenter => Product::Karpenter,
        ProductChoice::AutoMode => Product::AutoMode,
        ProductChoice::Auto if !judged.runs(Product::Karpenter) => Product::AutoMode,
        ProductChoice::Auto if shown_of_auto_mode(facts).iter().any(is_name) => Product::AutoMode,
        ProductChoice::Auto => Product::Karpenter,
    }
}

/// The roles that something shows to be Karpenter's: held by instance profiles that Karpenter
/// made, let in under a name that says so, or under a usual name.
fn shown_of_karpenter(scope: &Scope, facts: &Facts) -> Vec<NodeRole> {
    let mut roles: Vec<NodeRole> = Vec::new();
    let mut add = |name: &str, origin| {
        if roles.iter().all(|role| role.name != name) {
            roles.push(node_role(name, Product::Karpenter, origin));
        }
    };
    for profile in facts.instance_profiles.value().into_iter().flatten() {
        profile.roles.iter().for_each(|role| add(role, Origin::InstanceProfile));
    }
    for name in entries::of_karpenter(facts) {
        if names::fits_node_role(&name, &scope.cluster) {
            add(&name, Origin::AccessEntry);
        }
    }
    for name in names::node_roles(&scope.cluster) {
        if role_exists(facts, &name) {
            add(&name, Origin::UsualName);
        }
    }
    roles
}

/// Where nothing shows which role is that of Karpenter's nodes: each that is let in as a node
/// and has no other use that AWS shows.
fn let_in(facts: &Facts, notes: &mut Vec<String>) -> Vec<NodeRole> {
    let names = entries::of_karpenter(facts);
    if !names.is_empty() {
        notes.push(format!(
            "nothing shows which role Karpenter's nodes run with; judged is what has an access \
             entry for nodes and is no managed node group's ({}): name the right one with \
             --node-role",
            names.join(", ")
        ));
    }
    names.iter().map(|name| node_role(name, Product::Karpenter, Origin::AccessEntry)).collect()
}

/// The role that Auto Mode was switched on with, and those with an entry of Auto Mode's type.
fn shown_of_auto_mode(facts: &Facts) -> Vec<NodeRole> {
    let built_in =
        facts.cluster.value().and_then(|cluster| cluster.auto_mode.node_role_arn.as_deref());
    let built_in = built_in.map(arn::role_name);
    let mut roles: Vec<NodeRole> = built_in
        .map(|name| node_role(name, Product::AutoMode, Origin::Cluster))
        .into_iter()
        .collect();
    for name in entries::of_auto_mode(facts) {
        if roles.iter().all(|role| role.name != name) {
            roles.push(node_role(&name, Product::AutoMode, Origin::AccessEntry));
        }
    }
    roles
}
