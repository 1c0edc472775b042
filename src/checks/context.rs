//! What a check judges from.

use super::Stop;
use crate::{
    facts::{Facts, eks::Cluster},
    requirements::version::KarpenterVersion,
    target::Target,
};

/// The target and the facts about it.
pub struct Context<'a> {
    pub target: &'a Target,
    pub facts: &'a Facts,
}

impl Context<'_> {
    pub fn cluster(&self) -> Result<&Cluster, Stop> {
        Ok(self.facts.cluster.known()?)
    }

    pub fn karpenter(&self) -> KarpenterVersion {
        self.target.karpenter_version.value
    }

    /// ` --region <region>` for AWS CLI commands.
    pub fn region(&self) -> &str {
        &self.target.region.value
    }

    /// The account id, where anything read shows it.
    pub fn account(&self) -> Option<&str> {
        let caller = self.facts.caller.value().map(|caller| caller.account.as_str());
        caller.or_else(|| {
            let cluster = self.facts.cluster.value()?;
            crate::facts::arn::account(&cluster.arn)
        })
    }
}
