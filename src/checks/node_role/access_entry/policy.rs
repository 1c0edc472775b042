//! The access policy that the entry of an Auto Mode node role needs.

use super::{
    Applicant,
    remedy::{self, AUTO_NODE_POLICY},
};
use crate::{
    checks::Stop,
    facts::eks::{AccessEntry, AccessScope},
    outcome::{Finding, Remedy},
    target::Product,
};

impl Applicant<'_> {
    /// What is wrong if Auto Mode's entry lacks the policy for nodes in the whole cluster.
    pub(super) fn policy(&self, entry: &AccessEntry) -> Result<Option<Finding>, Stop> {
        if self.product == Product::Karpenter {
            return Ok(None);
        }
        let arn = &entry.principal_arn;
        let policies = entry.policies.known()?;
        let scopes: Vec<_> = policies
            .iter()
            .filter(|policy| policy.arn.ends_with(AUTO_NODE_POLICY))
            .map(|policy| policy.scope)
            .collect();
        if scopes.contains(&AccessScope::Cluster) {
            return Ok(None);
        }
        const API: &str = "eks:ListAssociatedAccessPolicies";
        let finding = if scopes.is_empty() {
            let seen = format!(
                "The access entry of {arn} lacks the access policy AmazonEKSAutoNodePolicy."
            );
            let mend = Remedy::new("Associate the access policy with the entry.");
            self.refused(seen)
                .evidence(API, arn, "no AmazonEKSAutoNodePolicy")
                .mend(remedy::associate(self.cx, mend, arn))
        } else {
            let seen = format!(
                "The access entry of {arn} has AmazonEKSAutoNodePolicy for some namespaces only, \
                 and nodes are in none."
            );
            let mend = Remedy::new("Associate the access policy for the whole cluster instead.");
            self.refused(seen)
                .evidence(API, "associatedAccessPolicies.accessScope.type", "namespace")
                .mend(remedy::associate_again(self.cx, mend, arn))
        };
        Ok(Some(finding))
    }
}
