//! What a check judges from.

use super::Stop;
use crate::{
    facts::{Facts, eks::Cluster, iam::Role, kubernetes::Kubernetes},
    requirements::version::KarpenterVersion,
    target::{Target, names},
};

/// The target and the facts about it.
pub struct Context<'a> {
    pub target: &'a Target,
    pub facts: &'a Facts,
}

impl<'a> Context<'a> {
    pub fn cluster(&self) -> Result<&'a Cluster, Stop> {
        Ok(self.facts.cluster.known()?)
    }

    /// What the cluster says: skipped where the user wants it left alone, unknown with the
    /// reason where it could not be reached.
    pub fn kubernetes(&self) -> Result<&'a Kubernetes, Stop> {
        if self.target.no_kube {
            return Err(Stop::skipped("the cluster is not asked (--no-kube)"));
        }
        self.facts.kubernetes.access.known()?;
        Ok(&self.facts.kubernetes)
    }

    pub fn karpenter(&self) -> KarpenterVersion {
        self.target.karpenter_version.value
    }

    /// ` --region <region>` for AWS CLI commands.
    pub fn region(&self) -> &str {
        &self.target.region.value
    }

    /// The role of this name, or `None` if it certainly does not exist, for example because IAM
    /// allows no such name.
    pub fn role(&self, name: &str) -> Result<Option<&'a Role>, Stop> {
        match self.facts.roles.get(name) {
            _ if !names::is_role_name(name) => Ok(None),
            Some(role) => Ok(role.found()?),
            None => Err(Stop::unknown(format!("the role {name} was not read"))),
        }
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
