//! karpenter-preflight: **collect facts once, judge them with pure functions, tell the person
//! what will break and how to mend it.**
//!
//! ```text
//! flags ─▶ target ─▶ collect ─▶ facts ─▶ checks ─▶ outcome ─▶ report
//!                       │         │        │  ▲
//!                      AWS        │        │  └── iam, requirements (policies/), errors
//!                                 ▼        ▼
//!                            facts file  exit code
//! ```
//!
//! Data runs one way, left to right; the modules below stand in that order. Nothing on the
//! right calls back to the left.

pub mod checks;
pub mod cli;
pub mod collect;
pub mod commands;
pub mod errors;
pub mod facts;
pub mod iam;
pub mod outcome;
pub mod report;
pub mod requirements;
pub mod target;
