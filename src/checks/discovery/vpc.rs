//! Whether what is selected is in the cluster's VPC.

use std::collections::BTreeMap;

use super::{cluster_vpc, untag_command};
use crate::{
    checks::{
        Context, Stop,
        node_classes::Class,
        selection::{Selector, single_tag},
    },
    facts::kubernetes::node_class::SelectorTerm,
    outcome::{Finding, Remedy},
    target::Tag,
};

/// Something that is selected.
pub struct Found<'a> {
    pub by: &'a Selector<'a>,
    /// The terms of a NodeClass that select it.
    pub terms: &'a [SelectorTerm],
    pub id: &'a str,
    /// The id, and the name where it has one.
    pub label: String,
    pub vpc_id: Option<&'a str>,
    pub tags: &'a BTreeMap<String, String>,
    /// The API that showed it, and where in its answer the VPC stands.
    pub api: &'static str,
    pub path: &'static str,
}

/// Judges by the VPC; `effect` is what happens where it is another one.
pub fn in_vpc(cx: &Context<'_>, found: &Found<'_>, effect: String) -> Result<Finding, Stop> {
    let Found { id, label, tags, api, path, .. } = found;
    let vpc = cluster_vpc(cx)?;
    let Some(of) = found.vpc_id else {
        return Err(Stop::unknown(format!("{api} shows no VPC for it")));
    };
    if of == vpc {
        return Ok(Finding::pass(format!("{label} is in {vpc}.")));
    }
    let by = match found.by {
        Selector::Tag(tag) => format!("{label} has the tag {tag}"),
        Selector::Class(class) => format!("{class} selects {label}"),
    };
    let seen = format!("{by}, but it is in {of}; the cluster is in {vpc}.");
    Ok(Finding::fail(seen, effect)
        .errors(&["security-group-subnet-vpc-mismatch"])
        .evidence(*api, *path, of)
        .mend(match found.by {
            Selector::Tag(tag) => by_tag(cx, tag, id, of, tags),
            Selector::Class(class) => by_class(cx, class, found, of),
        }))
}

fn by_class(cx: &Context<'_>, class: &Class<'_>, found: &Found<'_>, vpc: &str) -> Remedy {
    let Found { id, tags, terms, .. } = found;
    if terms.iter().any(|term| term.id.as_deref() == Some(id)) {
        return Remedy::new(format!("Take {id} out of the terms of {class}.")).run(class.edit());
    }
    let carried = |tag: &Tag| {
        let value = tags.get(&tag.key);
        value.is_some_and(|value| tag.value.as_ref().is_none_or(|wanted| wanted == value))
    };
    if let Some(tag) = terms.iter().filter_map(single_tag).find(carried)
        && untag_command(cx, &tag, id, tags).is_some()
    {
        return by_tag(cx, &tag, id, vpc, tags);
    }
    Remedy::new(format!(
        "Make the terms of {class} narrower, so that they select in the cluster's VPC alone: by \
         ids, or by a further tag that nothing in {vpc} has."
    ))
    .run(class.edit())
}

fn by_tag(
    cx: &Context<'_>,
    tag: &Tag,
    id: &str,
    vpc: &str,
    tags: &BTreeMap<String, String>,
) -> Remedy {
    match untag_command(cx, tag, id, tags) {
        Some(command) => Remedy::new(format!(
            "Take the tag off {id}. If a cluster in {vpc} needs it, give each cluster a value of \
             its own instead."
        ))
        .run(command),
        None => Remedy::new(format!(
            "A cluster in {vpc} may select {id} by this tag, so leave it there. Give this cluster \
             a value of its own, or select by id."
        )),
    }
}
