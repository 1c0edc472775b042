//! One documented error: what is printed, what it can mean, and how to mend it.

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An error that Karpenter, EKS Auto Mode or the parts around them print, and its causes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DocumentedError {
    /// Readable slug. Never reused for another error, so that links and waivers stay true.
    pub id: String,
    /// The name of the file that holds it, such as `permissions`; set on loading.
    #[serde(default)]
    pub area: String,
    /// What has gone wrong, in a few words.
    pub title: String,
    /// The canonical wording as printed; a check's finding quotes it, so that a search for
    /// the error finds the check.
    pub quote: String,
    /// Where it is met.
    pub printed: Vec<Place>,
    /// How far the wording alone points at a cause.
    #[serde(default)]
    pub rank: Rank,
    /// First Karpenter version that prints it; `None` if unknown or not Karpenter's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Last Karpenter version that prints it, inclusive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Every known wording. `*` stands for what varies: a name, a version, an id.
    /// Case, quotes, white space and escapes do not matter.
    pub patterns: Vec<String>,
    /// Ids of errors that this one can be the mere consequence of. When both are in one
    /// input, this one is folded under the other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub follows: Vec<String>,
    /// Ids of errors that the same text may show as well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<String>,
    /// Most likely first.
    pub causes: Vec<Cause>,
    /// Public addresses that this entry rests on.
    pub sources: Vec<String>,
}

/// One thing that an error can mean.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cause {
    /// What is the case.
    pub text: String,
    /// How to tell it from the other causes.
    pub signs: String,
    /// Ids of the checks that prove it.
    #[serde(default)]
    pub checks: Vec<String>,
    /// Ids of checks that would prove it and do not exist yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub planned_checks: Vec<String>,
    /// What to do.
    pub fix: String,
}

/// Where an error is printed.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
    ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// The log of the Karpenter controller.
    ControllerLog,
    /// A condition of a NodeClaim.
    Nodeclaim,
    /// A condition of a NodePool.
    Nodepool,
    /// A condition of an EC2NodeClass or of an Auto Mode NodeClass.
    Nodeclass,
    /// A condition of a Node.
    Node,
    /// The kubelet's log on the instance.
    KubeletLog,
    /// Another log on the instance: cloud-init, nodeadm, the VPC CNI's ipamd.
    NodeLog,
    /// A Kubernetes event.
    Event,
    /// A pod's status or its own log.
    Pod,
    /// The answer to kubectl.
    Kubectl,
    /// Helm, or what drives it.
    Helm,
    /// CloudFormation, eksctl, Terraform or another installer.
    Installer,
    /// An AWS API's answer.
    AwsApi,
    /// A CloudTrail record.
    Cloudtrail,
    /// The state reason of an EC2 instance.
    InstanceState,
}

impl Place {
    /// How a reader names it.
    pub fn words(self) -> &'static str {
        match self {
            Self::ControllerLog => "controller log",
            Self::Nodeclaim => "NodeClaim",
            Self::Nodepool => "NodePool",
            Self::Nodeclass => "NodeClass",
            Self::Node => "Node",
            Self::KubeletLog => "kubelet log",
            Self::NodeLog => "logs on the instance",
            Self::Event => "Kubernetes event",
            Self::Pod => "pod",
            Self::Kubectl => "kubectl",
            Self::Helm => "Helm",
            Self::Installer => "installer",
            Self::AwsApi => "AWS API",
            Self::Cloudtrail => "CloudTrail",
            Self::InstanceState => "EC2 instance state",
        }
    }
}

/// How far an error's wording alone points at a cause; the order in which several errors of
/// one input are shown.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Rank {
    /// It names what is wrong.
    #[default]
    Cause,
    /// It says what does not work; several unlike things can be behind it.
    Symptom,
    /// A code or a wrapper around a more telling text. It is not shown where a more telling
    /// error is in the same message.
    Generic,
    /// It looks like an error and needs nothing done.
    Benign,
}
