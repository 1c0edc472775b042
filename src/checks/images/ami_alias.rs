//! The public parameters that the newest AL2023 image is found through.

use crate::{
    checks::{Area, Check, Context, Judged, Stop, Verdicts, node_classes, remedies::quote},
    facts::{Fact, ssm::ImageParameter},
    outcome::{Finding, Remedy},
    requirements::version::KarpenterVersion,
    target::{Product, names},
};

/// From here on there is the AMI family AL2023 (`pkg/providers/amifamily/al2023.go@v0.35.0`; the
/// file is not there at v0.34.13) …
const AL2023: KarpenterVersion = KarpenterVersion::new(0, 35, 0);
/// … and from here on, with the v1 API, aliases.
const ALIASES: KarpenterVersion = KarpenterVersion::new(1, 0, 0);

pub static CHECK: Check = Check {
    id: "ami-alias",
    title: "The newest AL2023 image is found for the cluster's version",
    area: Area::Launch,
    products: &[Product::Karpenter],
    errors: &["ami-alias-not-resolved", "ami-not-found"],
    needs: &["eks:DescribeCluster", "ssm:GetParameters"],
    doc: "\
## What
For each CPU architecture, the region has the public SSM parameter that names the recommended
AL2023 image for the cluster's Kubernetes version.

## Why
Karpenter looks the alias `al2023@latest` up in these parameters; 0.35 to 0.37, which know no
alias, do so for `amiFamily: AL2023` without `amiSelectorTerms`. It skips those that are not
there. If none is left, an EC2NodeClass that asks for it launches nothing; if one architecture is
missing, its instance types cannot be launched. A NodeClass with another family, another version
or images of your own is not touched, so this is a warning. Where the EC2NodeClasses are known,
`amis-discovered` judges what they ask for instead. Karpenter up to 0.34 has no AL2023.

## Seen as
`failed to discover any AMIs for alias` in the controller's log, and `AMIsReady` that stays
Unknown on the EC2NodeClass; before 1.0 `no amis exist given constraints`. The controller sees
the same where it may not call `ssm:GetParameter`.

## Fix
Use a Kubernetes version for which EKS publishes AL2023 images in this region, or select images
by id, name or tags.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    if node_classes::known(cx).iter().any(|class| class.product == Product::Karpenter) {
        return Err(Stop::skipped("the EC2NodeClasses are known (see amis-discovered)"));
    }
    if cx.karpenter() < AL2023 {
        return Err(Stop::skipped(format!(
            "Karpenter {} knows no AL2023 images, and the parameters of other families are not read",
            cx.karpenter()
        )));
    }
    let version = &cx.cluster()?.version;
    let fact = |name: &str| cx.facts.image_parameters.get(name);
    let parameters = names::IMAGE_ARCHITECTURES
        .map(|architecture| (architecture, names::image_parameter(version, architecture)));
    let none_left =
        parameters.iter().all(|(_, name)| fact(name).is_some_and(|fact| fact.found() == Ok(None)));
    let judge = |(architecture, name): &(&str, String)| {
        Judged::new(name, || match read(fact(name))? {
            Some(image) => Ok(Finding::pass(format!("It names {}.", image.image_id))),
            None => Ok(missing(cx, version, architecture, name, none_left)),
        })
    };
    Ok(parameters.iter().map(judge).collect())
}

fn read(fact: Option<&Fact<ImageParameter>>) -> Result<Option<&ImageParameter>, Stop> {
    let fact = fact.ok_or_else(|| Stop::unknown("these facts do not hold the parameter"))?;
    Ok(fact.found()?)
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
    let (request, error) = if cx.karpenter() < ALIASES {
        ("amiFamily: AL2023 without amiSelectorTerms", "ami-not-found")
    } else {
        ("the alias al2023@latest", "ami-alias-not-resolved")
    };
    let finding = if none_left {
        Finding::warn(
            seen,
            format!("An EC2NodeClass with {request} finds no image and launches nothing."),
        )
        .errors(&[error])
    } else {
        Finding::warn(
            seen,
            format!(
                "With {request} Karpenter launches no {architecture} instances. Pods that need \
                 one stay Pending."
            ),
        )
    };
    finding.evidence("ssm:GetParameters", name, "InvalidParameters").mend(remedy(cx, version))
}

fn remedy(cx: &Context<'_>, version: &str) -> Remedy {
    Remedy::new(
        "See which images the region has, and select one by id, name or tags in the EC2NodeClass. \
         Another Kubernetes version may have them, but an upgrade cannot be undone.",
    )
    .run(format!(
        "aws ssm get-parameters-by-path --region {} --recursive --path \
         /aws/service/eks/optimized-ami/{} --query 'Parameters[].Name'",
        quote(cx.region()),
        quote(version)
    ))
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
                    &[(Status::Warn, INTEL), (Status::Warn, ARM)],
                ),
                (
                    "before AL2023",
                    json!({"scope": {"karpenter_version": "0.34.0"}, "facts": {"image_parameters": {INTEL: absent}}}),
                    &[(Status::Skipped, "demo")],
                ),
                (
                    "the first with AL2023",
                    json!({"scope": {"karpenter_version": "0.35.0"}}),
                    &[(Status::Pass, INTEL), (Status::Pass, ARM)],
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
    #[test]
    fn the_error_is_that_of_the_version() {
        for (version, error, asked) in [
            ("0.37.0", "ami-not-found", "amiFamily: AL2023"),
            ("1.0.0", "ami-alias-not-resolved", "al2023@latest"),
        ] {
            let mut patch = parameters(&json!("absent"), &json!("absent"));
            patch["scope"] = json!({"karpenter_version": version});
            let found = Account::Karpenter.judge(&CHECK, &patch).remove(0);
            assert_eq!(found.errors[0].id, error);
            assert!(found.effect.contains(asked), "{}", found.effect);
        }
    }
}
