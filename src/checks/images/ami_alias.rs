//! The public parameters that an AMI alias is resolved through.

use crate::{
    checks::{Area, Check, Context, Judged, Stop, Verdicts, remedies::quote},
    outcome::{Finding, Remedy},
    target::Product,
};

/// CPU architectures, as the parameters' names spell them.
const ARCHITECTURES: [&str; 2] = ["x86_64", "arm64"];

pub static CHECK: Check = Check {
    id: "ami-alias",
    title: "The alias al2023@latest finds an image for the cluster's version",
    area: Area::Launch,
    products: &[Product::Karpenter],
    errors: &["ami-alias-not-resolved"],
    needs: &["eks:DescribeCluster", "ssm:GetParameters"],
    doc: "\
## What
For each CPU architecture, the region has the public SSM parameter that names the recommended
AL2023 image for the cluster's Kubernetes version.

## Why
Karpenter looks an alias such as `al2023@latest` up in these parameters. It skips those that are
not there. If none is left, the EC2NodeClass never becomes ready; if one architecture is
missing, its instance types cannot be launched.

## Seen as
`failed to discover any AMIs for alias` in the controller's log, and `AMIsReady` that stays
Unknown on the EC2NodeClass. The controller sees the same where it may not call
`ssm:GetParameter`.

## Fix
Use a Kubernetes version for which EKS publishes AL2023 images in this region, or select images
by id, name or tags.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let version = &cx.cluster()?.version;
    let parameters =
        ARCHITECTURES.map(|architecture| (architecture, parameter(version, architecture)));
    let known = |name: &String| cx.facts.image_parameters.get(name);
    let none_left = parameters
        .iter()
        .all(|(_, name)| known(name).is_some_and(|fact| matches!(fact.found(), Ok(None))));
    let judge = |(architecture, name): &(&str, String)| {
        let fact = known(name);
        Judged::new(name, || {
            let fact =
                fact.ok_or_else(|| Stop::unknown("these facts do not hold the parameter"))?;
            Ok(match fact.found()? {
                Some(image) => Finding::pass(format!("It names {}.", image.image_id)),
                None => missing(cx, version, architecture, name, none_left),
            })
        })
    };
    Ok(parameters.iter().map(judge).collect())
}

/// The parameter of the recommended AL2023 image (`pkg/providers/amifamily/al2023.go`).
fn parameter(version: &str, architecture: &str) -> String {
    format!(
        "/aws/service/eks/optimized-ami/{version}/amazon-linux-2023/{architecture}/standard/\
         recommended/image_id"
    )
}

fn missing(
    cx: &Context<'_>,
    version: &str,
    architecture: &str,
    name: &str,
    none_left: bool,
) -> Finding {
    let seen = format!(
        "{} has no recommended AL2023 image for Kubernetes {version} on {architecture}.",
        cx.region()
    );
    let finding = if none_left {
        Finding::fail(
            seen,
            "The alias al2023@latest cannot be resolved, and an EC2NodeClass that uses it never \
             becomes ready.",
        )
        .errors(&["ami-alias-not-resolved"])
    } else {
        Finding::warn(
            seen,
            format!(
                "With the alias al2023@latest Karpenter launches no {architecture} instances. \
                 Pods that need one stay Pending."
            ),
        )
    };
    let region = quote(cx.region());
    finding.evidence("ssm:GetParameters", name, "InvalidParameters").mend(
        Remedy::new(
            "See which images the region has, and select one by id, name or tags in the \
             EC2NodeClass, or move the cluster to a Kubernetes version that has them.",
        )
        .run(format!(
            "aws ssm get-parameters-by-path --region {region} --recursive --path \
             /aws/service/eks/optimized-ami/{} --query 'Parameters[].Name'",
            quote(version)
        )),
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

    const INTEL: &str = "/aws/service/eks/optimized-ami/1.35/amazon-linux-2023/x86_64/standard/recommended/image_id";
    const ARM: &str =
        "/aws/service/eks/optimized-ami/1.35/amazon-linux-2023/arm64/standard/recommended/image_id";

    fn parameters(intel: &Value, arm: &Value) -> Value {
        json!({"facts": {"image_parameters": {INTEL: intel, ARM: arm}}})
    }

    #[test]
    fn rows() {
        let there = json!({"known": {"image_id": "ami-1"}});
        let absent = json!("absent");
        let denied = json!({"denied": {"action": "ssm:GetParameters", "message": "no"}});
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("both", json!({}), &[(Status::Pass, INTEL), (Status::Pass, ARM)]),
                (
                    "one is missing",
                    parameters(&there, &absent),
                    &[(Status::Pass, INTEL), (Status::Warn, ARM)],
                ),
                (
                    "both are missing",
                    parameters(&absent, &absent),
                    &[(Status::Fail, INTEL), (Status::Fail, ARM)],
                ),
                (
                    "one is not readable",
                    parameters(&absent, &denied),
                    &[(Status::Warn, INTEL), (Status::Unknown, ARM)],
                ),
                (
                    "not collected",
                    json!({"facts": {"image_parameters": {INTEL: null}}}),
                    &[(Status::Unknown, INTEL), (Status::Pass, ARM)],
                ),
                (
                    "no cluster was read",
                    json!({"facts": {"cluster": {"failed": {"action": "eks:DescribeCluster", "message": "500"}}}}),
                    &[(Status::Unknown, "demo")],
                ),
            ],
        );
        let skipped = &[(Status::Skipped, "demo")];
        assert_rows(Account::AutoMode, &CHECK, &[("EKS chooses the image", json!({}), skipped)]);
    }
}
