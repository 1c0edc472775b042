//! What a cluster runs pods on beside Karpenter's nodes: managed node groups and Fargate profiles.

use aws_sdk_eks::types;
use futures_util::{StreamExt, stream};

use super::{AT_A_TIME, Aws, NOT_FOUND, expect, owned};
use crate::facts::{
    Fact,
    eks::{FargateProfile, FargateSelector, NodeGroup},
};

impl Aws {
    pub async fn node_groups(&self, cluster: &str) -> Fact<Vec<NodeGroup>> {
        let pages = self.eks.list_nodegroups().cluster_name(cluster).into_paginator();
        let call = pages.items().send().collect::<Result<Vec<_>, _>>();
        let names = match self.ask.ask("eks:ListNodegroups", NOT_FOUND, call).await {
            Fact::Known(names) => names,
            other => return other.map(|_| Vec::new()),
        };
        let groups = stream::iter(names).map(|name| self.node_group(cluster, name));
        all(groups.buffered(AT_A_TIME).collect().await)
    }

    async fn node_group(&self, cluster: &str, name: String) -> Fact<NodeGroup> {
        let call = self.eks.describe_nodegroup().cluster_name(cluster).nodegroup_name(&name);
        let answer = self.ask.ask("eks:DescribeNodegroup", &[], call.send()).await;
        answer.and_then(|answer| {
            let group =
                answer.nodegroup.map(|group| NodeGroup { name, node_role_arn: group.node_role });
            expect("eks:DescribeNodegroup", "node group", group)
        })
    }

    pub async fn fargate_profiles(&self, cluster: &str) -> Fact<Vec<FargateProfile>> {
        let pages = self.eks.list_fargate_profiles().cluster_name(cluster).into_paginator();
        let call = pages.items().send().collect::<Result<Vec<_>, _>>();
        let names = match self.ask.ask("eks:ListFargateProfiles", NOT_FOUND, call).await {
            Fact::Known(names) => names,
            other => return other.map(|_| Vec::new()),
        };
        let profiles = stream::iter(names).map(|name| self.fargate_profile(cluster, name));
        all(profiles.buffered(AT_A_TIME).collect().await)
    }

    async fn fargate_profile(&self, cluster: &str, name: String) -> Fact<FargateProfile> {
        const ACTION: &str = "eks:DescribeFargateProfile";
        let call =
            self.eks.describe_fargate_profile().cluster_name(cluster).fargate_profile_name(&name);
        let answer = self.ask.ask(ACTION, &[], call.send()).await;
        answer.and_then(|answer| {
            let profile = answer.fargate_profile.map(|profile| FargateProfile {
                name,
                status: owned(profile.status().map(|status| status.as_str())),
                selectors: profile.selectors().iter().map(selector).collect(),
            });
            expect(ACTION, "Fargate profile", profile)
        })
    }
}

fn selector(selector: &types::FargateProfileSelector) -> FargateSelector {
    FargateSelector {
        namespace: owned(selector.namespace()),
        labels: selector.labels().cloned().unwrap_or_default().into_iter().collect(),
    }
}

/// The values if all are known, else the first fact that is not.
fn all<T>(facts: Vec<Fact<T>>) -> Fact<Vec<T>> {
    let mut values = Vec::new();
    for fact in facts {
        match fact {
            Fact::Known(value) => values.push(value),
            other => return other.map(|_| Vec::new()),
        }
    }
    Fact::Known(values)
}
