//! Failed connections are told apart by kind and target.

use super::explained;
use crate::errors::NetworkKind as Kind;

/// A text; then what is read from it: kind, host, address, and whether that is public.
type Row = (&'static str, Kind, Option<&'static str>, Option<&'static str>, Option<bool>);

#[test]
fn kinds_and_targets_are_told_apart() {
    let sts = "sts.us-east-1.amazonaws.com";
    let rows: [Row; 11] = [
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
        let found = explained(text).network;
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
    assert!(explained("context deadline exceeded").network.is_empty());
}
