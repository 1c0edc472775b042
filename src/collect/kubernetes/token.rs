//! The token by which an EKS API server knows an AWS caller: a presigned
//! `sts:GetCallerIdentity` that names the cluster, which the API server sends to STS.

use std::{
    error::Error,
    time::{Duration, SystemTime},
};

use aws_sdk_sts::config::Credentials;
use aws_sigv4::{
    http_request::{SignableBody, SignableRequest, SignatureLocation, SigningSettings, sign},
    sign::v4::SigningParams,
};
use aws_smithy_runtime_api::client::identity::Identity;
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use http::Request;

/// The header that binds a token to one cluster.
const CLUSTER: &str = "x-k8s-aws-id";
/// As the AWS CLI writes it. The API server takes the token for a quarter of an hour, whatever
/// the URL says.
const EXPIRES: Duration = Duration::from_secs(60);

/// The token of these credentials for a cluster.
///
/// # Errors
/// Where nothing can be signed, for example because the cluster's name is none of a header.
pub fn token(
    credentials: &Credentials,
    cluster: &str,
    region: &str,
    now: SystemTime,
) -> Result<String, Box<dyn Error + Send + Sync>> {
    let url = presigned(credentials, cluster, region, now)?;
    Ok(format!("k8s-aws-v1.{}", BASE64_URL_SAFE_NO_PAD.encode(url)))
}

/// The URL, signed with SigV4 in its query.
fn presigned(
    credentials: &Credentials,
    cluster: &str,
    region: &str,
    now: SystemTime,
) -> Result<String, Box<dyn Error + Send + Sync>> {
    let url = format!("https://{}/?Action=GetCallerIdentity&Version=2011-06-15", host(region));
    let mut settings = SigningSettings::default();
    settings.signature_location = SignatureLocation::QueryParams;
    settings.expires_in = Some(EXPIRES);
    let identity = Identity::from(credentials.clone());
    let params = SigningParams::builder()
        .identity(&identity)
        .region(region)
        .name("sts")
        .time(now)
        .settings(settings)
        .build()?
        .into();
    let mut request = Request::get(&url).body(())?;
    let headers = [(CLUSTER, cluster)].into_iter();
    let to_sign = SignableRequest::new("GET", &url, headers, SignableBody::empty())?;
    let (instructions, _) = sign(to_sign, &params)?.into_parts();
    instructions.apply_to_request_http1x(&mut request);
    Ok(request.uri().to_string())
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

    fn credentials(session: Option<&str>) -> Credentials {
        Credentials::new(
            "AKIAIOSFODNN7EXAMPLE",
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            session.map(str::to_owned),
            None,
            "test",
        )
    }

    /// As botocore signs the same request with the same credentials at the same time.
    #[test]
    fn signed_as_the_aws_cli_signs_it() {
        // 2026-11-30T17:00:00Z
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_796_058_000);
        for (region, session, signature) in [
            ("us-west-2", None, "a8db3f3be23d1967228aa0ecee45b607a77f96d861bca7b1bdee75f5f1bf5438"),
            (
                "cn-north-1",
                Some("FQoGZXIvYXdzE/+//=="),
                "b924e15ac5623f83df6ba7cb9c6ff08d6f014a4dd04983b51de7fc5c468dfafd",
            ),
        ] {
            let token = token(&credentials(session), "demo", region, now).unwrap();
            let encoded = token.strip_prefix("k8s-aws-v1.").unwrap();
            let url = String::from_utf8(BASE64_URL_SAFE_NO_PAD.decode(encoded).unwrap()).unwrap();
            let (host, query) = url.split_once("/?").unwrap();
            assert_eq!(host, format!("https://{}", super::host(region)));
            let mut query: Vec<_> = query.split('&').collect();
            query.sort_unstable();
            let scope = format!(
                "X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20261130%2F{region}%2Fsts%2Faws4_request"
            );
            let signature = format!("X-Amz-Signature={signature}");
            let mut expected = vec![
                "Action=GetCallerIdentity",
                "Version=2011-06-15",
                "X-Amz-Algorithm=AWS4-HMAC-SHA256",
                &scope,
                "X-Amz-Date=20261130T170000Z",
                "X-Amz-Expires=60",
                "X-Amz-SignedHeaders=host%3Bx-k8s-aws-id",
                &signature,
            ];
            expected
                .extend(session.map(|_| "X-Amz-Security-Token=FQoGZXIvYXdzE%2F%2B%2F%2F%3D%3D"));
            expected.sort_unstable();
            assert_eq!(query, expected);
        }
    }

    #[test]
    fn a_name_that_no_header_can_hold_is_not_signed() {
        assert!(token(&credentials(None), "de\nmo", "us-west-2", SystemTime::now()).is_err());
    }
}
