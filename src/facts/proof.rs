//! What AWS answered to dry runs of a launch, made with the controller's own credentials.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    Fact,
    kubernetes::node_class::{MetadataOptions, Volume},
};

pub const CREATE_LAUNCH_TEMPLATE: &str = "ec2:CreateLaunchTemplate";
pub const CREATE_FLEET: &str = "ec2:CreateFleet";
pub const RUN_INSTANCES: &str = "ec2:RunInstances";

/// A role of the controller's, and what AWS would let it launch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    /// The role's name.
    pub role: String,
    /// How its credentials were got; every other state says why there were none.
    pub session: Fact<Session>,
    pub launches: Vec<Launch>,
}

/// How the credentials of a role were got. They themselves are in no fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Session {
    /// The caller has them already: it runs as the controller's role.
    Own,
    /// With a token of the controller's service account.
    WebIdentity,
    /// The role lets the caller assume it.
    AssumeRole,
}

/// A role to prove, and how to get its credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The role's name.
    pub role: String,
    pub arn: String,
    pub way: Way,
    pub launches: Vec<Launch>,
}

/// How to get the credentials of the controller's role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Way {
    /// The caller runs as the role.
    Own,
    /// A token of the service account, for this audience.
    WebIdentity {
        namespace: String,
        service_account: String,
        audience: String,
    },
    AssumeRole,
}

/// One launch, as Karpenter would ask for it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    /// What selects: a NodeClass, or the discovery tag.
    pub subject: String,
    pub instance_type: String,
    pub image: String,
    pub subnets: Vec<String>,
    pub security_groups: Vec<String>,
    /// A name; nothing where none is known yet.
    pub instance_profile: Option<String>,
    pub metadata: MetadataOptions,
    /// Whether it keeps its tags out of the metadata.
    pub hides_tags: bool,
    pub volumes: Vec<Volume>,
    pub associate_public_ip: Option<bool>,
    pub tags: BTreeMap<String, String>,
    pub answers: Vec<Answer>,
}

/// The answer to one dry run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// Such as `ec2:RunInstances`.
    pub action: String,
    /// The subnet, where it is asked of each.
    pub subnet: Option<String>,
    pub said: Fact<DryRun>,
}

impl Launch {
    /// What is asked of AWS for it, and in which subnet.
    pub fn asked(&self) -> Vec<(&'static str, Option<&str>)> {
        let subnets = self.subnets.iter().map(|subnet| (RUN_INSTANCES, Some(subnet.as_str())));
        [(CREATE_LAUNCH_TEMPLATE, None), (CREATE_FLEET, None)].into_iter().chain(subnets).collect()
    }
}

/// What AWS says to a dry run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DryRun {
    /// `DryRunOperation`: it would have gone through.
    Allowed,
    Refused {
        /// AWS's error code, such as `UnauthorizedOperation`.
        code: String,
        message: String,
    },
}
