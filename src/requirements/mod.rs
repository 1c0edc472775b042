//! What Karpenter *version X* and EKS Auto Mode ask of an account, read from `policies/`.
//!
//! Everything here is pure: a version and a description of the set-up go in, typed
//! requirements come out. A version newer than every known one is judged by the newest known.

pub mod feature;
pub mod kubernetes;
mod load;
pub mod range;
pub mod rules;
pub mod version;
pub mod versions;

pub use feature::Feature;
pub use load::About;
pub use version::KarpenterVersion;
