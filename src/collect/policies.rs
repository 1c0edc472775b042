//! Policies come up from many roles; each document is fetched once.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, PoisonError},
};

use futures_util::future::join_all;
use tokio::{
    join,
    sync::{OnceCell, Semaphore},
};

use super::aws::Aws;
use crate::facts::{Fact, iam::RolePolicies};

/// How many of these calls run at a time. IAM is one service for the whole account, and slows
/// everybody down that asks too fast; its limits are not published.
const AT_A_TIME: usize = 8;

/// The policies fetched so far.
pub struct Policies<'a> {
    aws: &'a Aws,
    permits: Semaphore,
    /// One list saves asking each attached policy for its default version.
    versions: OnceCell<Fact<BTreeMap<String, String>>>,
    claimed: Mutex<BTreeSet<String>>,
    of_roles: Mutex<BTreeMap<String, RolePolicies>>,
    documents: Mutex<BTreeMap<String, Fact<String>>>,
}

impl<'a> Policies<'a> {
    pub fn new(aws: &'a Aws) -> Self {
        Self {
            aws,
            permits: Semaphore::new(AT_A_TIME),
            versions: OnceCell::new(),
            claimed: Mutex::default(),
            of_roles: Mutex::default(),
            documents: Mutex::default(),
        }
    }

    /// Fetches the policies of a role, with their documents.
    pub async fn of_role(&self, role: &str) {
        let (inline, attached) = join!(self.inline(role), self.attached(role));
        let policies = RolePolicies { inline, attached };
        lock(&self.of_roles).insert(role.to_owned(), policies);
    }

    /// The default versions of attached policies, asked for once.
    pub async fn versions(&self) -> &Fact<BTreeMap<String, String>> {
        self.versions.get_or_init(|| self.permitted(self.aws.default_versions())).await
    }

    /// Fetches the document of a managed policy.
    pub async fn document(&self, arn: &str) {
        if !lock(&self.claimed).insert(arn.to_owned()) {
            return;
        }
        let document = match self.versions().await {
            Fact::Known(versions) => match versions.get(arn) {
                Some(version) => self.permitted(self.aws.policy_version(arn, version)).await,
                // A boundary is not attached.
                None => self.permitted(self.aws.policy(arn)).await,
            },
            unseen => unseen.clone().map(|_| String::new()),
        };
        lock(&self.documents).insert(arn.to_owned(), document);
    }

    async fn inline(&self, role: &str) -> Fact<BTreeMap<String, Fact<String>>> {
        match self.permitted(self.aws.inline_policies(role)).await {
            Fact::Known(names) => {
                let documents = join_all(names.into_iter().map(|name| async {
                    let document = self.permitted(self.aws.inline_policy(role, &name)).await;
                    (name, document)
                }));
                Fact::Known(documents.await.into_iter().collect())
            }
            unseen => unseen.map(|_| BTreeMap::new()),
        }
    }

    async fn attached(&self, role: &str) -> Fact<Vec<String>> {
        let arns = self.permitted(self.aws.attached_policies(role)).await;
        join_all(arns.value().into_iter().flatten().map(|arn| self.document(arn))).await;
        arns
    }

    async fn permitted<T>(&self, call: impl Future<Output = T>) -> T {
        // The semaphore is never closed, so there is always a permit to wait for.
        let _permit = self.permits.acquire().await.ok();
        call.await
    }

    pub fn into_facts(self) -> (BTreeMap<String, RolePolicies>, BTreeMap<String, Fact<String>>) {
        (
            self.of_roles.into_inner().unwrap_or_else(PoisonError::into_inner),
            self.documents.into_inner().unwrap_or_else(PoisonError::into_inner),
        )
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
