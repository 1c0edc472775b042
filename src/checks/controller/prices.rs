//! Whether the controller asks for prices where there is somebody to ask.

use super::{running, running::Running, settings::set_env};
use crate::{
    checks::{Area, Check, Context, Stop, Verdicts},
    outcome::{Finding, Remedy},
    requirements::version::KarpenterVersion,
    target::{Product, cluster_says::setting},
};

const SETTING: &str = "ISOLATED_VPC";
/// From here on Karpenter does not ask in GovCloud
/// (<https://github.com/aws/karpenter-provider-aws/pull/8288>, `pkg/providers/pricing/pricing.go`
/// at v1.7.0 and not at v1.6.1).
const KNOWS_GOV_CLOUD: KarpenterVersion = KarpenterVersion::new(1, 7, 0);

pub static CHECK: Check = Check {
    id: "controller-prices",
    title: "The controller asks for prices only where it gets them",
    area: Area::Controller,
    products: &[Product::Karpenter],
    errors: &["pricing-token-invalid", "pricing-not-updated"],
    needs: &[],
    doc: "\
## What
In a partition without a Price List, the controller is told not to ask (`settings.isolatedVPC=true`,
the variable `ISOLATED_VPC`), unless its release knows by itself: from 1.7 on in GovCloud.

## Why
The Price List exists in the partitions `aws` and `aws-cn` only. Elsewhere Karpenter asks that of
`us-east-1`, which does not know the partition's credentials: an error every 12 hours. Nothing else
stops; it goes on with the prices of its release.

## Seen as
`retreiving on-demand pricing data, UnrecognizedClientException: The security token included in the
request is invalid` in the controller's log.

## Fix
Set `settings.isolatedVPC=true`, or leave it.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let partition = cx.target.partition;
    if ["aws", "aws-cn"].contains(&partition) {
        return Err(Stop::skipped(format!("the partition {partition} has a Price List")));
    }
    running::each(cx, |one| Ok(judge(cx, one)))
}

fn judge(cx: &Context<'_>, one: &Running<'_>) -> Finding {
    let partition = cx.target.partition;
    let version = cx.karpenter();
    if partition == "aws-us-gov" && version >= KNOWS_GOV_CLOUD {
        return Finding::pass(format!("Karpenter {version} does not ask for prices in GovCloud."));
    }
    let is_on = |value: String| value.eq_ignore_ascii_case("true");
    if setting(one.deployment, SETTING).is_some_and(is_on) {
        return Finding::pass("It is told not to ask for prices.");
    }
    Finding::warn(
        format!("{} asks for prices, and the partition {partition} has no Price List.", one.name()),
        "An error is logged every 12 hours, and Karpenter goes on with the prices of its release, \
         which grow old. Nothing else stops.",
    )
    .errors(CHECK.errors)
    .evidence("get deployment", format!("{} env {SETTING}", one.name()), "not true")
    .mend(
        Remedy::new(
            "Set the chart's value `settings.isolatedVPC=true`, and at once with kubectl. EC2's \
             Spot prices are asked for all the same.",
        )
        .run(set_env(one, &format!("{SETTING}=true"))),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status,
    };

    fn with(region: &str, version: &str, env: &Value) -> Value {
        json!({
            "scope": {"region": region, "karpenter_version": version},
            "facts": {"kubernetes": {"controllers": {"known": [
                {"meta": {"name": "karpenter", "namespace": "kube-system"},
                 "service_account": "karpenter", "env": env}]}}},
        })
    }

    #[test]
    fn rows() {
        let subject = "kube-system/karpenter";
        let none = json!({});
        let told = json!({"ISOLATED_VPC": "true"});
        let skipped = &[(Status::Skipped, "demo")];
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[
                ("the commercial regions", json!({}), skipped),
                ("China", with("cn-north-1", "0.32.1", &none), skipped),
                ("GovCloud", with("us-gov-west-1", "1.6.1", &none), &[(Status::Warn, subject)]),
                (
                    "GovCloud, told",
                    with("us-gov-west-1", "1.6.1", &told),
                    &[(Status::Pass, subject)],
                ),
                ("it knows", with("us-gov-west-1", "1.7.0", &none), &[(Status::Pass, subject)]),
                (
                    "Europe's own",
                    with("eusc-de-east-1", "1.14.1", &none),
                    &[(Status::Warn, subject)],
                ),
            ],
        );
    }
}
