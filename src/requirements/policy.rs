//! The policies that we print: ready to attach, least privilege, under IAM's size limits.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::fill::Values;
use super::setup::Setup;
use super::statement::{Group, Statement, policy_name, statements};
use super::version::KarpenterVersion;
use super::versions::judged_as;
use crate::iam::{self, NamedPolicy, PolicyError, PolicySet};

/// The most characters, white space not counted, of a managed policy.
/// <https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html>
pub const MANAGED_POLICY_LIMIT: usize = 6_144;

/// The most characters of all the inline policies of a role together.
pub const INLINE_POLICIES_LIMIT: usize = 10_240;

/// A policy document with the name it is usually given.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    pub name: String,
    pub document: Value,
}

/// Whether the controller policy is one document or several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// One if it is under the limit of a managed policy, several if not.
    Fit,
    One,
    /// Upstream's division of 1.9 and later, for any version.
    Split,
}

impl Policy {
    /// Its size as IAM counts it: characters, without white space outside of strings.
    pub fn size(&self) -> usize {
        self.document.to_string().chars().count()
    }
}

/// The controller policy for this version and set-up.
pub fn controller(version: KarpenterVersion, setup: &Setup, layout: Layout) -> Vec<Policy> {
    let judged = judged_as(version);
    let values = Values::new(judged, setup);
    let wanted = statements(judged, setup);
    let one = Policy {
        name: policy_name(&format!("KarpenterControllerPolicy-{}", setup.cluster)),
        document: document(&wanted, &values),
    };
    let fits = one.size() <= MANAGED_POLICY_LIMIT;
    if layout == Layout::One || (layout == Layout::Fit && fits) {
        return vec![one];
    }
    let mut groups: BTreeMap<Group, Vec<&Statement>> = BTreeMap::new();
    for statement in wanted {
        groups.entry(statement.group).or_default().push(statement);
    }
    let policies = groups.iter().map(|(group, statements)| Policy {
        name: group.policy_name(&setup.cluster),
        document: document(statements, &values),
    });
    policies.collect()
}

/// The policies as identity policies for the evaluator.
///
/// # Errors
/// When a document is not one that IAM would take, as with a name in the set-up that is no
/// part of an ARN.
pub fn iam_set(policies: &[Policy]) -> Result<PolicySet, PolicyError> {
    let parse = |policy: &Policy| {
        let document = iam::Policy::parse(&policy.document.to_string())?;
        Ok(NamedPolicy::new(&policy.name, document))
    };
    let identity = policies.iter().map(parse).collect::<Result<_, PolicyError>>()?;
    Ok(PolicySet { identity, ..PolicySet::default() })
}

fn document(statements: &[&Statement], values: &Values) -> Value {
    let statements: Vec<_> = statements.iter().map(|s| s.to_json(values)).collect();
    json!({ "Version": "2012-10-17", "Statement": statements })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requirements::versions::minors;

    /// A cluster name of the greatest length that EKS takes, in a region with a long name.
    fn largest() -> Setup {
        Setup::new("aws-us-gov", "us-gov-east-1", "111122223333", &"c".repeat(100))
    }

    #[test]
    fn every_policy_is_under_the_limits() {
        for minor in minors() {
            let usual = Setup::new("aws", "ap-northeast-1", "111122223333", "production");
            for setup in [usual.clone(), usual.with_every_feature(), largest()] {
                let policies = controller(minor.first, &setup, Layout::Fit);
                for policy in &policies {
                    assert!(
                        policy.size() <= MANAGED_POLICY_LIMIT,
                        "{} {}",
                        minor.first,
                        policy.name
                    );
                    assert!(policy.name.chars().count() <= 128);
                }
            }
        }
    }

    #[test]
    fn all_parts_together_can_be_inline_policies_of_one_role() {
        for minor in minors() {
            let setup = Setup::new("aws", "ap-northeast-1", "111122223333", "production");
            let parts = controller(minor.first, &setup, Layout::Split);
            let size: usize = parts.iter().map(Policy::size).sum();
            assert!(size <= INLINE_POLICIES_LIMIT, "{} {size}", minor.first);
        }
    }

    #[test]
    fn one_document_up_to_the_limit_and_upstreams_division_beyond() {
        let setup = Setup::new("aws", "eu-west-1", "111122223333", "prod");
        for (version, layout, count) in [
            ("0.32.0", Layout::Fit, 1),
            ("1.14.1", Layout::One, 1),
            ("1.8.0", Layout::Split, 5),
            ("1.9.0", Layout::Split, 5),
            ("1.12.0", Layout::Split, 6),
            ("1.14.1", Layout::Split, 6),
        ] {
            let policies = controller(version.parse().unwrap(), &setup, layout);
            assert_eq!(policies.len(), count, "{version} {layout:?}");
        }
        assert!(controller(KarpenterVersion::NEWEST, &largest(), Layout::Fit).len() > 1);
    }
}
