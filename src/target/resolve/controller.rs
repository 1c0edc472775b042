//! The role of Karpenter's controller.

use std::collections::BTreeSet;

use super::{Origin, Scope, Sourced, seen::role_exists};
use crate::{
    facts::{Facts, arn, eks::PodIdentityAssociation},
    target::names,
};

/// The roles that may be the controller's: named, else associated with its service account,
/// else under a usual name.
pub fn roles(scope: &Scope, facts: &Facts) -> Vec<Sourced<String>> {
    if let Some(role) = &scope.controller_role {
        return vec![Sourced::new(arn::role_name(role).to_owned(), Origin::Flag)];
    }
    let associated = associated(scope, facts);
    if !associated.is_empty() {
        return associated
            .into_iter()
            .map(|name| Sourced::new(name.to_owned(), Origin::PodIdentityAssociation))
            .collect();
    }
    names::controller_roles(&scope.cluster)
        .into_iter()
        .filter(|name| role_exists(facts, name))
        .map(|name| Sourced::new(name, Origin::UsualName))
        .collect()
}

/// The roles that the cluster associates with the controller's service account.
pub fn associated<'a>(scope: &Scope, facts: &'a Facts) -> BTreeSet<&'a str> {
    let associations: Vec<&PodIdentityAssociation> = facts
        .pod_identity_associations
        .value()
        .into_iter()
        .flatten()
        .filter_map(|association| association.value())
        .filter(|association| association.service_account != names::CNI_SERVICE_ACCOUNT)
        .collect();
    let role = |association: &&'a PodIdentityAssociation| arn::role_name(&association.role_arn);
    let exact = associations.iter().filter(|association| {
        association.namespace == scope.namespace()
            && association.service_account == scope.service_account()
    });
    let exact: BTreeSet<&str> = exact.map(role).collect();
    if exact.is_empty() && scope.service_account.is_none() {
        // Another namespace, or a service account by another name that says Karpenter.
        return associations.iter().map(role).collect();
    }
    exact
}
