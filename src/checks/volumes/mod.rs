//! The volumes of nodes.

pub mod failed_launches;
pub mod keys;
pub mod snapshots;
