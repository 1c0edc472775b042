//! Whether a role may do what is asked of it, decided by its policies and never by their names.
//!
//! ```text
//! facts ─▶ grants (policies, boundary, session) ─┐
//!                                                ├─▶ answers ─▶ findings, one a consequence
//! target, facts ─▶ setup ─▶ requests ────────────┘                 └ hints, mend, exempt
//! ```
//!
//! The organisation's policies (SCPs and RCPs) count as far as they were read. Where they were
//! not, a role that passes here can still be refused by them, which the target's notes say.

mod answers;
pub mod boundary;
mod control;
mod document;
mod exempt;
mod findings;
mod grants;
mod hints;
mod limits;
mod mend;
pub mod new_roles;
pub mod own;
pub mod organization;
mod reasons;
pub mod simulation;
mod wording;

pub use answers::{Answers, Refused};
pub use control::{Control, shown};
pub use findings::{Who, consequence, distinct_actions, is_grave};
pub use grants::{Answer, Grants, ROLE_POLICIES};
pub use mend::{add_policies, statements_for, without_policy};
pub use wording::wording;
