//! What `policy` prints: documents ready to attach, in three formats; the difference between
//! two versions; and the head of a test's report.

pub mod cloudformation;
pub mod diff;
pub mod diff_json;
pub mod hole;
pub mod json;
mod order;
pub mod terraform;
pub mod test;

use serde_json::Value;

use crate::requirements::policy::Policy;

/// The documents of one role, of the queue, or of the tool itself. Texts may hold
/// [holes](hole::Hole).
#[derive(Debug, Clone, PartialEq)]
pub struct Sheet {
    /// What they are for: `the controller of Karpenter 1.14.1 in cluster prod`.
    pub title: String,
    /// The words that resources are called by: `karpenter controller`.
    pub label: &'static str,
    pub cluster: String,
    pub bearer: Bearer,
    pub trust: Option<Value>,
    /// ARNs of AWS managed policies.
    pub managed: Vec<String>,
    pub policies: Vec<Policy>,
}

/// What the policies are attached to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bearer {
    /// A role of this name, which is printed as well.
    Role(String),
    /// The queue of this ARN.
    Queue(String),
    /// Whatever identity the user has.
    Anyone,
}

impl Sheet {
    /// `karpenter_controller`
    fn snake(&self) -> String {
        self.label.replace(' ', "_")
    }

    /// The name of a policy without the cluster's: `KarpenterControllerPolicy`.
    fn short_name<'a>(&self, policy: &'a Policy) -> &'a str {
        policy.name.strip_suffix(&format!("-{}", self.cluster)).unwrap_or(&policy.name)
    }
}

/// `PascalCase` of words.
fn pascal(words: &str) -> String {
    let capital = |word: &str| match word.split_at_checked(1) {
        Some((first, rest)) => first.to_ascii_uppercase() + rest,
        None => String::new(),
    };
    words.split(|c: char| !c.is_ascii_alphanumeric()).map(capital).collect()
}

/// `snake_case` of a name in camel case, in which a run of capitals is one word:
/// `KarpenterIAMPolicy` gives `karpenter_iam_policy`.
fn snake(name: &str) -> String {
    let chars: Vec<char> = name.chars().collect();
    let mut words = String::new();
    for (i, c) in chars.iter().enumerate() {
        let after_small =
            i > 0 && (chars[i - 1].is_ascii_lowercase() || chars[i - 1].is_ascii_digit());
        let before_small = i > 0
            && chars[i - 1].is_ascii_uppercase()
            && chars.get(i + 1).is_some_and(char::is_ascii_lowercase);
        if c.is_ascii_uppercase() && (after_small || before_small) {
            words.push('_');
        }
        words.push(if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' });
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases() {
        assert_eq!(pascal("karpenter controller"), "KarpenterController");
        for (name, words) in [
            (
                "KarpenterControllerIAMIntegrationPolicy",
                "karpenter_controller_iam_integration_policy",
            ),
            ("AmazonEKS_CNI_Policy", "amazon_eks_cni_policy"),
            ("AmazonEC2ContainerRegistryPullOnly", "amazon_ec2_container_registry_pull_only"),
        ] {
            assert_eq!(snake(name), words);
        }
    }
}
