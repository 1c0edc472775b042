//! An alias, looked up in the public parameters.

use super::{Found, Launchable, kubernetes_name, nothing};
use crate::{
    checks::{Context, Stop, node_classes::Class, remedies::quote},
    facts::Unseen,
    outcome::{Finding, Remedy},
    requirements::{kubernetes::KubernetesVersion, version::KarpenterVersion},
    target::alias::{Alias, Family, Parameter},
};

/// EKS publishes no AL2 images from here on
/// (<https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions-standard.html>) …
const NO_AL2: KubernetesVersion = KubernetesVersion { major: 1, minor: 33 };
/// … and Karpenter says so from here on (`pkg/providers/amifamily/ami.go` at v1.6.0).
const SAYS_SO: KarpenterVersion = KarpenterVersion::new(1, 6, 0);
/// Windows Server 2025 images are published from here on (the same file at v1.9.0).
const WINDOWS_2025: KubernetesVersion = KubernetesVersion { major: 1, minor: 35 };
/// Aliases came with the v1 API.
const ALIASES: KarpenterVersion = KarpenterVersion::new(1, 0, 0);

const API: &str = "ssm:GetParameters";

pub fn find(cx: &Context<'_>, class: &Class<'_>, alias: Alias<'_>) -> Result<Found, Stop> {
    let kubernetes = &cx.cluster()?.version;
    if let Some(finding) = unsupported(cx, class, alias, kubernetes) {
        return Ok(Found::None(finding));
    }
    let mut images = Vec::new();
    let mut unseen: Option<Unseen> = None;
    for parameter in alias.parameters(kubernetes) {
        match image(cx, &parameter) {
            Ok(found) => images.extend(found),
            Err(why) => unseen = unseen.or(Some(why)),
        }
    }
    match unseen {
        Some(why) if images.is_empty() => Err(why.into()),
        None if images.is_empty() => Ok(Found::None(missing(cx, class, alias, kubernetes))),
        _ => Ok(Found::Images(images)),
    }
}

/// The image in a parameter, where there is one that can be launched.
fn image(cx: &Context<'_>, parameter: &Parameter) -> Result<Option<Launchable>, Unseen> {
    let not_held =
        || Unseen::NotAsked { why: format!("these facts do not hold {}", parameter.name) };
    let fact = cx.facts.image_parameters.get(&parameter.name).ok_or_else(not_held)?;
    let Some(value) = fact.found()?.filter(|_| parameter.standard) else { return Ok(None) };
    // Where the image itself was not read, the parameter is what there is to go by.
    let shown = cx.facts.images.get(&value.image_id).and_then(|image| image.value());
    let state = shown.map_or("available", |image| image.state.as_str());
    let architecture = kubernetes_name(parameter.architecture).unwrap_or(parameter.architecture);
    Ok((state == "available").then(|| Launchable {
        id: value.image_id.clone(),
        words: format!("{} for {architecture}", value.image_id),
        architecture: parameter.architecture.to_owned(),
    }))
}

/// A family that is not published for the cluster's Kubernetes version.
fn unsupported(
    cx: &Context<'_>,
    class: &Class<'_>,
    alias: Alias<'_>,
    kubernetes: &str,
) -> Option<Finding> {
    let version: KubernetesVersion = kubernetes.parse().ok()?;
    let (seen, other) = match alias.family {
        Family::Al2 if version >= NO_AL2 => (
            format!(
                "{class} asks for {}, and EKS publishes no AL2 images from Kubernetes {NO_AL2} on; \
                 the cluster has {kubernetes}.",
                words(cx, class)
            ),
            "Move to al2023@latest or bottlerocket@latest. User data and bootstrap arguments of AL2 \
             do not fit either, so look at spec.userData too.",
        ),
        Family::Windows("2025") if version < WINDOWS_2025 => (
            format!(
                "{class} asks for {}, which is published from Kubernetes {WINDOWS_2025} on; the \
                 cluster has {kubernetes}.",
                words(cx, class)
            ),
            "Use windows2022@latest, or upgrade the cluster.",
        ),
        _ => return None,
    };
    let error = match cx.karpenter() {
        version if version < ALIASES => "ami-not-found",
        version if version < SAYS_SO => "ami-alias-not-resolved",
        _ => "ami-alias-unsupported",
    };
    let finding = nothing(class, seen).errors(&[error]);
    Some(
        finding
            .evidence("eks:DescribeCluster", "cluster.version", kubernetes)
            .mend(Remedy::new(other).run(class.edit())),
    )
}

/// What the EC2NodeClass says.
fn words(cx: &Context<'_>, class: &Class<'_>) -> String {
    let alias = class.spec.ami_terms.iter().find_map(|term| term.alias.as_deref());
    match (alias, class.spec.ami_family.as_deref()) {
        (Some(alias), _) => format!("the alias {alias}"),
        (None, Some(family)) => format!("amiFamily: {family}"),
        (None, None) => format!("an image of Karpenter {}", cx.karpenter()),
    }
}

fn missing(cx: &Context<'_>, class: &Class<'_>, alias: Alias<'_>, kubernetes: &str) -> Finding {
    let first = alias.parameters(kubernetes).into_iter().next().map(|parameter| parameter.name);
    let first = first.unwrap_or_default();
    let seen = format!(
        "{class} asks for {}, and {} has no such image for Kubernetes {kubernetes}: none of its \
         public parameters is there.",
        words(cx, class),
        cx.region()
    );
    let errors: &[&'static str] = match cx.karpenter() {
        version if version < ALIASES => &["ami-not-found", "ami-parameter-not-found"],
        _ => &["ami-alias-not-resolved", "ami-parameter-not-found"],
    };
    let path = format!("/{}", first.split('/').skip(1).take(5).collect::<Vec<_>>().join("/"));
    nothing(class, seen).errors(errors).evidence(API, first, "InvalidParameters").mend(
        Remedy::new(
            "Pin a release that exists for this Kubernetes version, or use @latest. The command \
             lists what there is.",
        )
        .run(format!(
            "aws ssm get-parameters-by-path --region {} --recursive --path {} --query \
             'Parameters[].Name'",
            quote(cx.region()),
            quote(&path)
        ))
        .run(class.edit()),
    )
}
