//! The account's default that keeps metadata answers from pods.

use super::{API, Hidden, hidden, judged};
use crate::{
    checks::{Area, Check, Context, Verdicts},
    outcome::Finding,
    target::Product,
};

/// Hops from the instance's metadata to a pod with a network of its own
/// (<https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configuring-instance-metadata-options.html>).
const TO_A_POD: i32 = 2;

pub static CHECK: Check = Check {
    id: "imds-hop-limit",
    title: "Metadata answers reach pods by default",
    area: Area::Controller,
    products: &[Product::Karpenter],
    errors: &["ec2-metadata-request-error", "ec2-metadata-no-region"],
    needs: &[API],
    doc: "\
## What
The account's default hop limit for metadata answers in this region is not 1.

## Why
A pod outside the host network is two hops away from the instance metadata. A controller that is
given no region asks there, and exits when no answer comes. Karpenter's own nodes are not
touched: their launch template sets the limit. The default counts for the nodes that run the
controller, where their launch template sets none, and it outranks the 2 of the AL2023 image.
AL2023 managed node groups start with 1 even without it. A controller with `AWS_REGION` never
asks, and on Fargate there is no instance metadata to ask.

## Seen as
Up to Karpenter 1.0 `EC2MetadataRequestError` and `failed to get region from metadata server`;
from 1.1 on `operation error ec2imds: GetRegion`, with `unable to determine region from IMDS`
before it from 1.9 on.

## Fix
Set `AWS_REGION` in the controller's environment, or `aws ec2 modify-instance-metadata-defaults
--http-put-response-hop-limit 2` and replace the nodes. If a declarative policy sets the
default, those who manage the organisation must change it.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    judged(cx, |defaults| {
        // -1 is how the API takes, and some answers give, "no preference".
        let set = defaults.http_put_response_hop_limit.filter(|limit| *limit > 0);
        let Some(limit) = set.filter(|limit| *limit < TO_A_POD) else {
            return Ok(Finding::pass(match set {
                Some(limit) => format!("The account's default hop limit is {limit}."),
                None => "The account sets no default hop limit.".to_owned(),
            }));
        };
        let what = Hidden {
            seen: format!(
                "By default, metadata answers in {} may take {limit} hop, and a pod is \
                 {TO_A_POD} away.",
                cx.region()
            ),
            path: "AccountLevel.HttpPutResponseHopLimit",
            value: limit.to_string(),
            otherwise: "allow two hops for nodes launched from now on",
            option: "--http-put-response-hop-limit 2",
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
        let set = |limit: i32| json!({"facts": {"imds_defaults": {"known": {"http_put_response_hop_limit": limit}}}});
        let failed = json!({"failed": {"action": API, "message": "timed out"}});
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("no preference", json!({}), &[(Status::Pass, REGION)]),
                ("no preference, in the API's number", set(-1), &[(Status::Pass, REGION)]),
                ("two", set(2), &[(Status::Pass, REGION)]),
                ("one", set(1), &[(Status::Warn, REGION)]),
                (
                    "not answered",
                    json!({"facts": {"imds_defaults": failed}}),
                    &[(Status::Unknown, REGION)],
                ),
            ],
        );
        assert_rows(
            Account::AutoMode,
            &CHECK,
            &[("no controller to start", set(1), &[(Status::Skipped, "demo")])],
        );
    }
}
