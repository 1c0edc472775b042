//! The features that decide which requests a controller, or Auto Mode, makes.

use serde::{Deserialize, Serialize};

/// Something a set-up uses, and that makes Karpenter ask more of the account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Feature {
    /// `settings.interruptionQueue` is set.
    Queue,
    /// An EC2NodeClass sets `spec.role`, so that Karpenter makes the instance profile.
    Role,
    /// An AMI selector with an `alias`, which is resolved through public SSM parameters.
    AliasAmi,
    /// An AMI selector with an `ssmParameter` (from 1.4).
    SsmParameterAmi,
    /// `settings.enableZonalShift` (from 1.12).
    ZonalShift,
    /// An EC2NodeClass with a `placementGroupSelector` (from 1.11).
    PlacementGroups,
    /// An EC2NodeClass with `capacityReservationSelectorTerms` (from 1.3).
    CapacityReservations,
    /// An EC2NodeClass with a `snapshotID` in its block device mappings.
    Snapshots,
    /// `settings.isolatedVPC` is not set: the IAM and Price List APIs can be reached.
    NotIsolatedVpc,
    /// A NodePool that permits Spot, which one without a capacity-type requirement does.
    Spot,
    /// `settings.clusterEndpoint` is not set, so that it is looked up at the start.
    EndpointDiscovery,
    /// `settings.eksControlPlane`: the Kubernetes version is read from EKS (from 1.1).
    EksControlPlane,
    /// An AL2023 NodeClass, for which the service CIDR of the cluster is read.
    Al2023,
    /// Permissions are tried out by dry runs: from 1.3, unless `settings.disableDryRun`.
    DryRun,
    /// Instances or instance profiles that a Karpenter before 1.0 made are still there.
    #[serde(rename = "pre-v1-nodes")]
    PreV1Nodes,
    /// The cluster gives pods IPv6 addresses.
    Ipv6,
    /// Auto Mode: a NodeClass with `tags` of the user's own.
    #[serde(rename = "nodeclass-tags")]
    NodeClassTags,
    /// Auto Mode: a StorageClass or snapshot class with tags of the user's own.
    #[serde(rename = "storageclass-tags")]
    StorageClassTags,
    /// Auto Mode: a Service or Ingress with tags of the user's own.
    LoadBalancerTags,
}

impl Feature {
    pub const ALL: [Self; 19] = [
        Self::Queue,
        Self::Role,
        Self::AliasAmi,
        Self::SsmParameterAmi,
        Self::ZonalShift,
        Self::PlacementGroups,
        Self::CapacityReservations,
        Self::Snapshots,
        Self::NotIsolatedVpc,
        Self::Spot,
        Self::EndpointDiscovery,
        Self::EksControlPlane,
        Self::Al2023,
        Self::DryRun,
        Self::PreV1Nodes,
        Self::Ipv6,
        Self::NodeClassTags,
        Self::StorageClassTags,
        Self::LoadBalancerTags,
    ];
}
