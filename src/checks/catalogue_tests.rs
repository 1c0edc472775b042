//! The checks and the catalogue of documented errors name each other.

use std::collections::BTreeSet;

use super::ALL;
use crate::errors::{Cause, DocumentedError, catalogue};

fn causes() -> impl Iterator<Item = (&'static DocumentedError, &'static Cause)> {
    catalogue().iter().flat_map(|entry| entry.causes.iter().map(move |cause| (entry, cause)))
}

#[test]
fn every_error_of_a_check_is_documented_and_names_the_check() {
    for check in ALL {
        for id in check.errors {
            let entry = catalogue().get(id);
            let entry = entry.unwrap_or_else(|| {
                panic!("{} quotes {id}, which is not in src/errors/data", check.id)
            });
            let named =
                entry.causes.iter().any(|cause| cause.checks.iter().any(|id| id == check.id));
            assert!(named, "{} quotes {id}: name the check in a cause of that entry", check.id);
        }
    }
}

#[test]
fn every_check_of_a_cause_exists() {
    let known: BTreeSet<_> = ALL.iter().map(|check| check.id).collect();
    for (entry, cause) in causes() {
        for id in &cause.checks {
            assert!(
                known.contains(id.as_str()),
                "{}: there is no check {id}; write it under planned_checks",
                entry.id
            );
        }
    }
}

#[test]
fn a_planned_check_that_exists_is_planned_no_more() {
    let exist: BTreeSet<_> = ALL.iter().map(|check| check.id).collect();
    for (entry, cause) in causes() {
        for id in &cause.planned_checks {
            assert!(
                !exist.contains(id.as_str()),
                "{}: {id} exists; write it under checks",
                entry.id
            );
        }
    }
}

/// A check that no documented error can lead to would be found by nobody who has the error.
#[test]
fn every_check_proves_a_cause() {
    let named: BTreeSet<_> =
        causes().flat_map(|(_, cause)| &cause.checks).map(String::as_str).collect();
    for check in ALL {
        assert!(named.contains(check.id), "no cause of a documented error names {}", check.id);
    }
}

#[test]
fn what_a_check_needs_is_whole_actions() {
    for check in ALL {
        for action in check.actions() {
            let of_kubernetes = action.ends_with(" (Kubernetes)");
            let of_iam = action.contains(':') && !action.contains([' ', ',']);
            assert!(of_kubernetes || of_iam, "{}: {action}", check.id);
        }
    }
}
