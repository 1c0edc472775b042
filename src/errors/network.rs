//! Reads the text of a failed connection: what kind of failure, and to what.

use std::net::IpAddr;

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

/// How a connection failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
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
    let kind = ANCHORS
        .iter()
        .find(|(anchor, _)| squashed.starts_with(anchor.as_bytes()))
        .map(|&(_, kind)| kind)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::errors::explain::explain;

    #[test]
    fn kinds_and_targets_are_told_apart() {
        let sts = "sts.us-east-1.amazonaws.com";
        let rows: [(&str, Kind, Option<&str>, Option<&str>, Option<bool>); 11] = [
            (
                r#"Post "https://sts.us-east-1.amazonaws.com/": dial tcp: lookup sts.us-east-1.amazonaws.com: i/o timeout"#,
                Kind::Dns,
                Some(sts),
                None,
                None,
            ),
            (
                r#"Post \"https://sts.us-east-1.amazonaws.com/\": dial tcp: lookup sts.us-east-1.amazonaws.com on 172.20.0.10:53: no such host"#,
                Kind::Dns,
                Some(sts),
                None,
                None,
            ),
            (
                r#"Post "https://sts.us-east-1.amazonaws.com/": dial tcp 52.95.84.35:443: i/o timeout"#,
                Kind::Timeout,
                Some(sts),
                Some("52.95.84.35"),
                Some(true),
            ),
            (
                r#"Post "https://sts.us-east-1.amazonaws.com/": dial tcp 10.0.84.35:443: i/o timeout"#,
                Kind::Timeout,
                Some(sts),
                Some("10.0.84.35"),
                Some(false),
            ),
            (
                r#"Get "http://169.254.169.254/latest/dynamic/instance-identity/document": context deadline exceeded (Client.Timeout exceeded while awaiting headers)"#,
                Kind::Timeout,
                Some("169.254.169.254"),
                None,
                None,
            ),
            (
                "dial tcp 10.1.2.3:443: connect: no route to host",
                Kind::NoRoute,
                None,
                Some("10.1.2.3"),
                Some(false),
            ),
            (
                "dial tcp 10.1.2.3:443: connect: connection refused",
                Kind::Refused,
                None,
                Some("10.1.2.3"),
                Some(false),
            ),
            (
                "read tcp 10.0.1.1:5000->10.0.1.2:8081: read: connection reset by peer",
                Kind::Reset,
                None,
                Some("10.0.1.2"),
                Some(false),
            ),
            (
                "dial tcp [2600:1f14::1]:443: connect: network is unreachable",
                Kind::NoRoute,
                None,
                Some("2600:1f14::1"),
                Some(true),
            ),
            (
                "Could not resolve host: api.ecr.us-east-1.amazonaws.com",
                Kind::Dns,
                Some("api.ecr.us-east-1.amazonaws.com"),
                None,
                None,
            ),
            (
                r#"Get "https://api.example.com/": tls: failed to verify certificate: x509: certificate signed by unknown authority"#,
                Kind::Certificate,
                Some("api.example.com"),
                None,
                None,
            ),
        ];
        for (text, kind, host, address, public) in rows {
            let found = explain(text.as_bytes()).unwrap().network;
            let [fault] = &found[..] else { panic!("{text}: {found:#?}") };
            let fault = &fault.what;
            let printed = fault.address.map(|address| address.to_string());
            assert_eq!(
                (fault.kind, fault.host.as_deref(), printed.as_deref(), fault.public),
                (kind, host, address, public),
                "{text}"
            );
        }
    }

    #[test]
    fn a_timeout_of_nothing_in_particular_is_no_connection() {
        assert!(explain(&b"context deadline exceeded"[..]).unwrap().network.is_empty());
    }
}
