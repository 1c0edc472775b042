//! What a check judges from.

use jiff::Timestamp;

use super::Stop;
use crate::{
    facts::{Facts, eks::Cluster, iam::Role, kubernetes::Kubernetes},
    requirements::version::KarpenterVersion,
    target::{Origin, Target, names, saved::Saved},
};

/// The target and the facts about it.
pub struct Context<'a> {
    pub target: &'a Target,
    pub facts: &'a Facts,
    /// When the facts were read: what a check holds ages against, so that a saved file is
    /// judged the same on any day.
    pub now: Timestamp,
}

impl<'a> Context<'a> {
    /// Judges what was read for a target, as of the moment when it was read.
    pub fn new(target: &'a Target, saved: &'a Saved) -> Self {
        Self { target, facts: &saved.facts, now: saved.collected_at }
    }

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

    /// Where the version that is judged is a guess, a sentence that says so. Stops where whatever
    /// would show the version could not be read.
    pub fn guessed_version(&self) -> Result<Option<String>, Stop> {
        if self.target.karpenter_version.origin != Origin::NewestKnown
            || self.target.before_install()
        {
            return Ok(None);
        }
        if self.kubernetes().is_ok() {
            self.facts.kubernetes.controllers.found()?;
        }
        Ok(Some(format!(
            "That is a guess, as which version runs is not known: this is judged for {}, the \
             newest known. Say which with --karpenter-version.",
            self.karpenter()
        )))
    }

    /// The region that was read, as AWS CLI commands take it behind `--region`.
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
