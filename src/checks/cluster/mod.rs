//! How the cluster itself is set up.

pub mod admission_webhooks;
pub mod auth_mode;
pub mod status;
