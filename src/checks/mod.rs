//! The checks: pure functions from facts to findings, one file each.
//!
//! A new check is one new file in the folder of its area and one line in [`ALL`].
//!
//! Before an install, a missing thing that the installers create (node role, queue, rules) is a
//! warning. What no installer creates, such as the tags on subnets, is a fail at any time.

pub mod causes;
pub mod check;
mod context;
mod diagnosis;
pub mod named;
mod node_classes;
mod node_pools;
mod permissions;
mod remedies;
mod resource;
pub mod run;
mod selection;
mod setup;
#[cfg(test)]
pub(crate) mod testing;
mod trust;

mod auto_mode;
mod cluster;
mod cluster_role;
mod controller;
mod discovery;
mod disruption;
mod images;
mod imds;
mod initialization;
mod kms;
mod launch;
mod network;
mod node_role;
mod queue;
mod quotas;
mod scheduling;
mod security_groups;
mod statuses;
mod subnets;
mod target;
mod versions;
mod volumes;
mod workloads;

pub use check::{About, Area, Check, Judged, Stop, Verdicts};
pub use context::Context;
pub use launch::proved::questions as proof_questions;
pub use permissions::simulation::questions as simulation_questions;

/// Every check, in the order in which a node comes to life.
pub static ALL: &[&Check] = &[
    // Controller
    &target::contradiction::CHECK,
    &cluster::status::CHECK,
    &versions::kubernetes::CHECK,
    &versions::release::CHECK,
    &versions::crds::CHECK,
    &versions::webhooks::CHECK,
    &cluster::admission_webhooks::CHECK,
    &controller::single::CHECK,
    &controller::health::CHECK,
    &controller::nodes::CHECK,
    &controller::identity::CHECK,
    &controller::region::CHECK,
    &controller::trust::CHECK,
    &controller::agent::CHECK,
    &controller::assumed_role::CHECK,
    &controller::settings::CHECK,
    &controller::prices::CHECK,
    &controller::dns_policy::CHECK,
    &controller::zonal_shift::CHECK,
    &controller::permissions::CHECK,
    &controller::pass_role::CHECK,
    &cluster_role::trust::CHECK,
    &cluster_role::permissions::CHECK,
    &cluster_role::custom_tags::CHECK,
    &auto_mode::settings::CHECK,
    &auto_mode::addons::CHECK,
    &permissions::boundary::CHECK,
    &permissions::organization::CHECK,
    &permissions::new_roles::CHECK,
    &permissions::simulation::CHECK,
    &imds::endpoint::CHECK,
    &imds::hop_limit::CHECK,
    // Launch
    &node_pools::exists::CHECK,
    &node_pools::node_class_ref::CHECK,
    &imds::metadata_tags::CHECK,
    &imds::tokens::CHECK,
    &subnets::discovered::CHECK,
    &subnets::vpc::CHECK,
    &subnets::zones::CHECK,
    &subnets::place::CHECK,
    &node_pools::zones::CHECK,
    &node_pools::instance_types::CHECK,
    &subnets::free_addresses::CHECK,
    &subnets::cluster_free_addresses::CHECK,
    &subnets::prefixes::CHECK,
    &subnets::ipv6::CHECK,
    &security_groups::discovered::CHECK,
    &security_groups::vpc::CHECK,
    &security_groups::too_many::CHECK,
    &node_classes::pod_network::CHECK,
    &node_classes::tags::CHECK,
    &images::allowed::CHECK,
    &images::ami_alias::CHECK,
    &images::discovered::CHECK,
    &node_classes::volumes::CHECK,
    &node_classes::volume_sizes::CHECK,
    &node_classes::user_data::CHECK,
    &node_classes::placement_group::CHECK,
    &node_classes::capacity_reservations::CHECK,
    &node_classes::role::CHECK,
    &node_classes::instance_profile::CHECK,
    &node_role::exists::CHECK,
    &node_role::instance_profile::CHECK,
    &launch::spot_service_linked_role::CHECK,
    &statuses::node_classes::CHECK,
    &statuses::node_pools::CHECK,
    &statuses::node_claims::CHECK,
    &volumes::keys::CHECK,
    &volumes::snapshots::CHECK,
    &volumes::failed_launches::CHECK,
    &quotas::on_demand::CHECK,
    &quotas::spot::CHECK,
    &quotas::instance_profiles::CHECK,
    &quotas::launch_templates::CHECK,
    &network::tenancy::CHECK,
    &launch::proved::CHECK,
    // Join
    &cluster::auth_mode::CHECK,
    &network::routes::CHECK,
    &network::endpoints::CHECK,
    &network::endpoint_policies::CHECK,
    &network::isolated::CHECK,
    &network::dns::CHECK,
    &network::endpoint_access::CHECK,
    &network::public_access::CHECK,
    &network::acls::CHECK,
    &security_groups::reach::CHECK,
    &security_groups::cluster_tag::CHECK,
    &node_classes::metadata::CHECK,
    &node_role::trust::CHECK,
    &node_role::permissions::CHECK,
    &node_role::not_cluster_role::CHECK,
    &node_role::access_entry::CHECK,
    &node_role::aws_auth::CHECK,
    &node_role::daemon_sets::CHECK,
    &initialization::CHECK,
    // Scheduling
    &subnets::custom_networking::CHECK,
    &scheduling::pending::CHECK,
    &scheduling::limits::CHECK,
    &scheduling::requests::CHECK,
    &scheduling::oom_killed::CHECK,
    &scheduling::attach_limits::CHECK,
    &scheduling::volume_spread::CHECK,
    &scheduling::startup_taints::CHECK,
    &scheduling::volume_claims::CHECK,
    &scheduling::in_tree_volumes::CHECK,
    &scheduling::windows::CHECK,
    &node_classes::windows::CHECK,
    // Interruption
    &queue::exists::CHECK,
    &queue::policy::CHECK,
    &queue::encryption::CHECK,
    &queue::rules::CHECK,
    // Disruption
    &statuses::deletions::CHECK,
    &disruption::nodepool_budgets::CHECK,
    &disruption::pod_budgets::CHECK,
    &disruption::do_not_disrupt::CHECK,
    &disruption::without_owner::CHECK,
    &disruption::constraints::CHECK,
];

/// Checks that only policies on disk are put to.
static OF_DOCUMENTS: &[&Check] = &[&permissions::own::CHECK];

/// The check of this id.
pub fn get(id: &str) -> Option<&'static Check> {
    ALL.iter().chain(OF_DOCUMENTS).copied().find(|check| check.id == id)
}

/// The ids of all checks.
pub fn ids() -> Vec<&'static str> {
    ALL.iter().map(|check| check.id).collect()
}

/// What `--select` takes.
pub fn ids_and_areas() -> Vec<&'static str> {
    ids().into_iter().chain(Area::ALL.iter().map(|area| area.as_str())).collect()
}

#[cfg(test)]
mod article_tests;
#[cfg(test)]
mod catalogue_tests;
#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::outcome::Status;

    #[test]
    fn ids_are_unique_slugs() {
        let mut seen = BTreeSet::new();
        for check in ALL {
            assert!(seen.insert(check.id), "{} is there twice", check.id);
            assert!(
                check.id.chars().all(|c| c.is_ascii_lowercase() || c == '-'),
                "{} is no slug",
                check.id
            );
        }
    }

    /// What a NodeClass may do that nobody has read always warns with Auto Mode.
    #[test]
    fn healthy_accounts_are_silent() {
        use super::testing::Account::{AutoMode, AutoModeCluster, Karpenter, KarpenterCluster};
        let silent = |check: &&&Check| check.id != "cluster-role-custom-tags";
        for account in [Karpenter, KarpenterCluster, AutoMode, AutoModeCluster] {
            for check in ALL.iter().filter(silent) {
                let outcomes = account.judge(check, &serde_json::json!({}));
                let found = |outcome: &&crate::outcome::Outcome| {
                    matches!(outcome.status, Status::Warn | Status::Fail | Status::Unknown)
                };
                let found: Vec<_> = outcomes.iter().filter(found).collect();
                assert!(found.is_empty(), "{account:?}: {found:#?}");
            }
        }
    }

    #[test]
    fn docs_have_the_four_headings() {
        for check in ALL {
            let headings: Vec<_> =
                check.doc.lines().filter(|line| line.starts_with("## ")).collect();
            assert_eq!(headings, ["## What", "## Why", "## Seen as", "## Fix"], "{}", check.id);
        }
    }

    #[test]
    fn areas_stand_together() {
        let areas: Vec<_> = ALL.iter().map(|check| check.area).collect();
        assert!(areas.is_sorted(), "{areas:?}");
    }
}
