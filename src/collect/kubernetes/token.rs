//! The token by which an EKS API server knows an AWS caller: a presigned
//! `sts:GetCallerIdentity` that names the cluster, which the API server sends to STS.

use aws_sdk_sts::config::Credentials;
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use jiff::Timestamp;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::sha256::{hex, hmac, sha256};

/// What SigV4 leaves as it is (RFC 3986, unreserved).
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
const EMPTY_BODY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// The token of these credentials for a cluster. The API server takes it for a quarter of an
/// hour, whatever the URL says of its expiry.
pub fn token(credentials: &Credentials, cluster: &str, region: &str, now: Timestamp) -> String {
    let url = presigned(credentials, cluster, region, now);
    format!("k8s-aws-v1.{}", BASE64_URL_SAFE_NO_PAD.encode(url))
}

/// The URL, signed with SigV4 in its query.
fn presigned(credentials: &Credentials, cluster: &str, region: &str, now: Timestamp) -> String {
    let host = host(region);
    let time = now.strftime("%Y%m%dT%H%M%SZ").to_string();
    let date = &time[..8];
    let scope = format!("{date}/{region}/sts/aws4_request");
    let credential = format!("{}/{scope}", credentials.access_key_id());
    let mut query = vec![
        ("Action", "GetCallerIdentity"),
        ("Version", "2011-06-15"),
        ("X-Amz-Algorithm", "AWS4-HMAC-SHA256"),
        ("X-Amz-Credential", &credential),
        ("X-Amz-Date", &time),
        ("X-Amz-Expires", "60"),
        ("X-Amz-SignedHeaders", "host;x-k8s-aws-id"),
    ];
    if let Some(token) = credentials.session_token() {
        query.push(("X-Amz-Security-Token", token));
    }
    query.sort_unstable();
    let encoded =
        |(name, value): &(&str, &str)| format!("{name}={}", utf8_percent_encode(value, UNRESERVED));
    let query = query.iter().map(encoded).collect::<Vec<_>>().join("&");
    let canonical = format!(
        "GET\n/\n{query}\nhost:{host}\nx-k8s-aws-id:{cluster}\n\nhost;x-k8s-aws-id\n{EMPTY_BODY}"
    );
    let hashed = hex(&sha256(canonical.as_bytes()));
    let to_sign = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{hashed}");
    let secret = format!("AWS4{}", credentials.secret_access_key());
    let key = [date, region, "sts", "aws4_request"]
        .iter()
        .fold(secret.into_bytes(), |key, part| hmac(&key, part.as_bytes()).to_vec());
    let signature = hex(&hmac(&key, to_sign.as_bytes()));
    format!("https://{host}/?{query}&X-Amz-Signature={signature}")
}

/// The regional endpoint of STS: the only kind that API servers of every partition take.
fn host(region: &str) -> String {
    let domain = match region {
        _ if region.starts_with("cn-") => "amazonaws.com.cn",
        _ if region.starts_with("us-iso-") => "c2s.ic.gov",
        _ if region.starts_with("us-isob-") => "sc2s.sgov.gov",
        _ => "amazonaws.com",
    };
    format!("sts.{region}.{domain}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As botocore signs the same request with the same credentials at the same time.
    #[test]
    fn signed_as_the_aws_cli_signs_it() {
        let now = "2026-11-30T17:00:00Z".parse().unwrap();
        for (region, session, ends) in [
            ("us-west-2", None, "a8db3f3be23d1967228aa0ecee45b607a77f96d861bca7b1bdee75f5f1bf5438"),
            (
                "cn-north-1",
                Some("FQoGZXIvYXdzE/+//=="),
                "b924e15ac5623f83df6ba7cb9c6ff08d6f014a4dd04983b51de7fc5c468dfafd",
            ),
        ] {
            let credentials = Credentials::new(
                "AKIAIOSFODNN7EXAMPLE",
                "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
                session.map(str::to_owned),
                None,
                "test",
            );
            let url = presigned(&credentials, "demo", region, now);
            assert!(url.ends_with(&format!("&X-Amz-Signature={ends}")), "{url}");
            let token = token(&credentials, "demo", region, now);
            let encoded = token.strip_prefix("k8s-aws-v1.").unwrap();
            assert_eq!(BASE64_URL_SAFE_NO_PAD.decode(encoded).unwrap(), url.as_bytes());
        }
    }
}
