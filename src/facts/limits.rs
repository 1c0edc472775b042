//! What the account may have at once, and what it has.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Fact;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// vCPU quotas of EC2 by quota code, such as `L-1216C47A`. A quota that was never raised
    /// has its default here.
    pub vcpu_quotas: Fact<BTreeMap<String, Quota>>,
    /// Running instances, folded.
    pub running: Fact<Vec<Running>>,
    /// Instances that ended within the last hour because they could not start.
    pub failed_launches: Fact<Vec<FailedLaunch>>,
    pub instance_profiles: Fact<Count>,
    /// Of the region.
    pub launch_templates: Fact<LaunchTemplates>,
    /// How many launch templates the account may have in the region.
    pub launch_template_quota: Fact<u64>,
}

/// The code of the quota of launch templates in a region.
pub const LAUNCH_TEMPLATES: &str = "L-FB451C26";
/// Launch templates of a region, where nobody changed the quota
/// (<https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/launch-template-restrictions.html>).
pub const LAUNCH_TEMPLATES_BY_DEFAULT: u64 = 5000;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LaunchTemplates {
    pub used: u64,
    /// Those that Karpenter made for this cluster, by their tags.
    pub of_cluster: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Quota {
    /// vCPUs.
    pub value: u64,
    /// Whether the account has this by default, and nobody raised it.
    pub is_default: bool,
}

/// The running instances that count towards one quota.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Running {
    /// The code of the quota.
    pub quota: String,
    pub instances: u64,
    pub vcpus: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FailedLaunch {
    pub id: String,
    /// Such as `Client.InternalError`.
    pub code: String,
    pub message: String,
    pub vpc_id: Option<String>,
}

/// How many there are, and how many there may be.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Count {
    pub used: u64,
    pub quota: u64,
}

/// Instance types that share a pair of vCPU quotas.
///
/// <https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-instance-quotas.html>
#[derive(Debug, PartialEq, Eq)]
pub struct QuotaFamily {
    /// As Service Quotas names the types, such as `Standard (A, C, D, H, I, M, R, T, Z)`.
    pub types: &'static str,
    pub on_demand: &'static str,
    pub spot: &'static str,
    /// vCPUs that a new account has.
    pub default: u64,
    /// Beginnings of instance types, before the generation.
    prefixes: &'static [&'static str],
}

pub static STANDARD: QuotaFamily = QuotaFamily {
    types: "Standard (A, C, D, H, I, M, R, T, Z)",
    on_demand: "L-1216C47A",
    spot: "L-34B43A08",
    default: 5,
    prefixes: &["a", "c", "d", "h", "i", "im", "is", "m", "r", "t", "z"],
};
pub static G_AND_VT: QuotaFamily = QuotaFamily {
    types: "G and VT",
    on_demand: "L-DB2E81BA",
    spot: "L-3819A6DF",
    default: 0,
    prefixes: &["g", "gr", "vt"],
};
pub static P: QuotaFamily = QuotaFamily {
    types: "P",
    on_demand: "L-417A185B",
    spot: "L-7212CCBC",
    default: 0,
    prefixes: &["p"],
};

/// The families whose quotas are read.
pub static QUOTA_FAMILIES: [&QuotaFamily; 3] = [&STANDARD, &G_AND_VT, &P];

/// The code of the quota that an instance of this type counts towards, if it is read.
pub fn quota_code(instance_type: &str, spot: bool) -> Option<&'static str> {
    let family = quota_family(instance_type)?;
    // Spot has quotas of their own for the later generations of P.
    let later = ["p5", "p6"].iter().any(|start| instance_type.starts_with(start));
    match spot {
        true if *family == P && later => None,
        true => Some(family.spot),
        false => Some(family.on_demand),
    }
}

/// The family that an instance type counts towards, if its quotas are read.
pub fn quota_family(instance_type: &str) -> Option<&'static QuotaFamily> {
    let prefix: String = instance_type.chars().take_while(char::is_ascii_alphabetic).collect();
    QUOTA_FAMILIES.into_iter().find(|family| family.prefixes.contains(&prefix.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instance_types_by_family() {
        for (instance_type, family) in [
            ("m5.large", Some(&STANDARD)),
            ("im4gn.large", Some(&STANDARD)),
            ("t4g.small", Some(&STANDARD)),
            ("g6f.xlarge", Some(&G_AND_VT)),
            ("gr6.4xlarge", Some(&G_AND_VT)),
            ("p5.48xlarge", Some(&P)),
            ("inf2.xlarge", None),
            ("trn1.2xlarge", None),
            ("hpc7g.4xlarge", None),
            ("dl1.24xlarge", None),
            ("u-6tb1.metal", None),
            ("mac2.metal", None),
        ] {
            assert_eq!(quota_family(instance_type), family, "{instance_type}");
        }
    }
}
