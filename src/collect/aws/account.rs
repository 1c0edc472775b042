//! What the account allows and what runs in it (EC2, Service Quotas, IAM).

use std::collections::BTreeMap;

use aws_sdk_ec2::types::{self, InstanceLifecycleType, InstanceStateName};
use aws_sdk_iam::types::SummaryKeyType;

use super::{Aws, expect, owned};
use crate::facts::{
    Fact,
    ec2::{AllowedImages, ImageCriterion},
    limits::{
        self, Count, FailedLaunch, LAUNCH_TEMPLATES, LAUNCH_TEMPLATES_BY_DEFAULT, LaunchTemplates,
        QUOTA_FAMILIES, Quota, Running,
    },
};

const PAGE: i32 = 1000;
const QUOTA_PAGE: i32 = 100;
/// The most that EC2 gives.
const TEMPLATE_PAGE: i32 = 200;
/// What Karpenter tags its launch templates with, beside the cluster.
const NODE_CLASS: &str = "karpenter.k8s.aws/ec2nodeclass";
/// The instances of a run: those that are there, and those that ended within the last hour.
const STATES: [&str; 3] = ["pending", "running", "terminated"];

impl Aws {
    pub async fn allowed_images(&self) -> Fact<AllowedImages> {
        const ACTION: &str = "ec2:GetAllowedImagesSettings";
        let call = self.ec2.get_allowed_images_settings().send();
        let answer = self.ask.ask(ACTION, &[], call).await;
        answer.and_then(|answer| {
            let criteria = answer.image_criteria.unwrap_or_default();
            let settings = answer.state.map(|state| AllowedImages {
                state,
                managed_by: answer.managed_by.map(|by| by.as_str().to_owned()),
                criteria: criteria.into_iter().map(criterion).collect(),
            });
            expect(ACTION, "state", settings)
        })
    }

    /// The key of encrypted volumes that name none.
    pub async fn ebs_default_key(&self) -> Fact<String> {
        const ACTION: &str = "ec2:GetEbsDefaultKmsKeyId";
        let call = self.ec2.get_ebs_default_kms_key_id().send();
        let answer = self.ask.ask(ACTION, &[], call).await;
        answer.and_then(|answer| expect(ACTION, "key", answer.kms_key_id))
    }

    /// What runs, by the quota that it counts towards, and what failed to start.
    pub async fn instances(&self) -> (Fact<Vec<Running>>, Fact<Vec<FailedLaunch>>) {
        let states = types::Filter::builder()
            .name("instance-state-name")
            .set_values(Some(STATES.map(str::to_owned).to_vec()))
            .build();
        let pages = self.ec2.describe_instances().filters(states).max_results(PAGE);
        // EC2 leaves out what a service manages unless it is asked for it.
        let pages = pages.include_managed_resources(true).into_paginator().items().send();
        let call = pages.collect::<Result<Vec<_>, _>>();
        let answer = self.ask.ask("ec2:DescribeInstances", &[], call).await;
        let folded = answer.map(|reservations| {
            let all: Vec<_> = reservations.iter().flat_map(|one| one.instances()).collect();
            (running(&all), failed(&all))
        });
        (folded.clone().map(|folded| folded.0), folded.map(|folded| folded.1))
    }

    /// Quotas of EC2. Those that were never raised may be missing in the list of the account's
    /// own; then AWS's default holds.
    pub async fn ec2_quotas(&self) -> Fact<Quotas> {
        let pages = self.quotas.list_service_quotas().service_code("ec2").max_results(QUOTA_PAGE);
        let call = pages.into_paginator().items().send().collect::<Result<Vec<_>, _>>();
        let listed = self.ask.ask("servicequotas:ListServiceQuotas", &[], call).await;
        listed.map(|listed| {
            let value = |code: &str| {
                let own = listed.iter().find(|quota| quota.quota_code() == Some(code));
                own.and_then(|quota| quota.value).map(whole)
            };
            let vcpus = QUOTA_FAMILIES.iter().flat_map(|family| {
                [family.on_demand, family.spot].map(|code| {
                    let own = value(code);
                    let default = own.unwrap_or(family.default);
                    (code.to_owned(), Quota { value: default, is_default: own.is_none() })
                })
            });
            let launch_templates = value(LAUNCH_TEMPLATES).unwrap_or(LAUNCH_TEMPLATES_BY_DEFAULT);
            Quotas { vcpus: vcpus.collect(), launch_templates }
        })
    }

    /// The launch templates of the region, counted.
    pub async fn launch_templates(&self, cluster: &str) -> Fact<LaunchTemplates> {
        let pages = self.ec2.describe_launch_templates().max_results(TEMPLATE_PAGE);
        let call = pages.into_paginator().items().send().collect::<Result<Vec<_>, _>>();
        let listed = self.ask.ask("ec2:DescribeLaunchTemplates", &[], call).await;
        let owned = format!("kubernetes.io/cluster/{cluster}");
        listed.map(|listed| {
            let has = |template: &types::LaunchTemplate, key: &str| {
                template.tags().iter().any(|tag| tag.key() == Some(key))
            };
            let own = listed.iter().filter(|one| has(one, &owned) && has(one, NODE_CLASS));
            LaunchTemplates { used: count(listed.len()), of_cluster: count(own.count()) }
        })
    }

    /// How many instance profiles the account has, and may have.
    pub async fn instance_profile_count(&self) -> Fact<Count> {
        const ACTION: &str = "iam:GetAccountSummary";
        let answer = self.ask.ask(ACTION, &[], self.iam.get_account_summary().send()).await;
        answer.and_then(|answer| {
            let summary = answer.summary_map.unwrap_or_default();
            let get = |key| summary.get(&key).and_then(|count| u64::try_from(*count).ok());
            let used = get(SummaryKeyType::InstanceProfiles);
            let quota = get(SummaryKeyType::InstanceProfilesQuota);
            let count = used.zip(quota).map(|(used, quota)| Count { used, quota });
            expect(ACTION, "number of instance profiles", count)
        })
    }
}

/// What EC2 lets the account have.
#[derive(Debug, Clone)]
pub struct Quotas {
    /// By code.
    pub vcpus: BTreeMap<String, Quota>,
    pub launch_templates: u64,
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// A quota is a whole number that the API gives as a fraction.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a quota is a whole number, and not negative"
)]
fn whole(value: f64) -> u64 {
    value.max(0.0) as u64
}

fn criterion(criterion: types::ImageCriterion) -> ImageCriterion {
    ImageCriterion {
        asks_more: !criterion.image_watermarks().is_empty()
            || criterion.scan_result_condition().is_some(),
        max_days_since_deprecated: criterion
            .deprecation_time_condition
            .and_then(|condition| condition.maximum_days_since_deprecated),
        max_days_since_created: criterion
            .creation_date_condition
            .and_then(|condition| condition.maximum_days_since_created),
        providers: criterion.image_providers.unwrap_or_default(),
        names: criterion.image_names.unwrap_or_default(),
        marketplace_codes: criterion.marketplace_product_codes.unwrap_or_default(),
    }
}

fn running(instances: &[&types::Instance]) -> Vec<Running> {
    let mut by_quota: BTreeMap<&str, Running> = BTreeMap::new();
    for instance in instances.iter().filter(|instance| is(instance, InstanceStateName::Running)) {
        let kind = instance.instance_type().map(|kind| kind.as_str()).unwrap_or_default();
        let spot = instance.instance_lifecycle() == Some(&InstanceLifecycleType::Spot);
        let Some(quota) = limits::quota_code(kind, spot) else { continue };
        let running = by_quota.entry(quota).or_default();
        quota.clone_into(&mut running.quota);
        running.instances += 1;
        running.vcpus += vcpus(instance);
    }
    by_quota.into_values().collect()
}

/// What starts counts as what runs.
fn is(instance: &types::Instance, state: InstanceStateName) -> bool {
    let now = instance.state().and_then(|state| state.name());
    now == Some(&state)
        || (state == InstanceStateName::Running && now == Some(&InstanceStateName::Pending))
}

fn vcpus(instance: &types::Instance) -> u64 {
    let options = instance.cpu_options();
    let of = |count: Option<i32>| count.and_then(|count| u64::try_from(count).ok()).unwrap_or(1);
    options.map_or(1, |options| of(options.core_count) * of(options.threads_per_core))
}

/// Those that ended for a reason of the client's: a key that may not be used, for one.
fn failed(instances: &[&types::Instance]) -> Vec<FailedLaunch> {
    let ended = instances.iter().filter(|instance| is(instance, InstanceStateName::Terminated));
    ended
        .filter_map(|instance| {
            let reason = instance.state_reason()?;
            let code = reason.code().filter(|code| code.starts_with("Client."))?;
            // People and programs end instances with these.
            let on_purpose = ["Client.UserInitiatedShutdown", "Client.InstanceInitiatedShutdown"];
            (!on_purpose.contains(&code)).then(|| FailedLaunch {
                id: owned(instance.instance_id()),
                code: code.to_owned(),
                message: owned(reason.message()),
                vpc_id: instance.vpc_id.clone(),
            })
        })
        .collect()
}
