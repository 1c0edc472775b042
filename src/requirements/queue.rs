//! What EventBridge asks of the interruption queue.

use std::sync::LazyLock;

use super::entry::{RequestFile, requests};
use super::load::{About, embedded};
use super::request::Request;
use super::setup::Setup;
use super::version::KarpenterVersion;

/// The service principal that makes the requests of [`queue`].
pub const SENDER: &str = "events.amazonaws.com";

/// The requests that the policy of the queue must allow to [`SENDER`].
pub fn queue(setup: &Setup) -> Vec<Request> {
    requests(&FILE, KarpenterVersion::NEWEST, setup)
}

/// Where the data comes from.
pub fn about() -> &'static About {
    &FILE.about
}

static FILE: LazyLock<RequestFile> =
    LazyLock::new(|| embedded(include_str!("../../policies/queue/requests.toml")));

#[cfg(test)]
pub(super) fn file() -> &'static RequestFile {
    &FILE
}
