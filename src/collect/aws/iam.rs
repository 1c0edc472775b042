//! Roles, their policies, instance profiles and identity providers (IAM).

use std::collections::BTreeMap;

use aws_sdk_iam::types;

use super::{Aws, expect, timestamp};
use crate::facts::{
    Fact,
    iam::{InstanceProfile, OidcProvider, Role, Simulated, Simulation},
};

const PAGE: i32 = 1000;
const NO_SUCH_ENTITY: &[&str] = &["NoSuchEntity", "NoSuchEntityException"];

impl Aws {
    pub async fn role(&self, name: &str) -> Fact<Role> {
        const ACTION: &str = "iam:GetRole";
        let call = self.iam.get_role().role_name(name).send();
        let answer = self.ask.ask(ACTION, NO_SUCH_ENTITY, call).await;
        answer.and_then(|answer| expect(ACTION, "role", answer.role.and_then(role)))
    }

    /// The service-linked role of EC2 Spot. Its name and path are fixed.
    pub async fn role_of_spot(&self) -> Fact<Role> {
        self.role("AWSServiceRoleForEC2Spot").await
    }

    /// The instance profiles under a path.
    pub async fn instance_profiles(&self, path: &str) -> Fact<Vec<InstanceProfile>> {
        let call = self
            .iam
            .list_instance_profiles()
            .path_prefix(path)
            .into_paginator()
            .items()
            .send()
            .collect::<Result<Vec<_>, _>>();
        let answer = self.ask.ask("iam:ListInstanceProfiles", &[], call).await;
        answer.map(|profiles| profiles.into_iter().map(instance_profile).collect())
    }

    /// The instance profile of this name.
    pub async fn named_profile(&self, name: &str) -> Fact<InstanceProfile> {
        const ACTION: &str = "iam:GetInstanceProfile";
        let call = self.iam.get_instance_profile().instance_profile_name(name).send();
        let answer = self.ask.ask(ACTION, NO_SUCH_ENTITY, call).await;
        answer.and_then(|answer| {
            expect(ACTION, "instance profile", answer.instance_profile.map(instance_profile))
        })
    }

    /// The instance profiles that hold a role.
    pub async fn profiles_of_role(&self, role: &str) -> Fact<Vec<InstanceProfile>> {
        let call = self
            .iam
            .list_instance_profiles_for_role()
            .role_name(role)
            .into_paginator()
            .items()
            .send()
            .collect::<Result<Vec<_>, _>>();
        let answer = self.ask.ask("iam:ListInstanceProfilesForRole", NO_SUCH_ENTITY, call).await;
        answer.map(|profiles| profiles.into_iter().map(instance_profile).collect())
    }
}

impl Aws {
    /// The names of a role's inline policies.
    pub async fn inline_policies(&self, role: &str) -> Fact<Vec<String>> {
        let pages = self.iam.list_role_policies().role_name(role).into_paginator();
        let call = pages.items().send().collect::<Result<Vec<_>, _>>();
        self.ask.ask("iam:ListRolePolicies", NO_SUCH_ENTITY, call).await
    }

    /// The document of an inline policy.
    pub async fn inline_policy(&self, role: &str, name: &str) -> Fact<String> {
        let call = self.iam.get_role_policy().role_name(role).policy_name(name).send();
        let answer = self.ask.ask("iam:GetRolePolicy", NO_SUCH_ENTITY, call).await;
        answer.map(|answer| decoded(&answer.policy_document))
    }

    /// The ARNs of the policies that are attached to a role.
    pub async fn attached_policies(&self, role: &str) -> Fact<Vec<String>> {
        let call = self
            .iam
            .list_attached_role_policies()
            .role_name(role)
            .into_paginator()
            .items()
            .send()
            .collect::<Result<Vec<_>, _>>();
        let answer = self.ask.ask("iam:ListAttachedRolePolicies", NO_SUCH_ENTITY, call).await;
        answer.map(|policies| policies.into_iter().filter_map(|policy| policy.policy_arn).collect())
    }

    /// The document of a managed policy, in its default version.
    /// The default versions of the policies that are attached to anything in the account, by ARN.
    pub async fn default_versions(&self) -> Fact<BTreeMap<String, String>> {
        let pages = self.iam.list_policies().only_attached(true).max_items(PAGE).into_paginator();
        let call = pages.items().send().collect::<Result<Vec<_>, _>>();
        let answer = self.ask.ask("iam:ListPolicies", &[], call).await;
        answer.map(|policies| {
            let versions = policies.into_iter().map(|one| one.arn.zip(one.default_version_id));
            versions.flatten().collect()
        })
    }

    pub async fn policy(&self, arn: &str) -> Fact<String> {
        const ACTION: &str = "iam:GetPolicy";
        let call = self.iam.get_policy().policy_arn(arn).send();
        let answer = self.ask.ask(ACTION, NO_SUCH_ENTITY, call).await;
        let version = answer.and_then(|answer| {
            let version = answer.policy.and_then(|policy| policy.default_version_id);
            expect(ACTION, "default version", version)
        });
        match version {
            Fact::Known(version) => self.policy_version(arn, &version).await,
            unseen => unseen,
        }
    }

    pub async fn policy_version(&self, arn: &str, version: &str) -> Fact<String> {
        const ACTION: &str = "iam:GetPolicyVersion";
        let call = self.iam.get_policy_version().policy_arn(arn).version_id(version).send();
        let answer = self.ask.ask(ACTION, NO_SUCH_ENTITY, call).await;
        answer.and_then(|answer| {
            let document = answer.policy_version.and_then(|version| version.document);
            expect(ACTION, "document", document.map(|document| decoded(&document)))
        })
    }

    /// The identity provider with this ARN, which follows from the issuer: no list is needed.
    pub async fn oidc_provider(&self, arn: &str) -> Fact<OidcProvider> {
        let call = self.iam.get_open_id_connect_provider().open_id_connect_provider_arn(arn).send();
        let answer = self.ask.ask("iam:GetOpenIDConnectProvider", NO_SUCH_ENTITY, call).await;
        answer.map(|answer| OidcProvider {
            arn: arn.to_owned(),
            client_ids: answer.client_id_list.unwrap_or_default(),
        })
    }
}

impl Aws {
    /// What AWS's own simulator says of these actions, by action.
    pub async fn simulate(
        &self,
        role_arn: &str,
        asked: &Simulation,
    ) -> Fact<BTreeMap<String, Simulated>> {
        let context = asked.context.iter().map(|(key, values)| {
            // The one key of Karpenter's requests that holds a list.
            let kind = match key.as_str() {
                "aws:TagKeys" => types::ContextKeyTypeEnum::StringList,
                _ => types::ContextKeyTypeEnum::String,
            };
            types::ContextEntry::builder()
                .context_key_name(key)
                .set_context_key_values(Some(values.clone()))
                .context_key_type(kind)
                .build()
        });
        let asking = self
            .iam
            .simulate_principal_policy()
            .policy_source_arn(role_arn)
            .set_action_names(Some(asked.actions.clone()))
            .resource_arns(&asked.resource)
            .set_context_entries(Some(context.collect()));
        let call = asking.into_paginator().items().send().collect::<Result<Vec<_>, _>>();
        let answer = self.ask.ask("iam:SimulatePrincipalPolicy", NO_SUCH_ENTITY, call).await;
        answer.map(|results| results.into_iter().map(simulated).collect())
    }
}

fn simulated(result: types::EvaluationResult) -> (String, Simulated) {
    let simulated = Simulated {
        decision: result.eval_decision.as_str().to_owned(),
        missing_context: result.missing_context_values.unwrap_or_default(),
        allowed_by_organization: result
            .organizations_decision_detail
            .map(|detail| detail.allowed_by_organizations),
    };
    (result.eval_action_name, simulated)
}

/// IAM gives documents URL-encoded.
fn decoded(document: &str) -> String {
    percent_encoding::percent_decode_str(document).decode_utf8_lossy().into_owned()
}

fn role(role: types::Role) -> Option<Role> {
    let trust = role.assume_role_policy_document?;
    Some(Role {
        trust: decoded(&trust),
        created: timestamp(&role.create_date),
        boundary: role.permissions_boundary.and_then(|boundary| boundary.permissions_boundary_arn),
        name: role.role_name,
        arn: role.arn,
        path: role.path,
        tags: Some(
            role.tags.unwrap_or_default().into_iter().map(|tag| (tag.key, tag.value)).collect(),
        ),
    })
}

fn instance_profile(profile: types::InstanceProfile) -> InstanceProfile {
    InstanceProfile {
        roles: profile.roles.into_iter().map(|role| role.role_name).collect(),
        name: profile.instance_profile_name,
        arn: profile.arn,
        path: profile.path,
    }
}
