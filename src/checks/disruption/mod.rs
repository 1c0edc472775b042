//! Nodes that are not needed, or outdated, are given back.

pub mod constraints;
pub mod do_not_disrupt;
pub mod nodepool_budgets;
pub mod pod_budgets;
pub mod without_owner;
