//! KMS keys.

use tokio::join;

use super::{Aws, expect};
use crate::facts::{
    Fact,
    kms::{Grant, Key},
};

const NOT_FOUND: &[&str] = &["NotFoundException"];

impl Aws {
    /// A key by its id, ARN or alias, with its policy and grants unless AWS manages it.
    pub async fn kms_key(&self, named: &str) -> Fact<Key> {
        const ACTION: &str = "kms:DescribeKey";
        let describe = async {
            let call = self.kms.describe_key().key_id(named).send();
            let answer = self.ask.ask(ACTION, NOT_FOUND, call).await;
            answer.and_then(|answer| expect(ACTION, "key", answer.key_metadata))
        };
        let why = "AWS manages the key, and its policy cannot be changed";
        // Only an id or the ARN of a key will do for the others; then nothing has to be waited for.
        let (metadata, policy, grants) = if named.contains("alias/") {
            let metadata = describe.await;
            match &metadata {
                Fact::Known(key) if is_customers(key) => {
                    let (policy, grants) =
                        join!(self.key_policy(&key.key_id), self.key_grants(&key.key_id));
                    (metadata, policy, grants)
                }
                _ => (metadata, Fact::not_asked(why), Fact::not_asked(why)),
            }
        } else {
            join!(describe, self.key_policy(named), self.key_grants(named))
        };
        metadata.and_then(|key| {
            let arn = key.arn.clone();
            let key = arn.map(|arn| Key {
                arn,
                manager: text(key.key_manager().map(|manager| manager.as_str())),
                state: text(key.key_state().map(|state| state.as_str())),
                spec: key.key_spec().map(|spec| spec.as_str().to_owned()),
                policy,
                grants,
            });
            expect(ACTION, "key ARN", key)
        })
    }

    async fn key_policy(&self, id: &str) -> Fact<String> {
        const ACTION: &str = "kms:GetKeyPolicy";
        let call = self.kms.get_key_policy().key_id(id).policy_name("default").send();
        let answer = self.ask.ask(ACTION, NOT_FOUND, call).await;
        answer.and_then(|answer| expect(ACTION, "policy", answer.policy))
    }

    async fn key_grants(&self, id: &str) -> Fact<Vec<Grant>> {
        let pages = self.kms.list_grants().key_id(id).limit(100).into_paginator();
        let call = pages.items().send().collect::<Result<Vec<_>, _>>();
        let answer = self.ask.ask("kms:ListGrants", NOT_FOUND, call).await;
        // Every volume and every queue may have made some: only those for roles are kept.
        answer.map(|grants| {
            let grants = grants.into_iter().map(|grant| Grant {
                operations: grant.operations().iter().map(|one| one.as_str().to_owned()).collect(),
                constrained: grant.constraints.is_some(),
                grantee: grant.grantee_principal.unwrap_or_default(),
            });
            grants.filter(|grant| grant.grantee.contains(":role/")).collect()
        })
    }
}

fn is_customers(key: &aws_sdk_kms::types::KeyMetadata) -> bool {
    key.key_manager() != Some(&aws_sdk_kms::types::KeyManagerType::Aws)
}

fn text(value: Option<&str>) -> String {
    value.unwrap_or_default().to_owned()
}
