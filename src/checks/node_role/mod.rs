//! The roles that nodes run with.

pub mod access_entry;
pub mod aws_auth;
mod creation;
pub mod daemon_sets;
pub mod exists;
pub mod instance_profile;
pub mod not_cluster_role;
pub mod permissions;
pub mod trust;

use super::{Context, Judged, Stop};
use crate::{
    facts::{eks::AuthenticationMode, iam::Role},
    outcome::Finding,
    target::{NodeRole, Product, names},
};

type Verdict = Result<Finding, Stop>;

/// Judges each node role of the target on its own. A product whose node role is not known gets
/// one line that says why there is nothing to judge.
pub fn each(cx: &Context<'_>, judge: impl Fn(&NodeRole) -> Verdict) -> Vec<Judged> {
    each_or(cx, judge, |product| Err(nothing_to_judge(cx, product)))
}

/// The same, with a verdict of the check's own on a product whose node role is not known.
fn each_or(
    cx: &Context<'_>,
    judge: impl Fn(&NodeRole) -> Verdict,
    none: impl Fn(Product) -> Verdict,
) -> Vec<Judged> {
    each_many(cx, |role| vec![Judged::new(&role.name, || judge(role))], none)
}

/// The same, with several verdicts on one role.
fn each_many(
    cx: &Context<'_>,
    judge: impl Fn(&NodeRole) -> Vec<Judged>,
    none: impl Fn(Product) -> Verdict,
) -> Vec<Judged> {
    let mut judged = Vec::new();
    for product in cx.target.products.iter().map(|product| product.value) {
        let before = judged.len();
        let roles = cx.target.node_roles.iter().filter(|role| role.product == product);
        judged.extend(
            roles.flat_map(|role| judge(role).into_iter().map(|judged| judged.of_role(&role.name))),
        );
        if judged.len() == before {
            judged.push(Judged::new(unnamed(cx, product), || none(product)));
        }
    }
    // A product that may be there too may have node roles of its own.
    if let Some(unseen) = &cx.target.product_unseen {
        let subject = unnamed(
            cx,
            match cx.target.runs(Product::AutoMode) {
                true => Product::Karpenter,
                false => Product::AutoMode,
            },
        );
        judged.push(Judged::new(subject, || Err(unseen.clone().into())));
    }
    judged
}

/// The role itself; a role that does not exist is for node-role-exists to judge.
fn existing<'a>(cx: &Context<'a>, role: &NodeRole) -> Result<&'a Role, Stop> {
    cx.role(&role.name)?
        .ok_or_else(|| Stop::skipped("the role does not exist; see node-role-exists"))
}

/// What stands for the node role of a product as long as none is known.
fn unnamed(cx: &Context<'_>, product: Product) -> String {
    match product {
        Product::Karpenter => creation::new_name(&cx.target.cluster),
        Product::AutoMode => cx.target.cluster.clone(),
    }
}

/// Why no node role of a product can be judged: what could hide one, or that there is none.
pub fn nothing_to_judge(cx: &Context<'_>, product: Product) -> Stop {
    let none = match product {
        Product::Karpenter => "no node role was found; see node-role-exists",
        Product::AutoMode => {
            "no built-in node pool is on, and no access entry is of type EC2; if you have a \
             NodeClass of your own, name its role with --node-role"
        }
    };
    all_read(cx, product).err().unwrap_or_else(|| Stop::skipped(none))
}

/// Stops at the first question without an answer whose answer could have shown a node role.
fn all_read(cx: &Context<'_>, product: Product) -> Result<(), Stop> {
    if product == Product::Karpenter {
        for name in names::node_roles(&cx.target.cluster) {
            cx.role(&name)?;
        }
        cx.facts.instance_profiles.found()?;
    }
    if cx.cluster()?.authentication_mode != AuthenticationMode::ConfigMap {
        for entry in cx.facts.access_entries.known()?.values() {
            entry.found()?;
        }
    }
    Ok(())
}
