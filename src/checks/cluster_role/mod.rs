//! The role that the cluster runs with.

pub mod trust;
