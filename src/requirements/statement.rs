//! The statements of the controller policy, by version.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::feature::Feature;
use super::fill::Values;
use super::load::{About, embedded};
use super::range::VersionRanges;
use super::setup::Setup;
use super::version::KarpenterVersion;
use super::versions::judged_as;

/// One variant of a statement.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    pub sid: String,
    pub group: Group,
    pub versions: VersionRanges,
    /// The features without which it is left out; none of the published ones has any.
    #[serde(default)]
    pub when: Vec<Feature>,
    pub actions: Vec<String>,
    pub resources: Vec<String>,
    #[serde(default)]
    pub condition: BTreeMap<String, BTreeMap<String, Value>>,
}

/// The policy that a statement goes to when one document would be too large.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    NodeLifecycle,
    IamIntegration,
    EksIntegration,
    Interruption,
    ResourceDiscovery,
    ZonalShift,
}

impl Group {
    /// The name of the policy, as upstream's template of 1.9 and later has it.
    pub fn policy_name(self, cluster: &str) -> String {
        let part = match self {
            Self::NodeLifecycle => "NodeLifecycle",
            Self::IamIntegration => "IAMIntegration",
            Self::EksIntegration => "EKSIntegration",
            Self::Interruption => "Interruption",
            Self::ResourceDiscovery => "ResourceDiscovery",
            Self::ZonalShift => "ZonalShift",
        };
        policy_name(&format!("KarpenterController{part}Policy-{cluster}"))
    }
}

/// The name of a policy, cut to the 128 characters that IAM allows.
pub fn policy_name(name: &str) -> String {
    name.chars().take(128).collect()
}

impl Statement {
    /// The statement as IAM takes it, filled in.
    pub fn to_json(&self, values: &Values) -> Value {
        let list = |texts: &[String]| {
            let filled: Vec<_> = texts.iter().flat_map(|text| values.fill_all(text)).collect();
            match filled.as_slice() {
                [one] => json!(one),
                many => json!(many),
            }
        };
        let mut statement = Map::new();
        statement.insert("Sid".to_owned(), json!(self.sid));
        statement.insert("Effect".to_owned(), json!("Allow"));
        statement.insert("Action".to_owned(), list(&self.actions));
        statement.insert("Resource".to_owned(), list(&self.resources));
        if !self.condition.is_empty() {
            statement.insert("Condition".to_owned(), values.fill_json(&json!(self.condition)));
        }
        Value::Object(statement)
    }
}

/// The statements for this version and set-up, in the order of the data.
pub fn statements(version: KarpenterVersion, setup: &Setup) -> Vec<&'static Statement> {
    let judged = judged_as(version);
    // A grant is printed for parameters that are named, never for a made-up one.
    let named = |s: &Statement| {
        !s.when.contains(&Feature::SsmParameterAmi) || !setup.ami_parameters.is_empty()
    };
    let holds = |s: &&Statement| s.versions.contains(judged) && setup.uses(&s.when) && named(s);
    FILES.iter().flat_map(|file| &file.statement).filter(holds).collect()
}

/// Where the data comes from.
pub fn abouts() -> impl Iterator<Item = &'static About> {
    FILES.iter().map(|file| &file.about)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    about: About,
    statement: Vec<Statement>,
}

/// In the order in which the statements are printed.
static FILES: LazyLock<[File; 5]> = LazyLock::new(|| {
    [
        embedded(include_str!("../../policies/karpenter/statements/launch.toml")),
        embedded(include_str!("../../policies/karpenter/statements/tagging.toml")),
        embedded(include_str!("../../policies/karpenter/statements/instance-profile.toml")),
        embedded(include_str!("../../policies/karpenter/statements/discovery.toml")),
        embedded(include_str!("../../policies/karpenter/statements/cluster.toml")),
    ]
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requirements::versions::minors;

    #[test]
    fn no_version_has_a_sid_twice() {
        let mut setup = Setup::new("aws", "eu-west-1", "111122223333", "prod").with_every_feature();
        setup.ami_parameters.push("golden/al2023".to_owned());
        for minor in minors() {
            let mut sids: Vec<_> = statements(minor.first, &setup).iter().map(|s| &s.sid).collect();
            let count = sids.len();
            sids.sort();
            sids.dedup();
            assert_eq!(sids.len(), count, "{}", minor.first);
        }
    }

    #[test]
    fn the_count_of_statements_follows_the_templates() {
        let setup = Setup::new("aws", "eu-west-1", "111122223333", "prod");
        for (version, count) in [
            ("0.32.0", 15),
            ("0.34.0", 16),
            ("1.0.0", 16),
            ("1.7.0", 17),
            ("1.12.0", 19),
            ("1.13.0", 18),
            ("1.14.1", 18),
        ] {
            assert_eq!(statements(version.parse().unwrap(), &setup).len(), count, "{version}");
        }
    }
}
