//! What was read from the account: typed, serialisable, and nothing but that.
//!
//! One file a service. The whole is [`Facts`]; the file that holds it is
//! [`Saved`](crate::target::saved::Saved).

pub mod account;
pub mod arn;
pub mod ec2;
pub mod eks;
pub mod events;
mod fact;
pub mod iam;
pub mod kms;
pub mod kubernetes;
pub mod organizations;
pub mod proof;
pub mod selected;
pub mod limits;
pub mod network;
pub mod sqs;
pub mod ssm;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

pub use fact::{Fact, Unseen};
use kubernetes::node_class::SelectorTerm;
use selected::{ImageQuery, Query, Selected};

/// Everything that was read for one cluster. A field that an older facts file lacks reads as
/// not asked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Facts {
    pub caller: Fact<account::Caller>,
    /// Absent where the account belongs to none.
    pub organization: Fact<organizations::Organization>,
    pub cluster: Fact<eks::Cluster>,
    pub node_groups: Fact<Vec<eks::NodeGroup>>,
    /// Asked only where the controller has too few nodes without them.
    pub fargate_profiles: Fact<Vec<eks::FargateProfile>>,
    /// Access entries by principal ARN. The outer fact is the list, each inner one an entry.
    pub access_entries: Fact<BTreeMap<String, Fact<eks::AccessEntry>>>,
    pub pod_identity_associations: Fact<Vec<Fact<eks::PodIdentityAssociation>>>,
    /// EKS add-ons by name: those that hand out or need permissions.
    pub addons: BTreeMap<String, Fact<eks::Addon>>,
    /// The identity provider of the cluster's issuer.
    pub oidc_provider: Fact<iam::OidcProvider>,
    /// Roles by name: every candidate for controller, cluster and node role.
    pub roles: BTreeMap<String, Fact<iam::Role>>,
    /// The policies of the roles whose permissions count, by the role's name.
    pub role_policies: BTreeMap<String, iam::RolePolicies>,
    /// What AWS's own simulator said, by the role's name; only where that was asked for.
    pub simulations: BTreeMap<String, Vec<iam::Simulation>>,
    /// What dry runs of a launch showed; only where that was asked for.
    pub proofs: Fact<Vec<proof::Proof>>,
    /// Documents, as JSON text, of attached policies and permissions boundaries, by ARN.
    pub policies: BTreeMap<String, Fact<String>>,
    /// Instance profiles that Karpenter made for this cluster (path `/karpenter/<region>/<cluster>/`).
    pub instance_profiles: Fact<Vec<iam::InstanceProfile>>,
    /// Instance profiles that hold a role, by role name.
    pub role_profiles: BTreeMap<String, Fact<Vec<iam::InstanceProfile>>>,
    pub spot_role: Fact<iam::Role>,
    pub imds_defaults: Fact<ec2::ImdsDefaults>,
    pub allowed_images: Fact<ec2::AllowedImages>,
    /// The key of encrypted volumes that name none: an ARN, or `alias/aws/ebs`.
    pub ebs_default_key: Fact<String>,
    /// KMS keys by the id, ARN or alias under which something names them.
    pub kms_keys: BTreeMap<String, Fact<kms::Key>>,
    pub limits: limits::Limits,
    /// Subnets that the discovery tag selects, in any VPC of the region, as Karpenter would.
    pub discovered_subnets: Fact<Vec<ec2::Subnet>>,
    /// Every subnet of the cluster's VPC.
    pub vpc_subnets: Fact<Vec<ec2::Subnet>>,
    /// Security groups that the discovery tag selects, in any VPC of the region.
    pub discovered_security_groups: Fact<Vec<ec2::SecurityGroup>>,
    /// Every security group of the cluster's VPC.
    pub vpc_security_groups: Fact<Vec<ec2::SecurityGroup>>,
    /// What the NodeClasses' selectors select, where it is not what the discovery tag selects.
    pub selected_subnets: Vec<Selected<Query, ec2::Subnet>>,
    pub selected_security_groups: Vec<Selected<Query, ec2::SecurityGroup>>,
    /// The images that NodeClasses name by id, by alias or by an SSM parameter, by id.
    pub images: BTreeMap<String, Fact<ec2::Image>>,
    /// The images that NodeClasses select by name, owner or tags: of each architecture the first
    /// few that Karpenter would take.
    pub selected_images: Vec<Selected<ImageQuery, ec2::Image>>,
    /// The encrypted snapshots of those images, and those that NodeClasses name, by id.
    pub snapshots: BTreeMap<String, Fact<ec2::Snapshot>>,
    /// Where instance types are offered: zones by type, of those that NodePools name.
    pub offerings: Fact<BTreeMap<String, BTreeSet<String>>>,
    /// The instance profiles that NodeClasses name, by name.
    pub named_profiles: BTreeMap<String, Fact<iam::InstanceProfile>>,
    /// The placement groups that NodeClasses name, by name or id.
    pub placement_groups: BTreeMap<String, Fact<ec2::PlacementGroup>>,
    /// The active capacity reservations that a term of a NodeClass selects.
    pub selected_reservations: Vec<Selected<SelectorTerm, ec2::CapacityReservation>>,
    pub network: network::Network,
    /// Queues by name: the one asked for, or the usual ones.
    pub queues: BTreeMap<String, Fact<sqs::Queue>>,
    /// Event rules that target a queue, by queue name.
    pub queue_rules: BTreeMap<String, Fact<Vec<Fact<events::Rule>>>>,
    /// Image parameters by name: public ones, and those that NodeClasses name.
    pub image_parameters: BTreeMap<String, Fact<ssm::ImageParameter>>,
    /// What the cluster itself says.
    pub kubernetes: kubernetes::Kubernetes,
}
