//! karpenter-preflight: **collect facts once, judge them with pure functions, tell the person
//! what will break and how to mend it.**
//!
//! ```text
//! flags, config ─▶ target ─▶ collect ─▶ facts ─▶ checks ─▶ outcome ─▶ report
//!                               │         │        │  ▲
//!                              AWS        │        │  └── iam, requirements (policies/), errors
//!                                         ▼        ▼
//!                                    facts file  exit code
//! ```
//!
//! Data runs one way, left to right; the modules below stand in that order. Nothing on the
//! right calls back to the left.

pub mod cli;
pub mod config;
pub mod commands;
pub mod target;
pub mod collect;
pub mod facts;
pub mod iam;
pub mod requirements;
pub mod checks;
pub mod errors;
pub mod outcome;
pub mod report;
