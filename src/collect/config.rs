//! Credentials, region and endpoints: the usual chain, and what flags change in it.

use std::{ffi::OsString, time::Duration};

use aws_config::{
    AppName, BehaviorVersion, Region, SdkConfig, profile::ProfileFileCredentialsProvider,
    provider_config::ProviderConfig, retry::RetryConfig, sts,
};
use aws_sdk_sts::config::{ProvideCredentials, SharedCredentialsProvider};
use aws_smithy_types::timeout::TimeoutConfig;

use super::CannotRun;

/// How to reach AWS.
#[derive(Debug, Clone, Default)]
pub struct Access {
    pub profile: Option<String>,
    pub region: Option<String>,
    /// ARN of a role to assume first.
    pub assume_role: Option<String>,
    /// The time that the whole run may take.
    pub timeout: Duration,
}

/// Attempts a call, the first one included.
const ATTEMPTS: u32 = 4;
const CONNECT: Duration = Duration::from_secs(5);
const ATTEMPT: Duration = Duration::from_secs(15);

/// Loads the configuration and proves that there are credentials.
pub async fn load(access: &Access) -> Result<SdkConfig, CannotRun> {
    // The SDK panics on an endpoint that is set and empty.
    let empty = |(name, value): &(OsString, OsString)| {
        name.to_string_lossy().starts_with("AWS_ENDPOINT_URL") && value.is_empty()
    };
    if let Some((name, _)) = std::env::vars_os().find(empty) {
        return Err(CannotRun::EmptyEndpoint { variable: name.to_string_lossy().into_owned() });
    }
    let timeouts = TimeoutConfig::builder()
        .connect_timeout(CONNECT.min(access.timeout))
        .operation_attempt_timeout(ATTEMPT.min(access.timeout))
        .operation_timeout(access.timeout)
        .build();
    let mut loader = aws_config::defaults(BehaviorVersion::latest())
        .retry_config(RetryConfig::standard().with_max_attempts(ATTEMPTS))
        .timeout_config(timeouts);
    if let Ok(name) = AppName::new("karpenter-preflight") {
        loader = loader.app_name(name);
    }
    if let Some(profile) = &access.profile {
        // The chain asks the environment first; a profile that was named must win over it.
        let credentials = ProfileFileCredentialsProvider::builder()
            .configure(&ProviderConfig::with_default_region().await)
            .profile_name(profile)
            .build();
        loader = loader.profile_name(profile).credentials_provider(credentials);
    }
    if let Some(region) = &access.region {
        loader = loader.region(Region::new(region.clone()));
    }
    let mut config = loader.load().await;
    if config.region().is_none() {
        return Err(CannotRun::NoRegion);
    }
    if let Some(role) = &access.assume_role {
        config = assume(config, role).await;
    }
    prove_credentials(&config, access).await?;
    Ok(config)
}

async fn assume(config: SdkConfig, role: &str) -> SdkConfig {
    let provider = sts::AssumeRoleProvider::builder(role)
        .session_name("karpenter-preflight")
        .configure(&config)
        .build()
        .await;
    let builder = config.into_builder();
    builder.credentials_provider(SharedCredentialsProvider::new(provider)).build()
}

async fn prove_credentials(config: &SdkConfig, access: &Access) -> Result<(), CannotRun> {
    let no_credentials = |message: String| CannotRun::NoCredentials { message };
    let provider = config
        .credentials_provider()
        .ok_or_else(|| no_credentials("no credentials are configured".to_owned()))?;
    match tokio::time::timeout(access.timeout, provider.provide_credentials()).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => {
            let why = in_a_line(&with_causes(&error));
            Err(no_credentials(match &access.profile {
                Some(profile) => format!("profile `{profile}`: {why}"),
                None => why,
            }))
        }
        Err(_) => Err(no_credentials("asking for them timed out".to_owned())),
    }
}

/// Without the list of everything that was tried, and what that list is called.
fn in_a_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let line = line.strip_prefix("the credential provider was not enabled: ").unwrap_or(line);
    line.trim_end_matches(". Attempted:").to_owned()
}

/// The error and its causes, each said once.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        if !text.ends_with(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        next = cause.source();
    }
    text
}
