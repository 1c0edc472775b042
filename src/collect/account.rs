//! What holds for the whole account and region.

use std::collections::BTreeSet;

use tokio::join;

use super::{aws::Aws, network::keys};
use crate::facts::{
    Fact,
    ec2::{AllowedImages, ImdsDefaults},
    iam::Role,
    kms::Key,
    limits::Limits,
};

pub struct AccountFacts {
    pub spot_role: Fact<Role>,
    pub imds_defaults: Fact<ImdsDefaults>,
    pub allowed_images: Fact<AllowedImages>,
    pub ebs_default_key: Fact<String>,
    pub keys: Vec<(String, Fact<Key>)>,
    pub limits: Limits,
}

pub async fn read(aws: &Aws, cluster: &str) -> AccountFacts {
    let (
        (spot_role, imds_defaults, allowed_images),
        (ebs_default_key, keys),
        ((running, failed_launches), quotas, instance_profiles, launch_templates),
    ) = join!(
        async { join!(aws.role_of_spot(), aws.imds_defaults(), aws.allowed_images()) },
        default_key(aws),
        async {
            join!(
                aws.instances(),
                aws.ec2_quotas(),
                aws.instance_profile_count(),
                aws.launch_templates(cluster),
            )
        },
    );
    AccountFacts {
        spot_role,
        imds_defaults,
        allowed_images,
        ebs_default_key,
        keys,
        limits: Limits {
            vcpu_quotas: quotas.clone().map(|quotas| quotas.vcpus),
            running,
            failed_launches,
            instance_profiles,
            launch_templates,
            launch_template_quota: quotas.map(|quotas| quotas.launch_templates),
        },
    }
}

async fn default_key(aws: &Aws) -> (Fact<String>, Vec<(String, Fact<Key>)>) {
    let named = aws.ebs_default_key().await;
    let keys = keys(aws, named.value().cloned().into_iter().collect::<BTreeSet<_>>()).await;
    (named, keys)
}
