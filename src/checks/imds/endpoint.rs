//! The account's default that switches the metadata endpoint off.

use super::{API, Hidden, hidden, is, judged};
use crate::{
    checks::{Area, Check, Context, Verdicts},
    outcome::Finding,
    target::Product,
};

pub static CHECK: Check = Check {
    id: "imds-endpoint",
    title: "New instances have a metadata endpoint by default",
    area: Area::Controller,
    products: &[Product::Karpenter],
    errors: &["ec2-metadata-request-error", "ec2-metadata-no-region"],
    needs: &[API],
    doc: "\
## What
The account's defaults in this region do not switch the instance metadata endpoint off.

## Why
A controller that is given no region asks the instance metadata for it, and exits when nobody
answers. Karpenter's own nodes always have the endpoint, because their launch template says so.
The default counts for the nodes that run the controller, where their launch template says
nothing of the endpoint. A controller with `AWS_REGION` never asks, and on Fargate there is no
instance metadata to ask.

## Seen as
Up to Karpenter 1.0 `EC2MetadataRequestError` and `failed to get region from metadata server`;
from 1.1 on `operation error ec2imds: GetRegion`, with `unable to determine region from IMDS`
before it from 1.9 on.

## Fix
Set `AWS_REGION` in the controller's environment, or `aws ec2 modify-instance-metadata-defaults
--http-endpoint enabled` and replace the nodes. If a declarative policy sets the default, those
who manage the organisation must change it.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    judged(cx, |defaults| {
        if !is(defaults.http_endpoint.as_ref(), "disabled") {
            return Ok(Finding::pass("The account's defaults leave the metadata endpoint on."));
        }
        let what = Hidden {
            seen: format!(
                "By default, new instances in {} have no metadata endpoint.",
                cx.region()
            ),
            path: "AccountLevel.HttpEndpoint",
            value: "disabled".to_owned(),
            otherwise: "switch the endpoint on for nodes launched from now on",
            option: "--http-endpoint enabled",
        };
        Ok(hidden(cx, defaults, what))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status,
    };

    const REGION: &str = "us-west-2";

    #[test]
    fn rows() {
        let set =
            |value: &str| json!({"facts": {"imds_defaults": {"known": {"http_endpoint": value}}}});
        let denied = json!({"denied": {"action": API, "message": "not authorized"}});
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("no preference", json!({}), &[(Status::Pass, REGION)]),
                ("on", set("enabled"), &[(Status::Pass, REGION)]),
                ("off", set("disabled"), &[(Status::Warn, REGION)]),
                (
                    "not readable",
                    json!({"facts": {"imds_defaults": denied}}),
                    &[(Status::Unknown, REGION)],
                ),
            ],
        );
        assert_rows(
            Account::AutoMode,
            &CHECK,
            &[("no controller to start", set("disabled"), &[(Status::Skipped, "demo")])],
        );
    }

    #[test]
    fn the_error_is_that_of_the_version() {
        for (version, error) in
            [("1.0.14", "ec2-metadata-request-error"), ("1.1.0", "ec2-metadata-no-region")]
        {
            let patch = json!({
                "scope": {"karpenter_version": version},
                "facts": {"imds_defaults": {"known": {"http_endpoint": "disabled"}}},
            });
            let found = Account::Karpenter.judge(&CHECK, &patch).remove(0);
            assert_eq!(found.errors[0].id, error, "{version}");
        }
    }
}
