//! What Karpenter *version X* and EKS Auto Mode ask of an account, read from `policies/`.
//!
//! Everything here is pure: a version and a description of the set-up go in, typed
//! requirements come out. A version newer than every known one is judged by the newest known.

mod controller;
mod entry;
pub mod feature;
mod fill;
pub mod kubernetes;
mod load;
pub mod policy;
pub mod range;
pub mod request;
pub mod rules;
pub mod setup;
pub mod statement;
pub mod version;
pub mod versions;

#[cfg(test)]
mod data_tests;

pub use controller::controller;
pub use feature::Feature;
pub use load::About;
pub use request::{Consequence, Request};
pub use setup::Setup;
pub use version::KarpenterVersion;
