//! The policies of the organisation on the way from its root to one account.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::join_all;
use tokio::{join, sync::Semaphore};

use super::aws::Aws;
use crate::facts::{
    Fact,
    organizations::{Attached, Level, Organization},
};

/// Organizations slows callers down early; its limits are for the whole organisation.
const AT_A_TIME: usize = 4;

/// An organisation has at most so many levels: the root, five units in each other, the account.
const MOST_LEVELS: usize = 7;

/// More documents than this are not fetched: a run is to stay a matter of seconds.
const MOST_DOCUMENTS: usize = 30;

/// AWS's own policies, attached everywhere, which never change.
/// <https://docs.aws.amazon.com/organizations/latest/userguide/orgs_manage_policies_scps_examples.html>
const KNOWN: &[&str] = &["p-FullAWSAccess", "p-RCPFullAWSAccess"];
const ALLOW_ALL: &str =
    r#"{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}"#;

/// What can be read of the policies that bear on `account`.
pub async fn read(
    aws: &Aws,
    (id, management_account): (String, String),
    account: &str,
) -> Organization {
    let (levels, policies) = if management_account == account {
        let why = "the organisation's policies do not apply to its management account";
        (Fact::not_asked(why), BTreeMap::new())
    } else {
        let levels = levels(aws, account).await;
        let policies = documents(aws, levels.value().map_or(&[], Vec::as_slice)).await;
        (levels, policies)
    };
    Organization { id, management_account, account: account.to_owned(), levels, policies }
}

/// Every level from the root to the account. What is attached to one is asked together with
/// the parent of the next.
async fn levels(aws: &Aws, account: &str) -> Fact<Vec<Level>> {
    // Whoever may not read this may read nothing of it: no use in asking on.
    let mut parent = match aws.parent(account).await {
        Fact::Known(parent) => parent,
        unseen => return unseen.map(|_| Vec::new()),
    };
    let mut levels: Vec<Level> = Vec::new();
    let mut child = account.to_owned();
    while levels.len() < MOST_LEVELS && !is_root(&child) {
        let has_rcps = uses_rcps(&levels);
        let (level, next) = join!(level(aws, child, has_rcps), async {
            match is_root(&parent) {
                true => Fact::Known(String::new()),
                false => aws.parent(&parent).await,
            }
        });
        levels.push(level);
        child = std::mem::take(&mut parent);
        parent = match next {
            Fact::Known(next) => next,
            unseen => return unseen.map(|_| Vec::new()),
        };
    }
    let has_rcps = uses_rcps(&levels);
    levels.push(level(aws, child, has_rcps).await);
    levels.reverse();
    Fact::Known(levels)
}

fn is_root(id: &str) -> bool {
    id.starts_with("r-")
}

/// Whether the organisation may have resource control policies. One that has, has
/// RCPFullAWSAccess on every level, where nobody can take it away: without any on the account
/// there are none above it, and no use in asking.
/// <https://docs.aws.amazon.com/organizations/latest/userguide/orgs_manage_policies_rcps_evaluation.html>
fn uses_rcps(below: &[Level]) -> bool {
    let known = below.first().and_then(|account| account.resource_control.value());
    known.is_none_or(|attached| !attached.is_empty())
}

async fn level(aws: &Aws, id: String, has_rcps: bool) -> Level {
    let (service_control, resource_control) = join!(aws.service_control_policies(&id), async {
        match has_rcps {
            true => aws.resource_control_policies(&id).await,
            false => Fact::Known(Vec::new()),
        }
    });
    Level { id, service_control, resource_control }
}

/// The documents of everything that is attached.
async fn documents(aws: &Aws, levels: &[Level]) -> BTreeMap<String, Fact<String>> {
    let kinds = levels.iter().flat_map(|level| [&level.service_control, &level.resource_control]);
    let attached = kinds.filter_map(|attached| attached.value()).flatten();
    let ids: BTreeSet<&str> = attached.map(|Attached { id, .. }| id.as_str()).collect();
    let permits = Semaphore::new(AT_A_TIME);
    let fetch = |(n, id): (usize, &str)| {
        let (permits, id) = (&permits, id.to_owned());
        async move {
            let document = if KNOWN.contains(&id.as_str()) {
                Fact::Known(ALLOW_ALL.to_owned())
            } else if n >= MOST_DOCUMENTS {
                Fact::not_asked(format!("no more than {MOST_DOCUMENTS} policies are read"))
            } else {
                let _permit = permits.acquire().await.ok();
                aws.organization_policy(&id).await
            };
            (id, document)
        }
    };
    join_all(ids.into_iter().enumerate().map(fetch)).await.into_iter().collect()
}
