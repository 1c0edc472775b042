//! What the Karpenter controller asks of the account, by version.

use std::{ops::Range, sync::LazyLock};

use super::entry::{RequestFile, requests};
use super::load::embedded;
use super::request::Request;
use super::setup::Setup;
use super::version::KarpenterVersion;
use super::versions::judged_as;

/// The requests that the controller of this version makes in this set-up.
pub fn controller(version: KarpenterVersion, setup: &Setup) -> Vec<Request> {
    let judged = judged_as(version);
    let all = FILES.iter().flat_map(|file| requests(file, judged, setup));
    all.map(|request| with_launch(request, judged, setup)).collect()
}

/// The trial launch of these names no volumes, so that the image and the account decide whether
/// they are encrypted (<https://github.com/aws/karpenter-provider-aws/issues/7927>). From 1.3.3
/// on it carries all that a launch does, in the request or in a launch template.
const TRIES_WITHOUT_VOLUMES: Range<KarpenterVersion> =
    KarpenterVersion::new(1, 3, 0)..KarpenterVersion::new(1, 3, 3);

/// A launch with what is known of its options: of the metadata on the instance, of encryption on
/// the volume, of anything else on all that it names.
fn with_launch(mut request: Request, version: KarpenterVersion, setup: &Setup) -> Request {
    if request.action != "ec2:RunInstances" {
        return request;
    }
    let names_volumes =
        !request.id.starts_with("validate-") || !TRIES_WITHOUT_VOLUMES.contains(&version);
    let told = setup.launch.iter().filter(|(key, _)| names_volumes || *key != "ec2:Encrypted");
    for (key, value) in told {
        let place = match key.as_str() {
            "ec2:Encrypted" => ":volume/*",
            key if key.starts_with("ec2:Metadata") => ":instance/*",
            _ => "",
        };
        if request.resource.ends_with(place) {
            request.unknown.retain(|unknown| unknown != key);
            request.context.insert(key.clone(), value.clone());
        }
    }
    request
}

static FILES: LazyLock<[RequestFile; 6]> = LazyLock::new(|| {
    [
        embedded(include_str!("../../policies/karpenter/requests/start.toml")),
        embedded(include_str!("../../policies/karpenter/requests/discovery.toml")),
        embedded(include_str!("../../policies/karpenter/requests/instance-profile.toml")),
        embedded(include_str!("../../policies/karpenter/requests/validation.toml")),
        embedded(include_str!("../../policies/karpenter/requests/launch.toml")),
        embedded(include_str!("../../policies/karpenter/requests/running.toml")),
    ]
});

/// The data files, for their sources and for tests.
pub(super) fn files() -> &'static [RequestFile] {
    FILES.as_slice()
}
