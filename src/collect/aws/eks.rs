//! The cluster, who is let in, and its add-ons (EKS).

mod capacity;

use std::collections::BTreeMap;

use aws_sdk_eks::types;
use futures_util::{StreamExt, stream};

use super::{Aws, expect, owned, timestamp};
use crate::{
    collect::kubernetes::access::Described,
    facts::{
        Fact,
        eks::{
            AccessEntry, AccessScope, Addon, AssociatedPolicy, AuthenticationMode, AutoMode,
            Cluster, ClusterNetwork, HealthIssue, PodIdentityAssociation,
        },
    },
};

const NOT_FOUND: &[&str] = &["ResourceNotFoundException"];
/// How many Describe calls of one kind run at a time.
const AT_A_TIME: usize = 8;

impl Aws {
    pub async fn cluster(&self, name: &str) -> Described {
        const ACTION: &str = "eks:DescribeCluster";
        let call = self.eks.describe_cluster().name(name).send();
        let answer = self.ask.ask(ACTION, NOT_FOUND, call).await;
        let authority = answer.value().and_then(|answer| {
            answer.cluster.as_ref()?.certificate_authority.as_ref()?.data.clone()
        });
        let cluster = answer.and_then(|answer| {
            expect(ACTION, "cluster", answer.cluster.as_ref().and_then(cluster))
        });
        Described { cluster, authority }
    }

    /// The clusters of the region, for telling what else there is.
    pub async fn cluster_names(&self) -> Fact<Vec<String>> {
        let call = self.eks.list_clusters().into_paginator().items().send();
        self.ask.ask("eks:ListClusters", &[], call.collect::<Result<Vec<_>, _>>()).await
    }

    /// Every access entry that could be a node role's, described.
    pub async fn access_entries(&self, cluster: &str) -> Fact<BTreeMap<String, Fact<AccessEntry>>> {
        let pages = self.eks.list_access_entries().cluster_name(cluster).into_paginator();
        let call = pages.items().send().collect::<Result<Vec<_>, _>>();
        let principals = self.ask.ask("eks:ListAccessEntries", NOT_FOUND, call).await;
        match principals {
            Fact::Known(principals) => {
                let entries = stream::iter(
                    principals.into_iter().filter(|arn| may_be_node_role(arn)),
                )
                .map(|principal| async {
                    let entry = self.access_entry(cluster, &principal).await;
                    (principal, entry)
                });
                Fact::Known(entries.buffer_unordered(AT_A_TIME).collect().await)
            }
            other => other.map(|_| BTreeMap::new()),
        }
    }

    async fn access_entry(&self, cluster: &str, principal: &str) -> Fact<AccessEntry> {
        const ACTION: &str = "eks:DescribeAccessEntry";
        let call = self.eks.describe_access_entry().cluster_name(cluster).principal_arn(principal);
        let answer = self.ask.ask(ACTION, NOT_FOUND, call.send()).await;
        let entry = answer.and_then(|answer| expect(ACTION, "access entry", answer.access_entry));
        let policies = match entry.value().and_then(|entry| entry.r#type()) {
            Some("EC2") => self.access_policies(cluster, principal).await,
            _ => Fact::not_asked("only node entries of type EC2 need an access policy"),
        };
        entry.map(|entry| access_entry(&entry, policies))
    }

    async fn access_policies(&self, cluster: &str, principal: &str) -> Fact<Vec<AssociatedPolicy>> {
        const ACTION: &str = "eks:ListAssociatedAccessPolicies";
        let call = self
            .eks
            .list_associated_access_policies()
            .cluster_name(cluster)
            .principal_arn(principal)
            .into_paginator()
            .items()
            .send()
            .collect::<Result<Vec<_>, _>>();
        let answer = self.ask.ask(ACTION, NOT_FOUND, call).await;
        answer.and_then(|policies| {
            let policies = policies.into_iter().map(associated_policy).collect();
            expect(ACTION, "access scope", policies)
        })
    }

    /// The pod identity associations whose service account `wanted` accepts, described.
    pub async fn pod_identity_associations(
        &self,
        cluster: &str,
        wanted: impl Fn(&str) -> bool,
    ) -> Fact<Vec<Fact<PodIdentityAssociation>>> {
        let pages =
            self.eks.list_pod_identity_associations().cluster_name(cluster).into_paginator();
        let call = pages.items().send().collect::<Result<Vec<_>, _>>();
        let answer = self.ask.ask("eks:ListPodIdentityAssociations", NOT_FOUND, call).await;
        match answer {
            Fact::Known(summaries) => {
                let ids = summaries
                    .into_iter()
                    .filter(|summary| wanted(summary.service_account().unwrap_or_default()))
                    .filter_map(|summary| summary.association_id);
                let described =
                    stream::iter(ids).map(|id| self.pod_identity_association(cluster, id));
                Fact::Known(described.buffered(AT_A_TIME).collect().await)
            }
            other => other.map(|_| Vec::new()),
        }
    }

    async fn pod_identity_association(
        &self,
        cluster: &str,
        id: String,
    ) -> Fact<PodIdentityAssociation> {
        const ACTION: &str = "eks:DescribePodIdentityAssociation";
        let call = self
            .eks
            .describe_pod_identity_association()
            .cluster_name(cluster)
            .association_id(&id)
            .send();
        let answer = self.ask.ask(ACTION, NOT_FOUND, call).await;
        answer.and_then(|answer| {
            let found = answer.association.map(|association| PodIdentityAssociation {
                id,
                namespace: owned(association.namespace()),
                service_account: owned(association.service_account()),
                role_arn: owned(association.role_arn()),
                session_tags_disabled: association.disable_session_tags.unwrap_or_default(),
                policy: association.policy.filter(|policy| !policy.is_empty()),
                target_role_arn: association.target_role_arn.filter(|arn| !arn.is_empty()),
            });
            expect(ACTION, "association", found)
        })
    }
}

impl Aws {
    pub async fn addon(&self, cluster: &str, name: &str) -> Fact<Addon> {
        const ACTION: &str = "eks:DescribeAddon";
        let call = self.eks.describe_addon().cluster_name(cluster).addon_name(name).send();
        let answer = self.ask.ask(ACTION, NOT_FOUND, call).await;
        answer.and_then(|answer| {
            let addon = answer.addon.map(|addon| Addon {
                name: name.to_owned(),
                status: addon.status.map(|status| status.as_str().to_owned()).unwrap_or_default(),
                version: addon.addon_version,
                env: addon.configuration_values.as_deref().map(env).unwrap_or_default(),
                service_account_role_arn: addon
                    .service_account_role_arn
                    .filter(|arn| !arn.is_empty()),
            });
            expect(ACTION, "add-on", addon)
        })
    }
}

/// The environment that an add-on's configuration sets; people write JSON or YAML.
fn env(configuration: &str) -> BTreeMap<String, String> {
    let json = serde_json::from_str::<serde_json::Value>(configuration).ok();
    let value = json.or_else(|| serde_saphyr::from_str(configuration).ok());
    let env = value.as_ref().and_then(|value| value.get("env")?.as_object());
    env.into_iter()
        .flatten()
        .map(|(name, value)| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            (name.clone(), text)
        })
        .collect()
}

/// Users, service-linked roles and the roles of IAM Identity Center never run nodes.
fn may_be_node_role(principal: &str) -> bool {
    principal.contains(":role/")
        && !principal.contains(":role/aws-service-role/")
        && !principal.contains(":role/aws-reserved/")
}

fn cluster(cluster: &types::Cluster) -> Option<Cluster> {
    let network = cluster.resources_vpc_config();
    let kubernetes_network = cluster.kubernetes_network_config();
    Some(Cluster {
        name: cluster.name()?.to_owned(),
        arn: cluster.arn()?.to_owned(),
        version: cluster.version()?.to_owned(),
        platform_version: cluster.platform_version.clone(),
        status: cluster.status().map(|status| status.as_str().to_owned()).unwrap_or_default(),
        health_issues: cluster
            .health()
            .map(|health| health.issues().iter().map(health_issue).collect())
            .unwrap_or_default(),
        endpoint: cluster.endpoint.clone(),
        role_arn: cluster.role_arn()?.to_owned(),
        oidc_issuer: cluster
            .identity()
            .and_then(|identity| identity.oidc())
            .and_then(|oidc| oidc.issuer.clone()),
        authentication_mode: authentication_mode(cluster),
        network: ClusterNetwork {
            vpc_id: network.and_then(|network| network.vpc_id.clone()),
            subnet_ids: network.map(|network| network.subnet_ids().to_vec()).unwrap_or_default(),
            cluster_security_group_id: network
                .and_then(|network| network.cluster_security_group_id.clone()),
            security_group_ids: network
                .map(|network| network.security_group_ids().to_vec())
                .unwrap_or_default(),
            public_access_cidrs: network
                .map(|network| network.public_access_cidrs().to_vec())
                .unwrap_or_default(),
            endpoint_public_access: network.is_some_and(|network| network.endpoint_public_access),
            endpoint_private_access: network.is_some_and(|network| network.endpoint_private_access),
            ip_family: kubernetes_network
                .and_then(|network| network.ip_family())
                .map(|family| family.as_str().to_owned()),
        },
        auto_mode: auto_mode(cluster),
        zonal_shift: cluster.zonal_shift_config().and_then(|shift| shift.enabled),
    })
}

fn health_issue(issue: &types::ClusterIssue) -> HealthIssue {
    HealthIssue {
        code: issue.code().map(|code| code.as_str().to_owned()).unwrap_or_default(),
        message: owned(issue.message()),
        resources: issue.resource_ids().to_vec(),
    }
}

/// Clusters from before access entries have no access config; the ConfigMap decides there.
fn authentication_mode(cluster: &types::Cluster) -> AuthenticationMode {
    match cluster.access_config().and_then(|config| config.authentication_mode()) {
        Some(types::AuthenticationMode::Api) => AuthenticationMode::Api,
        Some(types::AuthenticationMode::ApiAndConfigMap) => AuthenticationMode::ApiAndConfigMap,
        _ => AuthenticationMode::ConfigMap,
    }
}

fn auto_mode(cluster: &types::Cluster) -> AutoMode {
    let compute = cluster.compute_config();
    AutoMode {
        compute: compute.and_then(|compute| compute.enabled).unwrap_or_default(),
        block_storage: cluster
            .storage_config()
            .and_then(|storage| storage.block_storage())
            .and_then(|block_storage| block_storage.enabled)
            .unwrap_or_default(),
        load_balancing: cluster
            .kubernetes_network_config()
            .and_then(|network| network.elastic_load_balancing())
            .and_then(|load_balancing| load_balancing.enabled)
            .unwrap_or_default(),
        node_pools: compute.map(|compute| compute.node_pools().to_vec()).unwrap_or_default(),
        node_role_arn: compute.and_then(|compute| compute.node_role_arn.clone()),
    }
}

fn access_entry(entry: &types::AccessEntry, policies: Fact<Vec<AssociatedPolicy>>) -> AccessEntry {
    AccessEntry {
        principal_arn: owned(entry.principal_arn()),
        entry_type: owned(entry.r#type()),
        username: entry.username.clone(),
        groups: entry.kubernetes_groups().to_vec(),
        created: entry.created_at().and_then(timestamp),
        policies,
    }
}

fn associated_policy(policy: types::AssociatedAccessPolicy) -> Option<AssociatedPolicy> {
    let scope = match policy.access_scope?.r#type? {
        types::AccessScopeType::Cluster => AccessScope::Cluster,
        types::AccessScopeType::Namespace => AccessScope::Namespaces,
        _ => return None,
    };
    Some(AssociatedPolicy { arn: policy.policy_arn?, scope })
}
