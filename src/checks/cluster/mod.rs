//! How the cluster itself is set up.

pub mod auth_mode;
pub mod status;
