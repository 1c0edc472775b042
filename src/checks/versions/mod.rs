//! Whether the versions in use are meant for each other.

pub mod crds;
pub mod kubernetes;
pub mod release;
mod remedy;
pub mod webhooks;
