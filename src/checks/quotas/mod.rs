//! What the account may have at once.

pub mod instance_profiles;
pub mod on_demand;
pub mod spot;
mod vcpus;
