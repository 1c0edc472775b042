//! The role of Karpenter's controller.

use std::collections::BTreeSet;

use super::{Origin, Scope, Sourced, seen::role_exists};
use crate::{
    facts::{Facts, arn, eks::PodIdentityAssociation, kubernetes::controller::Deployment},
    target::{cluster_says, names},
};

/// The roles that may be the controller's: named, else associated with its service account,
/// else what the cluster shows that it was given, else under a usual name.
///
/// EKS's webhook gives pods the role of an association where there is one, and only else that
/// of the annotation (`amazon-eks-pod-identity-webhook`, `pkg/handler`).
pub fn roles(
    scope: &Scope,
    facts: &Facts,
    deployment: Option<&Deployment>,
) -> Vec<Sourced<String>> {
    if let Some(role) = &scope.controller_role {
        return vec![Sourced::new(arn::role_name(role).to_owned(), Origin::Flag)];
    }
    let associated = match deployment {
        Some(deployment) if scope.service_account.is_none() && scope.namespace.is_none() => {
            let exact = exactly(facts, &deployment.meta.namespace, &deployment.service_account);
            let shown = cluster_says::controller_roles(&facts.kubernetes, deployment);
            if exact.is_empty() && !shown.is_empty() {
                return shown.into_iter().map(by_name).collect();
            }
            exact
        }
        _ => associated(scope, facts),
    };
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

fn by_name(role: Sourced<String>) -> Sourced<String> {
    Sourced::new(arn::role_name(&role.value).to_owned(), role.origin)
}

/// The roles that the cluster associates with the controller's service account.
pub fn associated<'a>(scope: &Scope, facts: &'a Facts) -> BTreeSet<&'a str> {
    let exact = exactly(facts, scope.namespace(), scope.service_account());
    if exact.is_empty() && scope.service_account.is_none() {
        // Another namespace, or a service account by another name that says Karpenter.
        return associations(facts).map(role).collect();
    }
    exact
}

/// The roles that the cluster associates with this service account.
fn exactly<'a>(facts: &'a Facts, namespace: &str, service_account: &str) -> BTreeSet<&'a str> {
    let of_it = associations(facts).filter(|association| {
        association.namespace == namespace && association.service_account == service_account
    });
    of_it.map(role).collect()
}

fn associations(facts: &Facts) -> impl Iterator<Item = &PodIdentityAssociation> {
    let all = facts.pod_identity_associations.value().into_iter().flatten();
    all.filter_map(|association| association.value())
        .filter(|association| association.service_account != names::CNI_SERVICE_ACCOUNT)
}

fn role(association: &PodIdentityAssociation) -> &str {
    arn::role_name(&association.role_arn)
}
