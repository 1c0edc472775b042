//! A launch as a launch template has it (EC2 has types of its own for each part).

use aws_sdk_ec2::types::{
    InstanceType, LaunchTemplateBlockDeviceMappingRequest, LaunchTemplateEbsBlockDeviceRequest,
    LaunchTemplateHttpTokensState, LaunchTemplateIamInstanceProfileSpecificationRequest,
    LaunchTemplateInstanceMetadataEndpointState, LaunchTemplateInstanceMetadataOptionsRequest,
    LaunchTemplateInstanceMetadataTagsState,
    LaunchTemplateInstanceNetworkInterfaceSpecificationRequest,
    LaunchTemplateTagSpecificationRequest, RequestLaunchTemplateData, ResourceType, Tag,
    VolumeType,
};

use crate::facts::{kubernetes::node_class::Volume, proof::Launch};

/// GiB of a volume that names no snapshot: no less than the root of any image of EKS.
const SIZE: i32 = 100;

pub fn data(launch: &Launch) -> RequestLaunchTemplateData {
    let profile = launch.instance_profile.as_ref().map(|name| {
        LaunchTemplateIamInstanceProfileSpecificationRequest::builder().name(name).build()
    });
    let tags = LaunchTemplateTagSpecificationRequest::builder()
        .resource_type(ResourceType::NetworkInterface)
        .set_tags(Some(tags(launch)))
        .build();
    let data = RequestLaunchTemplateData::builder()
        .image_id(&launch.image)
        .instance_type(InstanceType::from(launch.instance_type.as_str()))
        .metadata_options(metadata(launch))
        .set_iam_instance_profile(profile)
        .set_block_device_mappings(Some(launch.volumes.iter().map(volume).collect()))
        .tag_specifications(tags);
    let groups = launch.security_groups.clone();
    match launch.associate_public_ip {
        Some(public) => data.network_interfaces(
            LaunchTemplateInstanceNetworkInterfaceSpecificationRequest::builder()
                .device_index(0)
                .associate_public_ip_address(public)
                .set_groups(Some(groups))
                .build(),
        ),
        None => data.set_security_group_ids(Some(groups)),
    }
    .build()
}

fn metadata(launch: &Launch) -> LaunchTemplateInstanceMetadataOptionsRequest {
    let options = &launch.metadata;
    LaunchTemplateInstanceMetadataOptionsRequest::builder()
        .set_http_endpoint(
            options.http_endpoint.as_deref().map(LaunchTemplateInstanceMetadataEndpointState::from),
        )
        .set_http_tokens(options.http_tokens.as_deref().map(LaunchTemplateHttpTokensState::from))
        .set_http_put_response_hop_limit(
            options.http_put_response_hop_limit.and_then(|hops| i32::try_from(hops).ok()),
        )
        .set_instance_metadata_tags(
            launch.hides_tags.then_some(LaunchTemplateInstanceMetadataTagsState::Disabled),
        )
        .build()
}

fn volume(volume: &Volume) -> LaunchTemplateBlockDeviceMappingRequest {
    let disk = LaunchTemplateEbsBlockDeviceRequest::builder()
        .volume_type(VolumeType::Gp3)
        .delete_on_termination(true)
        .set_encrypted(volume.encrypted)
        .set_kms_key_id(volume.kms_key.clone())
        .set_snapshot_id(volume.snapshot.clone())
        .set_volume_size(size(volume))
        .build();
    LaunchTemplateBlockDeviceMappingRequest::builder()
        .set_device_name(volume.device.clone())
        .ebs(disk)
        .build()
}

pub fn tags(launch: &Launch) -> Vec<Tag> {
    let tag = |(key, value): (&String, &String)| Tag::builder().key(key).value(value).build();
    launch.tags.iter().map(tag).collect()
}

/// GiB; nothing where a snapshot says it.
pub fn size(volume: &Volume) -> Option<i32> {
    volume.snapshot.is_none().then_some(SIZE)
}
