//! Roles and instance profiles (IAM).

use aws_sdk_iam::types;

use super::{Aws, expect, timestamp};
use crate::facts::{
    Fact,
    iam::{InstanceProfile, Role},
};

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

fn role(role: types::Role) -> Option<Role> {
    let trust = role.assume_role_policy_document?;
    Some(Role {
        trust: percent_encoding::percent_decode_str(&trust).decode_utf8_lossy().into_owned(),
        created: timestamp(&role.create_date),
        boundary: role.permissions_boundary.and_then(|boundary| boundary.permissions_boundary_arn),
        name: role.role_name,
        arn: role.arn,
        path: role.path,
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
