//! What Karpenter *version X* and EKS Auto Mode ask of an account, read from `policies/`.
//!
//! ```text
//! policies/ ─▶ load ─▶ entries ──┐
//!                                ├─▶ requests (controller, node, auto_mode, queue)
//! version, Setup ─▶ fill ────────┤
//!                                └─▶ documents (policy, role), rules, diff
//! ```
//!
//! Everything here is pure: a version and a description of the set-up go in, typed
//! requirements come out. A version newer than every known one is judged by the newest known.

mod auto_mode;
mod controller;
pub mod diff;
mod entry;
mod event_pattern;
pub mod feature;
mod fill;
pub mod kubernetes;
mod load;
pub mod node;
pub mod policy;
mod queue;
pub mod range;
pub mod request;
pub mod role;
pub mod rules;
pub mod setup;
mod sources;
pub mod statement;
pub mod statement_diff;
pub mod version;
pub mod versions;

#[cfg(test)]
mod auto_mode_tests;
#[cfg(test)]
mod consistency_tests;
#[cfg(test)]
mod data_tests;

pub use auto_mode::{CUSTOM_TAGS, auto_mode};
pub use controller::controller;
pub use diff::diff;
pub use feature::Feature;
pub use load::About;
pub use node::node;
pub use policy::iam_set;
pub use queue::{SENDER, queue};
pub use request::{Consequence, Request};
pub use setup::Setup;
pub use sources::sources;
pub use version::KarpenterVersion;
