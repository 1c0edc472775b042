//! karpenter-preflight: collect facts once, judge them with pure functions, tell the
//! person what will break and how to mend it.

pub mod iam;
pub mod requirements;
pub mod errors;
