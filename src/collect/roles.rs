//! Roles come up from many sides; each is fetched once.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, PoisonError},
};

use futures_util::future::join_all;
use tokio::join;

use super::aws::Aws;
use crate::{
    facts::{
        Fact,
        iam::{InstanceProfile, Role},
    },
    target::names,
};

type ByRole<T> = BTreeMap<String, Fact<T>>;

/// The roles fetched so far.
pub struct Roles<'a> {
    aws: &'a Aws,
    claimed: Mutex<BTreeSet<String>>,
    roles: Mutex<ByRole<Role>>,
    profiles: Mutex<ByRole<Vec<InstanceProfile>>>,
}

impl<'a> Roles<'a> {
    pub fn new(aws: &'a Aws) -> Self {
        Self { aws, claimed: Mutex::default(), roles: Mutex::default(), profiles: Mutex::default() }
    }

    /// Fetches these roles.
    pub async fn look_up(&self, names: impl IntoIterator<Item = String>) {
        join_all(names.into_iter().map(|name| self.one(name))).await;
    }

    /// Fetches these roles with the instance profiles that hold them.
    pub async fn look_up_node_roles(&self, names: impl IntoIterator<Item = String>) {
        let lookups = names.into_iter().map(|name| async {
            join!(self.one(name.clone()), self.profiles_of(name));
        });
        join_all(lookups).await;
    }

    async fn one(&self, name: String) {
        if !self.claim(format!("role {name}")) {
            return;
        }
        // IAM answers a name that no role can have with a validation error.
        let role =
            if names::is_role_name(&name) { self.aws.role(&name).await } else { Fact::Absent };
        self.roles.lock().unwrap_or_else(PoisonError::into_inner).insert(name, role);
    }

    async fn profiles_of(&self, name: String) {
        if !names::is_role_name(&name) || !self.claim(format!("profiles of {name}")) {
            return;
        }
        let profiles = self.aws.profiles_of_role(&name).await;
        self.profiles.lock().unwrap_or_else(PoisonError::into_inner).insert(name, profiles);
    }

    fn claim(&self, what: String) -> bool {
        self.claimed.lock().unwrap_or_else(PoisonError::into_inner).insert(what)
    }

    pub fn into_facts(self) -> (ByRole<Role>, ByRole<Vec<InstanceProfile>>) {
        (
            self.roles.into_inner().unwrap_or_else(PoisonError::into_inner),
            self.profiles.into_inner().unwrap_or_else(PoisonError::into_inner),
        )
    }
}
