//! The roles that controller and nodes may have: from what each list says to the roles in it.

use std::collections::{BTreeMap, BTreeSet};

use tokio::join;

use super::{aws::Aws, roles::Roles};
use crate::{
    facts::{
        Fact, arn,
        eks::{AccessEntry, PodIdentityAssociation},
        iam::InstanceProfile,
    },
    target::{Scope, names},
};

/// Node roles that are known to exist, with everything about them.
pub async fn node_roles(roles: &Roles<'_>, names: Vec<String>) {
    join!(roles.look_up_with_policies(names.clone()), roles.look_up_node_roles(names));
}

pub async fn access_entries(
    aws: &Aws,
    roles: &Roles<'_>,
    scope: &Scope,
) -> Fact<BTreeMap<String, Fact<AccessEntry>>> {
    let entries = aws.access_entries(&scope.cluster).await;
    let names = |wanted: &dyn Fn(&AccessEntry, &str) -> bool| -> Vec<String> {
        let entries = entries.value().into_iter().flatten();
        entries
            .map(|(principal, entry)| (arn::role_name(principal), entry.value()))
            .filter(|(name, entry)| entry.is_some_and(|entry| wanted(entry, name)))
            .map(|(name, _)| name.to_owned())
            .collect()
    };
    let of_any_node = names(&|entry, _| is_node_type(&entry.entry_type));
    // The roles of node groups have entries as well, and their permissions are not judged. Only
    // where no name says which is Karpenter's may each be.
    let mut judged = names(&|entry, name| {
        is_node_type(&entry.entry_type) && names::fits_node_role(name, &scope.cluster)
    });
    if judged.is_empty() {
        judged.clone_from(&of_any_node);
    }
    judged.extend(names(&|entry, _| entry.entry_type.eq_ignore_ascii_case("EC2")));
    join!(roles.look_up_node_roles(of_any_node), roles.look_up_with_policies(judged));
    entries
}

fn is_node_type(entry_type: &str) -> bool {
    ["EC2", "EC2_LINUX", "EC2_WINDOWS"].iter().any(|kind| entry_type.eq_ignore_ascii_case(kind))
}

pub async fn associations(
    aws: &Aws,
    roles: &Roles<'_>,
    scope: &Scope,
) -> Fact<Vec<Fact<PodIdentityAssociation>>> {
    let wanted = |service_account: &str| is_wanted(scope, service_account);
    let associations = aws.pod_identity_associations(&scope.cluster, wanted).await;
    roles_of_associations(roles, &associations).await;
    associations
}

/// Whether an association may be the controller's or the VPC CNI's.
pub fn is_wanted(scope: &Scope, service_account: &str) -> bool {
    service_account == scope.service_account()
        || service_account == names::CNI_SERVICE_ACCOUNT
        || service_account.to_ascii_lowercase().contains("karpenter")
}

pub async fn roles_of_associations(
    roles: &Roles<'_>,
    associations: &Fact<Vec<Fact<PodIdentityAssociation>>>,
) {
    let of_controllers = associations
        .value()
        .into_iter()
        .flatten()
        .filter_map(|association| association.value())
        .filter(|association| association.service_account != names::CNI_SERVICE_ACCOUNT);
    let names: BTreeSet<String> = of_controllers
        .flat_map(|association| {
            // A role of another account cannot be read from here.
            let account = arn::account(&association.role_arn);
            let target = association.target_role_arn.as_deref();
            let target = target.filter(|target| arn::account(target) == account);
            [Some(association.role_arn.as_str()), target]
        })
        .flatten()
        .map(|role| arn::role_name(role).to_owned())
        .collect();
    roles.look_up_with_policies(names).await;
}

/// Two lists of associations, of which the second is there only where the first lacks some.
pub fn all_of(
    first: Fact<Vec<Fact<PodIdentityAssociation>>>,
    second: Option<Fact<Vec<Fact<PodIdentityAssociation>>>>,
) -> Fact<Vec<Fact<PodIdentityAssociation>>> {
    let Some(second) = second else { return first };
    first.and_then(|mut all| {
        second.map(|more| {
            all.extend(more);
            all
        })
    })
}

/// The instance profiles that Karpenter 1.7 and later make, under a path of the cluster's own.
pub async fn instance_profiles(
    aws: &Aws,
    roles: &Roles<'_>,
    scope: &Scope,
) -> Fact<Vec<InstanceProfile>> {
    let path = format!("/karpenter/{}/{}/", scope.region, scope.cluster);
    let profiles = aws.instance_profiles(&path).await;
    let held = profiles.value().into_iter().flatten().flat_map(|profile| profile.roles.clone());
    node_roles(roles, held.collect()).await;
    profiles
}

/// The roles that the user named, and those under the usual names.
pub async fn named_roles(roles: &Roles<'_>, scope: &Scope) {
    let name = |role: &String| arn::role_name(role).to_owned();
    let controllers: Vec<String> = match &scope.controller_role {
        Some(role) => vec![name(role)],
        None => names::controller_roles(&scope.cluster).into(),
    };
    let nodes: Vec<String> = if scope.node_roles.is_empty() {
        names::node_roles(&scope.cluster).into()
    } else {
        scope.node_roles.iter().map(name).collect()
    };
    join!(
        roles.list_policies(),
        roles.look_up_guessed(controllers),
        roles.look_up_guessed_nodes(nodes),
    );
}
