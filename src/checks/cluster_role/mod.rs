//! The role that the cluster itself runs with.

pub mod custom_tags;
pub mod permissions;
pub mod trust;

use super::{Context, Stop};
use crate::facts::{arn, iam::Role};

/// The role itself; one that does not exist is for cluster-role-trust to judge.
fn existing<'a>(cx: &Context<'a>) -> Result<&'a Role, Stop> {
    let name = arn::role_name(&cx.cluster()?.role_arn);
    cx.role(name)?.ok_or_else(|| Stop::skipped("the role does not exist; see cluster-role-trust"))
}
