//! The organisation and its policies (Organizations).

use aws_sdk_organizations::types::PolicyType;

use super::{Aws, expect};
use crate::facts::{Fact, organizations::Attached};

impl Aws {
    /// The id of the organisation, and its management account.
    pub async fn organization(&self) -> Fact<(String, String)> {
        const ACTION: &str = "organizations:DescribeOrganization";
        const NONE: &[&str] = &["AWSOrganizationsNotInUseException"];
        let call = self.organizations.describe_organization().send();
        let answer = self.ask.ask(ACTION, NONE, call).await;
        answer.and_then(|answer| {
            let found = answer.organization;
            let ids = found.and_then(|found| found.id.zip(found.master_account_id));
            expect(ACTION, "organisation", ids)
        })
    }

    /// The id of what holds an account or an organisational unit. Each has exactly one.
    pub async fn parent(&self, child: &str) -> Fact<String> {
        const ACTION: &str = "organizations:ListParents";
        let call = self.organizations.list_parents().child_id(child).send();
        let answer = self.ask.ask(ACTION, &[], call).await;
        answer.and_then(|answer| {
            let parent = answer.parents.and_then(|parents| parents.into_iter().next());
            expect(ACTION, "parent", parent.and_then(|parent| parent.id))
        })
    }

    pub async fn service_control_policies(&self, target: &str) -> Fact<Vec<Attached>> {
        self.policies_for(target, PolicyType::ServiceControlPolicy).await
    }

    pub async fn resource_control_policies(&self, target: &str) -> Fact<Vec<Attached>> {
        self.policies_for(target, PolicyType::ResourceControlPolicy).await
    }

    async fn policies_for(&self, target: &str, kind: PolicyType) -> Fact<Vec<Attached>> {
        let asking = self.organizations.list_policies_for_target();
        let pages = asking.target_id(target).filter(kind).into_paginator().send();
        let call = pages.collect::<Result<Vec<_>, _>>();
        let answer = self.ask.ask("organizations:ListPoliciesForTarget", &[], call).await;
        answer.map(|pages| {
            let policies = pages.into_iter().flat_map(|page| page.policies.unwrap_or_default());
            policies
                .filter_map(|policy| policy.id.zip(policy.name))
                .map(|(id, name)| Attached { id, name })
                .collect()
        })
    }

    /// The document of a policy of the organisation.
    pub async fn organization_policy(&self, id: &str) -> Fact<String> {
        const ACTION: &str = "organizations:DescribePolicy";
        let call = self.organizations.describe_policy().policy_id(id).send();
        let answer = self.ask.ask(ACTION, &[], call).await;
        answer.and_then(|answer| {
            expect(ACTION, "document", answer.policy.and_then(|policy| policy.content))
        })
    }
}
