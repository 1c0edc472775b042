//! What EKS Auto Mode asks of the account in the name of the cluster role.

use std::sync::LazyLock;

use super::entry::{RequestFile, requests};
use super::feature::Feature;
use super::load::{About, embedded};
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
    requests(&FILE, KarpenterVersion::NEWEST, &setup)
}

/// Where the data comes from.
pub fn about() -> &'static About {
    &FILE.about
}

static FILE: LazyLock<RequestFile> =
    LazyLock::new(|| embedded(include_str!("../../policies/auto-mode/requests.toml")));

#[cfg(test)]
pub(super) fn file() -> &'static RequestFile {
    &FILE
}
