//! The calls of a launch as dry runs (EC2): AWS says whether they would go through, and makes
//! nothing. They are the only calls here that could make something, so a client of their own
//! sends nothing without the flag.

use std::error::Error;

use aws_config::SdkConfig;
use aws_sdk_ec2::{
    Client,
    types::{
        BlockDeviceMapping, DefaultTargetCapacityType, EbsBlockDevice,
        FleetLaunchTemplateConfigRequest, FleetLaunchTemplateOverridesRequest,
        FleetLaunchTemplateSpecificationRequest, FleetOnDemandAllocationStrategy, FleetType,
        HttpTokensState, IamInstanceProfileSpecification, InstanceMetadataEndpointState,
        InstanceMetadataOptionsRequest, InstanceMetadataTagsState,
        InstanceNetworkInterfaceSpecification, InstanceType, OnDemandOptionsRequest, ResourceType,
        TagSpecification, TargetCapacitySpecificationRequest, VolumeType,
    },
};
use aws_smithy_runtime_api::client::{orchestrator::HttpResponse, result::SdkError};
use aws_smithy_types::error::metadata::ProvideErrorMetadata;
use futures_util::future::join_all;

use super::launch_template::{self, size, tags};
use crate::{
    collect::{
        ask::{Asker, is_about_the_caller},
        call_log::CallLog,
        only_dry_runs::OnlyDryRuns,
    },
    facts::{
        Fact,
        kubernetes::node_class::Volume,
        proof::{Answer, CREATE_FLEET, CREATE_LAUNCH_TEMPLATE, DryRun, Launch, RUN_INSTANCES},
    },
};

/// A dry run makes no template, so that the fleet's must be one that there is not: EC2 decides
/// on permissions before it looks for it. Karpenter 1.3 to 1.6 ask so too
/// (`pkg/controllers/nodeclass/validation.go` at v1.3.0).
const NO_TEMPLATE: &str = "lt-1234567890abcdef0";

/// What tries launches with the credentials of the configuration that it was made of.
pub struct DryRuns {
    ask: Asker,
    ec2: Client,
}

impl DryRuns {
    pub fn new(config: &SdkConfig, ask: Asker, log: &CallLog) -> Self {
        let config = aws_sdk_ec2::config::Builder::from(config)
            .interceptor(log.clone())
            .interceptor(OnlyDryRuns)
            .build();
        Self { ask, ec2: Client::from_conf(config) }
    }

    /// Tries each call that the launch takes; of its subnets each on its own.
    pub async fn of(&self, launch: &Launch) -> Vec<Answer> {
        let mut answers = vec![self.create_launch_template(launch).await];
        answers.push(self.create_fleet(launch).await);
        answers.extend(join_all(launch.subnets.iter().map(|id| self.run(launch, id))).await);
        answers
    }

    async fn create_launch_template(&self, launch: &Launch) -> Answer {
        let call = self
            .ec2
            .create_launch_template()
            .dry_run(true)
            .launch_template_name("karpenter.k8s.aws/preflight")
            .launch_template_data(launch_template::data(launch))
            .tag_specifications(tagged(launch, ResourceType::LaunchTemplate));
        self.answer(CREATE_LAUNCH_TEMPLATE, None, call.send()).await
    }

    async fn create_fleet(&self, launch: &Launch) -> Answer {
        let template = FleetLaunchTemplateSpecificationRequest::builder()
            .launch_template_id(NO_TEMPLATE)
            .version("1")
            .build();
        let overrides = launch.subnets.iter().map(|subnet| {
            FleetLaunchTemplateOverridesRequest::builder()
                .instance_type(InstanceType::from(launch.instance_type.as_str()))
                .subnet_id(subnet)
                .build()
        });
        let config = FleetLaunchTemplateConfigRequest::builder()
            .launch_template_specification(template)
            .set_overrides(Some(overrides.collect()))
            .build();
        let capacity = TargetCapacitySpecificationRequest::builder()
            .total_target_capacity(1)
            .default_target_capacity_type(DefaultTargetCapacityType::OnDemand)
            .build();
        let on_demand = OnDemandOptionsRequest::builder()
            .allocation_strategy(FleetOnDemandAllocationStrategy::LowestPrice)
            .build();
        let call = self
            .ec2
            .create_fleet()
            .dry_run(true)
            .r#type(FleetType::Instant)
            .launch_template_configs(config)
            .target_capacity_specification(capacity)
            .on_demand_options(on_demand)
            .tag_specifications(tagged(launch, ResourceType::Instance))
            .tag_specifications(tagged(launch, ResourceType::Volume))
            .tag_specifications(tagged(launch, ResourceType::Fleet));
        self.answer(CREATE_FLEET, None, call.send()).await
    }

    async fn run(&self, launch: &Launch, subnet: &str) -> Answer {
        let mut call = self
            .ec2
            .run_instances()
            .dry_run(true)
            .min_count(1)
            .max_count(1)
            .image_id(&launch.image)
            .instance_type(InstanceType::from(launch.instance_type.as_str()))
            .metadata_options(metadata(launch))
            .set_iam_instance_profile(
                launch
                    .instance_profile
                    .as_ref()
                    .map(|name| IamInstanceProfileSpecification::builder().name(name).build()),
            )
            .set_block_device_mappings(Some(launch.volumes.iter().map(volume).collect()));
        for resource in
            [ResourceType::NetworkInterface, ResourceType::Instance, ResourceType::Volume]
        {
            call = call.tag_specifications(tagged(launch, resource));
        }
        let groups = launch.security_groups.clone();
        call = match launch.associate_public_ip {
            Some(public) => call.network_interfaces(
                InstanceNetworkInterfaceSpecification::builder()
                    .device_index(0)
                    .associate_public_ip_address(public)
                    .set_groups(Some(groups))
                    .subnet_id(subnet)
                    .build(),
            ),
            None => call.subnet_id(subnet).set_security_group_ids(Some(groups)),
        };
        self.answer(RUN_INSTANCES, Some(subnet), call.send()).await
    }

    /// A dry run ends in an error whatever AWS decides; only one that says nothing of the request
    /// leaves the question open.
    async fn answer<T, E>(
        &self,
        action: &str,
        subnet: Option<&str>,
        call: impl Future<Output = Result<T, SdkError<E, HttpResponse>>>,
    ) -> Answer
    where
        E: ProvideErrorMetadata + Error + 'static,
    {
        let answered = async {
            match call.await {
                Ok(_) => Ok(None),
                Err(error) => decision(&error).map(Some).ok_or(error),
            }
        };
        let said = self.ask.ask(action, &[], answered).await.and_then(|said| match said {
            Some(said) => Fact::Known(said),
            None => Fact::Failed {
                action: action.to_owned(),
                message:
                    "the answer is not one to a dry run: look in the account whether something \
                          was made"
                        .to_owned(),
            },
        });
        Answer { action: action.to_owned(), subnet: subnet.map(str::to_owned), said }
    }
}

fn decision<E: ProvideErrorMetadata>(error: &SdkError<E, HttpResponse>) -> Option<DryRun> {
    let SdkError::ServiceError(service) = error else { return None };
    match service.err().code()? {
        "DryRunOperation" => Some(DryRun::Allowed),
        code if is_about_the_caller(code) || is_about_the_service(code) => None,
        code => Some(DryRun::Refused {
            code: code.to_owned(),
            message: service.err().message().unwrap_or_default().to_owned(),
        }),
    }
}

/// Codes that say nothing of the request: ask again later.
fn is_about_the_service(code: &str) -> bool {
    [
        "InternalError",
        "InternalFailure",
        "RequestLimitExceeded",
        "ServiceUnavailable",
        "Unavailable",
    ]
    .contains(&code)
        || code.starts_with("Throttling")
}

fn tagged(launch: &Launch, resource: ResourceType) -> TagSpecification {
    TagSpecification::builder().resource_type(resource).set_tags(Some(tags(launch))).build()
}

fn metadata(launch: &Launch) -> InstanceMetadataOptionsRequest {
    let options = &launch.metadata;
    InstanceMetadataOptionsRequest::builder()
        .set_http_endpoint(
            options.http_endpoint.as_deref().map(InstanceMetadataEndpointState::from),
        )
        .set_http_tokens(options.http_tokens.as_deref().map(HttpTokensState::from))
        .set_http_put_response_hop_limit(
            options.http_put_response_hop_limit.and_then(|hops| i32::try_from(hops).ok()),
        )
        .set_instance_metadata_tags(
            launch.hides_tags.then_some(InstanceMetadataTagsState::Disabled),
        )
        .build()
}

fn volume(volume: &Volume) -> BlockDeviceMapping {
    let disk = EbsBlockDevice::builder()
        .volume_type(VolumeType::Gp3)
        .delete_on_termination(true)
        .set_encrypted(volume.encrypted)
        .set_kms_key_id(volume.kms_key.clone())
        .set_snapshot_id(volume.snapshot.clone())
        .set_volume_size(size(volume))
        .build();
    BlockDeviceMapping::builder().set_device_name(volume.device.clone()).ebs(disk).build()
}
