//! EC2NodeClasses of Karpenter and NodeClasses of EKS Auto Mode.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{
    kind::{Kind, List},
    server::ApiServer,
    wire::{self, Object},
};
use crate::facts::{
    Fact,
    kubernetes::node_class::{
        AmiTerm, MetadataOptions, NodeClass, Resolved, SelectorTerm, UserData, Volume,
    },
};

const EC2_GROUP: &str = "karpenter.k8s.aws";
const AUTO_GROUP: &str = "eks.amazonaws.com";

/// The fields of both products; one that only one of them has is empty for the other.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Spec {
    role: Option<String>,
    instance_profile: Option<String>,
    subnet_selector_terms: Vec<SelectorTerm>,
    security_group_selector_terms: Vec<SelectorTerm>,
    pod_subnet_selector_terms: Vec<SelectorTerm>,
    pod_security_group_selector_terms: Vec<SelectorTerm>,
    capacity_reservation_selector_terms: Vec<WireReservation>,
    ami_family: Option<String>,
    ami_selector_terms: Vec<WireAmi>,
    tags: BTreeMap<String, String>,
    metadata_options: Option<WireMetadataOptions>,
    block_device_mappings: Vec<BlockDevice>,
    ephemeral_storage: Option<WireEbs>,
    #[serde(rename = "associatePublicIPAddress")]
    associate_public_ip: Option<bool>,
    user_data: Option<String>,
    ip_prefix_count: Option<u32>,
    advanced_networking: AdvancedNetworking,
    kubelet: Kubelet,
    placement_group_selector: Option<WirePlacementGroup>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WirePlacementGroup {
    name: Option<String>,
    id: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WireReservation {
    id: Option<String>,
    #[serde(rename = "ownerID")]
    owner_id: Option<String>,
    owner: Option<String>,
    tags: BTreeMap<String, String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WireAmi {
    alias: Option<String>,
    id: Option<String>,
    name: Option<String>,
    owner: Option<String>,
    ssm_parameter: Option<String>,
    tags: BTreeMap<String, String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WireMetadataOptions {
    http_endpoint: Option<String>,
    http_put_response_hop_limit: Option<i64>,
    http_tokens: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct BlockDevice {
    device_name: Option<String>,
    ebs: WireEbs,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WireEbs {
    encrypted: Option<bool>,
    #[serde(rename = "kmsKeyID")]
    kms_key: Option<String>,
    #[serde(rename = "snapshotID")]
    snapshot: Option<String>,
    volume_size: Option<wire::Quantity>,
    /// What EKS Auto Mode calls it.
    size: Option<wire::Quantity>,
    volume_type: Option<String>,
    iops: Option<u64>,
    throughput: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct AdvancedNetworking {
    #[serde(rename = "associatePublicIPAddress")]
    associate_public_ip: Option<bool>,
    ipv4_prefix_size: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Kubelet {
    max_pods: Option<u32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Status {
    subnets: Vec<Identified>,
    security_groups: Vec<Identified>,
    amis: Vec<Identified>,
    instance_profile: Option<String>,
    conditions: Vec<wire::Condition>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Identified {
    id: String,
}

/// EC2NodeClasses, of v1 or else of the version before; absent where the kind is not known.
pub async fn ec2_node_classes(server: &ApiServer) -> Fact<Vec<NodeClass>> {
    let of = |version| List::all(Kind::custom(EC2_GROUP, version, "ec2nodeclasses"));
    match server.list(&of("v1"), node_class).await {
        Fact::Absent => server.list(&of("v1beta1"), node_class).await,
        read => read,
    }
}

/// NodeClasses of EKS Auto Mode; absent where the kind is not known.
pub async fn auto_node_classes(server: &ApiServer) -> Fact<Vec<NodeClass>> {
    server.list(&List::all(Kind::custom(AUTO_GROUP, "v1", "nodeclasses")), node_class).await
}

fn node_class(class: Object<Spec, Status>) -> NodeClass {
    let Object { metadata, spec, status } = class;
    let networking = spec.advanced_networking;
    let mut volumes: Vec<Volume> = spec
        .block_device_mappings
        .into_iter()
        .map(|device| volume(device.device_name, device.ebs))
        .collect();
    volumes.extend(spec.ephemeral_storage.map(|storage| volume(None, storage)));
    NodeClass {
        meta: metadata.into_facts(),
        role: some(spec.role),
        instance_profile: some(spec.instance_profile),
        subnet_terms: spec.subnet_selector_terms,
        security_group_terms: spec.security_group_selector_terms,
        pod_subnet_terms: spec.pod_subnet_selector_terms,
        pod_security_group_terms: spec.pod_security_group_selector_terms,
        ami_family: some(spec.ami_family),
        ami_terms: spec.ami_selector_terms.into_iter().map(ami).collect(),
        tags: spec.tags,
        metadata_options: spec.metadata_options.map(|options| MetadataOptions {
            http_endpoint: options.http_endpoint,
            http_put_response_hop_limit: options.http_put_response_hop_limit,
            http_tokens: options.http_tokens,
        }),
        volumes,
        associate_public_ip: spec.associate_public_ip.or(networking.associate_public_ip),
        user_data: spec.user_data.map(|text| UserData {
            bytes: text.len() as u64,
            registers_taint: text.contains("karpenter.sh/unregistered"),
        }),
        ip_prefix_count: spec.ip_prefix_count,
        ipv4_prefix_size: some(networking.ipv4_prefix_size),
        max_pods: spec.kubelet.max_pods,
        capacity_reservation_terms: spec
            .capacity_reservation_selector_terms
            .into_iter()
            .map(reservation)
            .collect(),
        placement_group: spec.placement_group_selector.and_then(|group| group.name.or(group.id)),
        conditions: wire::conditions(status.conditions),
        status: Resolved {
            subnets: ids(status.subnets),
            security_groups: ids(status.security_groups),
            amis: ids(status.amis),
            instance_profile: some(status.instance_profile),
        },
    }
}

fn some(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}

fn ids(found: Vec<Identified>) -> Vec<String> {
    found.into_iter().map(|found| found.id).collect()
}

fn ami(term: WireAmi) -> AmiTerm {
    AmiTerm {
        alias: some(term.alias),
        id: some(term.id),
        name: some(term.name),
        owner: some(term.owner),
        ssm_parameter: some(term.ssm_parameter),
        tags: term.tags,
    }
}

fn reservation(term: WireReservation) -> SelectorTerm {
    SelectorTerm { id: term.id, name: None, owner: term.owner_id.or(term.owner), tags: term.tags }
}

fn volume(device: Option<String>, ebs: WireEbs) -> Volume {
    Volume {
        device,
        encrypted: ebs.encrypted,
        kms_key: some(ebs.kms_key),
        snapshot: some(ebs.snapshot),
        size: ebs.volume_size.or(ebs.size).map(wire::Quantity::into_text),
        kind: some(ebs.volume_type),
        iops: ebs.iops,
        throughput: ebs.throughput,
    }
}
