//! Reads the text of a failed connection: what kind of failure, and to what.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::Serialize;

use super::normalize::readable;

/// Squashed pieces by which such texts are found, and what they say.
pub const ANCHORS: &[(&str, Kind)] = &[
    ("nosuchhost", Kind::Dns),
    ("servermisbehaving", Kind::Dns),
    ("temporaryfailureinnameresolution", Kind::Dns),
    ("couldnotresolvehost", Kind::Dns),
    ("noroutetohost", Kind::NoRoute),
    ("networkisunreachable", Kind::NoRoute),
    ("connectionrefused", Kind::Refused),
    ("connectionresetbypeer", Kind::Reset),
    ("i/otimeout", Kind::Timeout),
    ("contextdeadlineexceeded", Kind::Timeout),
    ("client.timeoutexceeded", Kind::Timeout),
    ("tlshandshaketimeout", Kind::Timeout),
    ("connectiontimedout", Kind::Timeout),
    ("connecttimeoutonendpointurl", Kind::Timeout),
    ("x509:", Kind::Certificate),
];

/// Those of them that the C library words, and so any program prints; the others are Go's and
/// the AWS tools' own.
const ANY_PROGRAM: &[&str] = &[
    "temporaryfailureinnameresolution",
    "couldnotresolvehost",
    "noroutetohost",
    "networkisunreachable",
    "connectionrefused",
    "connectionresetbypeer",
    "connectiontimedout",
];

/// What is in the name of a host that matters here: an AWS API, the cluster's own, the
/// instance metadata and the like.
const OURS: &[&str] = &["amazonaws.com", ".api.aws", ".svc", "kubernetes", "169.254."];

/// How a connection failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The name could not be resolved.
    Dns,
    /// There is no way to the address.
    NoRoute,
    /// The other side said no.
    Refused,
    /// The other side broke it off.
    Reset,
    /// No answer came.
    Timeout,
    /// The other side's certificate was not accepted.
    Certificate,
}

/// A connection that failed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct NetworkFault {
    pub kind: Kind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The address that was tried, if the text has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<IpAddr>,
    /// Whether that address is a public one: then no interface endpoint with private DNS was
    /// in the way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public: Option<bool>,
}

/// Reads the fault in a message, of which `before` is the part up to the anchor and `after`
/// the rest. `None` if it says nothing about where the connection went to.
pub fn read(before: &[u8], after: &[u8]) -> Option<NetworkFault> {
    let before = readable(before);
    let after = readable(after);
    let squashed = super::normalize::squash(after.as_bytes());
    let &(anchor, kind) =
        ANCHORS.iter().find(|(anchor, _)| squashed.starts_with(anchor.as_bytes()))?;
    let near: String = tail(&before, 400).to_owned() + " " + head(&after, 200);
    let asked = after_last(&near, "resolve host: ");
    let looked_up =
        after_last(&before, "lookup ").or(asked).map(host_of).filter(|host| !host.is_empty());
    let dialled = after_last(&before, "dial tcp ").or_else(|| after_last(&before, "->"));
    let address = dialled.and_then(address_of);
    let url = after_last(&near, "://").map(host_of).filter(|host| !host.is_empty());
    let kind = if looked_up.is_some() && kind == Kind::Timeout { Kind::Dns } else { kind };
    let host = looked_up.or(url).filter(|host| host.contains('.')).map(str::to_ascii_lowercase);
    let host = host.filter(|host| host.parse::<IpAddr>().is_err() || address.is_none());
    // Go says whom it dialled; of another program only what it says of our hosts counts.
    let ours = |host: &String| OURS.iter().any(|part| host.contains(part));
    let host =
        host.filter(|host| address.is_some() || !ANY_PROGRAM.contains(&anchor) || ours(host));
    if host.is_none() && address.is_none() {
        return None;
    }
    Some(NetworkFault { kind, host, address, public: address.map(is_public) })
}

fn tail(text: &str, length: usize) -> &str {
    let start =
        (text.len().saturating_sub(length)..text.len()).find(|&at| text.is_char_boundary(at));
    &text[start.unwrap_or(text.len())..]
}

fn head(text: &str, length: usize) -> &str {
    let end = (0..=length.min(text.len())).rev().find(|&at| text.is_char_boundary(at));
    &text[..end.unwrap_or(0)]
}

/// What stands after the last `mark` in the last part of `text`.
fn after_last<'text>(text: &'text str, mark: &str) -> Option<&'text str> {
    let near = tail(text, 400);
    near.rfind(mark).map(|at| &near[at + mark.len()..])
}

/// The host name at the start of `text`.
fn host_of(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '.');
    text[..end.unwrap_or(text.len())].trim_end_matches('.')
}

/// The address at the start of `text`, with or without a port.
fn address_of(text: &str) -> Option<IpAddr> {
    let text = text.split(' ').next()?.trim_end_matches([':', ',']);
    if let Some(rest) = text.strip_prefix('[') {
        return rest.split(']').next()?.parse().ok();
    }
    text.split(':').next()?.parse().ok()
}

fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => {
            let [a, b, ..] = v4.octets();
            // 100.64.0.0/10 is used inside of VPCs.
            let shared = a == 100 && (64..128).contains(&b);
            !(v4.is_private() || v4.is_loopback() || v4.is_link_local() || shared)
        }
        IpAddr::V6(v6) => !(v6.is_loopback() || v6.is_unique_local() || v6.is_unicast_link_local()),
    }
}
