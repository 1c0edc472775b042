//! What EKS Auto Mode asks of the account in the name of the cluster role.

use std::sync::LazyLock;

use super::entry::{RequestFile, requests};
use super::feature::Feature;
use super::load::embedded;
use super::request::Request;
use super::setup::Setup;
use super::version::KarpenterVersion;

/// The features that bring tags of the user's own into the requests.
pub const CUSTOM_TAGS: [Feature; 3] =
    [Feature::NodeClassTags, Feature::StorageClassTags, Feature::LoadBalancerTags];

/// The requests of the cluster role: always the core ones, and with one of [`CUSTOM_TAGS`] in
/// use those that carry the user's tags (ids beginning `custom-tags-`). Where the set-up names
/// no tags, one is made up, since any key that is not EKS's own is refused alike.
pub fn auto_mode(setup: &Setup) -> Vec<Request> {
    let mut setup = setup.clone();
    if setup.tags.is_empty() {
        setup.tags.insert("team".to_owned(), "platform".to_owned());
    }
    FILES.iter().flat_map(|file| requests(file, KarpenterVersion::NEWEST, &setup)).collect()
}

/// The data files, for their sources and for tests.
pub(super) fn files() -> &'static [RequestFile] {
    FILES.as_slice()
}

static FILES: LazyLock<[RequestFile; 2]> = LazyLock::new(|| {
    [
        embedded(include_str!("../../policies/auto-mode/requests/core.toml")),
        embedded(include_str!("../../policies/auto-mode/requests/custom-tags.toml")),
    ]
});
