//! The IAM policy language: documents, and what they decide.
//!
//! ```text
//! text ─▶ parse ─▶ document ─┐
//!                            ├─▶ evaluate (layers) ─▶ decision (nearest, clause)
//! principal, context ─▶ request ─┘     └ trust
//! ```
//!
//! This room knows no service, no SDK and nothing of Karpenter. It answers one question: may
//! this principal do this action on this resource, given this context? A value that nobody
//! knows is not guessed: the answer is then [`Decision::Unknown`], unless it is the same
//! whatever the value.
//!
//! ```ignore
//! let policy = Policy::parse(r#"{"Version": "2012-10-17", "Statement": {
//!     "Sid": "Pass", "Effect": "Allow", "Action": "iam:PassRole", "Resource": "*",
//!     "Condition": {"StringEquals": {"iam:PassedToService": "ec2.amazonaws.com"}}}}"#)?;
//! let set = PolicySet { identity: vec![NamedPolicy::new("controller", policy)], ..Default::default() };
//! let principal = Principal::aws("arn:aws:iam::111122223333:role/Karpenter")?;
//! let request = Request::new(principal, "iam:PassRole", "arn:aws:iam::111122223333:role/Node")
//!     .with("iam:PassedToService", "ec2.amazonaws.com.cn");
//! // statement Pass of policy controller wants iam:PassedToService to be ec2.amazonaws.com,
//! // but ec2.amazonaws.com.cn is sent
//! println!("{}", set.decide(&request));
//! ```

mod arn;
mod clause;
mod condition;
mod context;
mod decision;
mod document;
mod evaluate;
mod globals;
mod json;
mod layers;
mod matching;
mod nearest;
mod operator;
mod parse;
mod pattern;
mod principal;
mod principal_element;
mod read;
mod request;
mod resource_glob;
pub mod simulate;
mod split;
pub mod trust;
mod truth;
mod values;
mod variables;

pub use arn::{Arn, ArnError};
pub use clause::Clause;
pub use condition::Condition;
pub use context::{Context, Entry};
pub use decision::{Decision, StatementRef};
pub use document::{ActionPattern, Effect, Element, Policy, ResourcePattern, Statement, Version};
pub use evaluate::decide_alone;
pub use globals::NOT_KNOWN_YET;
pub use layers::{Layer, NamedPolicy, PolicySet};
pub use nearest::Nearest;
pub use parse::{PolicyError, PolicyKind};
pub use pattern::Pattern;
pub use principal::{Principal, RoleSession};
pub use principal_element::{PrincipalElement, PrincipalItem, PrincipalKind};
pub use request::Request;

#[cfg(test)]
mod mutations;
#[cfg(test)]
mod settled;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod whole_policies;
