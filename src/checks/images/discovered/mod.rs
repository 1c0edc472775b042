//! Whether each EC2NodeClass finds an image that it can launch.

mod alias;
mod terms;
#[cfg(test)]
mod tests;

use crate::{
    checks::{
        Area, Check, Context, Stop, Verdicts,
        node_classes::{self, Class},
        node_pools,
        remedies::listed,
    },
    outcome::{Finding, Remedy},
    requirements::version::KarpenterVersion,
    target::Product,
};

const API: &str = "ec2:DescribeImages";

/// From here on Karpenter asks for deprecated images too, and takes them last
/// (`IncludeDeprecated` in `pkg/providers/amifamily` at v1.0.7).
const DEPRECATED: KarpenterVersion = KarpenterVersion::new(1, 0, 7);

pub static CHECK: Check = Check {
    id: "amis-discovered",
    title: "Every EC2NodeClass finds an image",
    area: Area::Launch,
    products: &[Product::Karpenter],
    errors: &[
        "ami-not-found",
        "ami-invalid",
        "ami-alias-unsupported",
        "ami-alias-not-resolved",
        "ami-parameter-not-found",
        "no-instance-type-met",
    ],
    needs: &["eks:DescribeCluster", "ssm:GetParameters", API],
    doc: "\
## What
The `amiSelectorTerms` of each EC2NodeClass are resolved as Karpenter does it. An alias is looked up
in the public SSM parameters for the cluster's Kubernetes version, in the version that it pins; ids,
names, owners, tags and SSM parameters of your own are looked up among the images of the region. At
least one image must be there that is available, and of a CPU architecture that a NodePool of this
EC2NodeClass asks for.

## Why
Without an image the EC2NodeClass is never ready. Karpenter takes the images that are `available`;
by name without an owner it looks among your own and Amazon's only; before 1.0.7 it does not see
images that another account has deprecated. EKS publishes no AL2 images from 1.33 on, and no Windows
Server 2025 images before 1.35.

## Seen as
`AMISelector did not match any AMIs`, `AL2 aliases are no longer supported on EKS 1.33+`, or, with
the condition Unknown, `failed to discover any AMIs for alias` in the controller's log. With an image
for other architectures only: `no instance type met the scheduling requirements or had a required
offering`.

## Fix
Pin a release that exists, move to a family that is published for your Kubernetes version, or
correct the selector.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    node_classes::each(cx, &[Product::Karpenter], |class| judge(cx, &class))
}

fn judge(cx: &Context<'_>, class: &Class<'_>) -> Result<Finding, Stop> {
    match find(cx, class)? {
        Found::Images(images) => Ok(fits_node_pools(cx, class, &images)),
        Found::None(finding) => Ok(finding),
    }
}

fn find(cx: &Context<'_>, class: &Class<'_>) -> Result<Found, Stop> {
    match crate::target::alias::Alias::of(class.spec) {
        Some(alias) => alias::find(cx, class, alias),
        None => terms::find(cx, class),
    }
}

/// Id and architecture of an image that an EC2NodeClass may launch, for one of its NodePools
/// if they say.
pub fn first(cx: &Context<'_>, class: &Class<'_>) -> Result<(String, String), Stop> {
    let Found::Images(images) = find(cx, class)? else {
        return Err(Stop::skipped("it finds no image to launch; see amis-discovered"));
    };
    let is_asked = |image: &&Launchable| {
        let architecture = kubernetes_name(&image.architecture).unwrap_or_default();
        node_pools::of(cx, class)
            .any(|pool| node_pools::Values::of(pool, "kubernetes.io/arch").allows(architecture))
    };
    let image = images.iter().find(is_asked).or(images.first());
    let image = image.ok_or_else(|| Stop::unknown("its images could not be read"))?;
    Ok((image.id.clone(), image.architecture.clone()))
}

/// What an EC2NodeClass finds.
enum Found {
    /// What it finds, in words and by architecture.
    Images(Vec<Launchable>),
    /// Nothing, and why.
    None(Finding),
}

/// An image that Karpenter may launch.
struct Launchable {
    id: String,
    words: String,
    /// `x86_64` or `arm64`.
    architecture: String,
}

/// That it launches nothing, for want of an image.
fn nothing(class: &Class<'_>, seen: String) -> Finding {
    Finding::fail(
        seen,
        format!("{class} never becomes ready, and Karpenter launches nothing for it."),
    )
}

/// Whether some NodePool of the EC2NodeClass asks only for architectures without an image.
fn fits_node_pools(cx: &Context<'_>, class: &Class<'_>, images: &[Launchable]) -> Finding {
    let words: Vec<_> = images.iter().map(|image| &image.words).collect();
    let offered: Vec<&str> =
        images.iter().filter_map(|image| kubernetes_name(&image.architecture)).collect();
    let left_out: Vec<&str> = node_pools::of(cx, class)
        .filter(|pool| {
            let asked = node_pools::Values::of(pool, "kubernetes.io/arch");
            !offered.iter().any(|architecture| asked.allows(architecture))
        })
        .map(|pool| pool.meta.name.as_str())
        .collect();
    if left_out.is_empty() {
        return Finding::pass(format!("It finds {}.", listed(&words)));
    }
    Finding::fail(
        format!(
            "{class} finds {}, and none for the architecture that NodePool {} asks for.",
            listed(&words),
            listed(&left_out)
        ),
        "Karpenter launches nothing for this NodePool: pods that need it stay Pending.",
    )
    .errors(&["no-instance-type-met"])
    .evidence(class.api(), "spec.amiSelectorTerms", listed(&words))
    .mend(
        Remedy::new(format!(
            "Select an image of that architecture in {class}, or change kubernetes.io/arch in the \
             requirements of the NodePool."
        ))
        .run(class.edit()),
    )
}

/// As Kubernetes names an architecture; Karpenter knows no others.
fn kubernetes_name(architecture: &str) -> Option<&'static str> {
    match architecture {
        "x86_64" => Some("amd64"),
        "arm64" => Some("arm64"),
        _ => None,
    }
}
