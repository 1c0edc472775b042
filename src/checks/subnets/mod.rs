//! The subnets that NodeClasses or the discovery tag select, and the cluster's own.

pub mod cluster_free_addresses;
pub mod discovered;
pub mod free_addresses;
mod room;
pub mod vpc;
pub mod zones;

use super::{
    Context, Judged, Stop, Verdicts,
    selection::{Selector, selectors},
};
use crate::facts::ec2::Subnet;

const API: &str = "ec2:DescribeSubnets";

/// Judges what each selector selects, where it selects any subnet.
fn each_selection<'a>(
    cx: &Context<'a>,
    judge: impl Fn(&Selector<'a>, &[&'a Subnet]) -> Vec<Judged>,
) -> Verdicts {
    let judged = selectors(cx)?.into_iter().flat_map(|selector| match selected(cx, &selector) {
        Ok(subnets) => judge(&selector, &subnets),
        Err(stop) => vec![Judged { subject: selector.subject(), verdict: Err(stop) }],
    });
    Ok(judged.collect())
}

fn selected<'a>(cx: &Context<'a>, selector: &Selector<'a>) -> Result<Vec<&'a Subnet>, Stop> {
    let subnets = selector.subnets(cx)?;
    if subnets.is_empty() {
        let words = selector.words();
        return Err(Stop::skipped(format!("{words} selects no subnet (see subnets-discovered)")));
    }
    Ok(subnets)
}
