//! Roles come up from many sides; each is fetched once.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, PoisonError},
};

use futures_util::future::join_all;
use tokio::join;

use super::{aws::Aws, policies::Policies};
use crate::{
    facts::{
        Fact,
        iam::{InstanceProfile, Role, RolePolicies},
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
    policies: Policies<'a>,
}

impl<'a> Roles<'a> {
    pub fn new(aws: &'a Aws) -> Self {
        Self {
            aws,
            claimed: Mutex::default(),
            roles: Mutex::default(),
            profiles: Mutex::default(),
            policies: Policies::new(aws),
        }
    }

    /// Asks early for what every attached policy needs.
    pub async fn list_policies(&self) {
        self.policies.versions().await;
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

    /// Fetches these roles, which are known to exist, and their policies at the same time.
    pub async fn look_up_with_policies(&self, names: impl IntoIterator<Item = String>) {
        let lookups = names.into_iter().map(|name| async move {
            join!(self.one(name.clone()), self.policies_of(&name));
            self.boundary_of(&name).await;
        });
        join_all(lookups).await;
    }

    /// The same for roles that may not exist: their policies are asked for once they are there.
    pub async fn look_up_guessed(&self, names: impl IntoIterator<Item = String>) {
        let lookups = names.into_iter().map(|name| async move {
            self.one(name.clone()).await;
            if self.seen(&name).is_some() {
                join!(self.policies_of(&name), self.boundary_of(&name));
            }
        });
        join_all(lookups).await;
    }

    /// The same for node roles that may not exist, with the instance profiles that hold them.
    pub async fn look_up_guessed_nodes(&self, names: impl IntoIterator<Item = String>) {
        let lookups = names.into_iter().map(|name| async move {
            self.one(name.clone()).await;
            if self.seen(&name).is_some() {
                join!(
                    self.policies_of(&name),
                    self.boundary_of(&name),
                    self.profiles_of(name.clone())
                );
            }
        });
        join_all(lookups).await;
    }

    /// Fetches the boundaries that were not known yet when the policies of their role were
    /// asked for: two branches of the schedule may have come upon that role at once.
    pub async fn fetch_boundaries(&self) {
        let names: Vec<String> = {
            let roles = self.roles.lock().unwrap_or_else(PoisonError::into_inner);
            roles.keys().filter(|name| self.claimed(&policies_of(name))).cloned().collect()
        };
        join_all(names.iter().map(|name| self.boundary_of(name))).await;
    }

    async fn policies_of(&self, name: &str) {
        if names::is_role_name(name) && self.claim(policies_of(name)) {
            self.policies.of_role(name).await;
        }
    }

    async fn boundary_of(&self, name: &str) {
        if let Some(boundary) = self.seen(name).and_then(|role| role.boundary) {
            self.policies.document(&boundary).await;
        }
    }

    /// The role, if it was fetched and exists.
    fn seen(&self, name: &str) -> Option<Role> {
        let roles = self.roles.lock().unwrap_or_else(PoisonError::into_inner);
        roles.get(name)?.value().cloned()
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

    fn claimed(&self, what: &str) -> bool {
        self.claimed.lock().unwrap_or_else(PoisonError::into_inner).contains(what)
    }

    fn claim(&self, what: String) -> bool {
        self.claimed.lock().unwrap_or_else(PoisonError::into_inner).insert(what)
    }

    pub fn into_facts(self) -> RoleFacts {
        let (role_policies, policies) = self.policies.into_facts();
        RoleFacts {
            roles: self.roles.into_inner().unwrap_or_else(PoisonError::into_inner),
            profiles: self.profiles.into_inner().unwrap_or_else(PoisonError::into_inner),
            role_policies,
            policies,
        }
    }
}

/// What was learned about roles.
pub struct RoleFacts {
    pub roles: ByRole<Role>,
    pub profiles: ByRole<Vec<InstanceProfile>>,
    pub role_policies: BTreeMap<String, RolePolicies>,
    /// Documents by ARN.
    pub policies: BTreeMap<String, Fact<String>>,
}

fn policies_of(role: &str) -> String {
    format!("policies of {role}")
}
