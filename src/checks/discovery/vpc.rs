//! Whether what the discovery tag selects is in the cluster's VPC.

use std::collections::BTreeMap;

use super::{cluster_vpc, untag_command};
use crate::{
    checks::{Context, Stop},
    outcome::{Finding, Remedy},
};

/// Something that the discovery tag selects.
pub struct Found<'a> {
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
    let tag = &cx.target.discovery_tag.value;
    let seen = format!("{label} has the tag {tag}, but is in {of}; the cluster is in {vpc}.");
    Ok(Finding::fail(seen, effect)
        .errors(&["security-group-subnet-vpc-mismatch"])
        .evidence(*api, *path, of)
        .mend(remedy(cx, id, of, tags)))
}

fn remedy(cx: &Context<'_>, id: &str, vpc: &str, tags: &BTreeMap<String, String>) -> Remedy {
    match untag_command(cx, id, tags) {
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
