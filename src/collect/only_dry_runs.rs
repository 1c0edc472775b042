//! Sends nothing but dry runs, whatever the code that asks got wrong.

use aws_smithy_runtime_api::{
    box_error::BoxError,
    client::{
        interceptors::{
            Intercept, context::BeforeTransmitInterceptorContextRef, dyn_dispatch_hint,
        },
        runtime_components::RuntimeComponents,
    },
};
use aws_smithy_types::config_bag::ConfigBag;

/// Stops a request to EC2 whose body does not ask for a dry run.
#[derive(Debug, Clone, Copy)]
pub struct OnlyDryRuns;

#[derive(Debug, thiserror::Error)]
#[error("it is no dry run, and was not sent")]
struct NoDryRun;

#[dyn_dispatch_hint]
impl Intercept for OnlyDryRuns {
    fn name(&self) -> &'static str {
        "OnlyDryRuns"
    }

    fn read_before_transmit(
        &self,
        context: &BeforeTransmitInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        match context.request().body().bytes() {
            Some(body) if is_dry_run(body) => Ok(()),
            _ => Err(NoDryRun.into()),
        }
    }
}

/// Whether the form says so, in a parameter of its own.
fn is_dry_run(form: &[u8]) -> bool {
    form.split(|byte| *byte == b'&').any(|parameter| parameter == b"DryRun=true")
}

#[cfg(test)]
mod tests {
    use aws_sdk_ec2::{
        Client,
        config::{BehaviorVersion, Credentials, Region},
    };

    use super::*;

    #[test]
    fn the_flag_is_a_parameter_of_its_own() {
        for (form, expected) in [
            ("Action=RunInstances&DryRun=true&MinCount=1", true),
            ("DryRun=true", true),
            ("Action=RunInstances&MinCount=1", false),
            ("Action=RunInstances&DryRun=false", false),
            ("Action=RunInstances&UserData=DryRun=true1", false),
            ("Action=RunInstances&NoDryRun=true", false),
            ("", false),
        ] {
            assert_eq!(is_dry_run(form.as_bytes()), expected, "{form}");
        }
    }

    /// Nobody listens there: a request that were sent would end in another error.
    #[tokio::test]
    async fn what_is_no_dry_run_is_not_sent() {
        let config = aws_sdk_ec2::Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::new("us-west-2"))
            .endpoint_url("http://127.0.0.1:9")
            .credentials_provider(Credentials::new("a", "b", None, None, "test"))
            .interceptor(OnlyDryRuns)
            .build();
        let client = Client::from_conf(config);
        let real = client.run_instances().min_count(1).max_count(1).send().await.unwrap_err();
        assert!(format!("{real:?}").contains("NoDryRun"), "{real:?}");
        let dry = client.run_instances().dry_run(true).send().await.unwrap_err();
        assert!(!format!("{dry:?}").contains("NoDryRun"), "{dry:?}");
    }
}
