//! Pods find a node, and can run there.

pub mod attach_limits;
pub mod in_tree_volumes;
pub mod limits;
pub mod oom_killed;
pub mod pending;
pub mod requests;
pub mod startup_taints;
pub mod volume_claims;
pub mod volume_spread;
mod volumes;
pub mod windows;
