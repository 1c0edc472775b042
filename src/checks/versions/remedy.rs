//! Which release of Karpenter to go to, and how.

use crate::{
    checks::{Context, remedies::quote},
    outcome::Remedy,
    requirements::{
        kubernetes::{self, KubernetesVersion},
        version::KarpenterVersion,
        versions,
    },
};

/// The first releases with other APIs: v1alpha5 is gone, v1 is there, v1beta1 is gone
/// (<https://karpenter.sh/docs/upgrading/upgrade-guide/>).
const NEW_APIS: [KarpenterVersion; 3] = [
    KarpenterVersion::new(0, 33, 0),
    KarpenterVersion::new(1, 0, 0),
    KarpenterVersion::new(1, 1, 0),
];

/// Chart versions carry a `v` before this release (the upgrade guide's notes on 0.35).
const PLAIN_CHART_VERSIONS: KarpenterVersion = KarpenterVersion::new(0, 35, 0);

/// Another release for a cluster that is newer than this one is meant for.
pub(super) fn newer_karpenter(cx: &Context<'_>, version: KubernetesVersion) -> Remedy {
    let Some(oldest) =
        kubernetes::oldest_supporting(version).map(|first| first.max(cx.karpenter()))
    else {
        return Remedy::new(format!(
            "No known release of Karpenter supports Kubernetes {version} yet. Wait for one before \
             you rely on this cluster; see https://karpenter.sh/docs/upgrading/compatibility/."
        ));
    };
    let of_its_line = |line: &&versions::Minor| {
        (line.first.major, line.first.minor) == (oldest.major, oldest.minor)
    };
    let newest = versions::minors().iter().find(of_its_line).map_or(oldest, |line| line.newest);
    let last = format!("{newest} is the last patch of that line");
    if cx.target.before_install() {
        return Remedy::new(format!("Install Karpenter {oldest} or newer; {last}."));
    }
    if api_changes(cx.karpenter(), oldest) {
        return Remedy::new(format!(
            "Upgrade Karpenter to {oldest} or newer; {last}. Its APIs change on the way, so no one \
             command does it: go from minor to minor as the upgrade guide says, \
             https://karpenter.sh/docs/upgrading/upgrade-guide/, and from 0.3x first to 1.0 by the \
             migration guide, https://karpenter.sh/v1.0/upgrading/v1-migration/."
        ));
    }
    upgrade(
        cx,
        newest,
        format!(
            "Upgrade Karpenter to {oldest} or newer; {last}. Read \
             https://karpenter.sh/docs/upgrading/upgrade-guide/ for the steps between, and update \
             the controller's policies first. The commands keep the values that you set and need \
             Helm 3.14 or newer. If Helm says `invalid ownership metadata`, the CRDs came with the \
             chart karpenter: see https://karpenter.sh/docs/troubleshooting/#helm-error-when-installing-the-karpenter-crd-chart."
        ),
    )
}

/// Adds the commands that upgrade to this release. They take the chart's own defaults anew, and
/// the controller's chart only where it is installed.
pub(super) fn upgrade(cx: &Context<'_>, to: KarpenterVersion, words: String) -> Remedy {
    let chart = if to < PLAIN_CHART_VERSIONS { format!("v{to}") } else { to.to_string() };
    let helm = |upgrade: &str, name: &str| {
        format!(
            "helm {upgrade} {name} oci://public.ecr.aws/karpenter/{name} --version {chart} \
             --namespace {} --reset-then-reuse-values",
            quote(&cx.target.namespace.value)
        )
    };
    Remedy::new(words)
        .run(helm("upgrade --install", "karpenter-crd"))
        .run(helm("upgrade", "karpenter"))
}

/// Whether the APIs differ between the two releases, so that objects must be migrated.
fn api_changes(one: KarpenterVersion, other: KarpenterVersion) -> bool {
    let (older, newer) = (one.min(other), one.max(other));
    NEW_APIS.iter().any(|first| older < *first && newer >= *first)
}

/// An older release for a cluster that is older than this one is meant for.
pub(super) fn older_karpenter(cx: &Context<'_>, version: KubernetesVersion) -> Remedy {
    let cluster = "upgrade the cluster, one minor version at a time, which cannot be undone";
    let Some(newest) = kubernetes::newest_supporting(version) else {
        return Remedy::new(format!(
            "No known release of Karpenter is meant for Kubernetes {version}: {cluster}."
        ));
    };
    if cx.target.before_install() {
        return Remedy::new(format!(
            "Install Karpenter {newest}, the newest that is meant for Kubernetes {version}; or \
             {cluster}."
        ));
    }
    let back = if api_changes(cx.karpenter(), newest) {
        " Its APIs are others, so going back to it means to make NodePools and NodeClasses anew."
    } else {
        ""
    };
    Remedy::new(format!(
        "Karpenter {newest} is the newest that is meant for Kubernetes {version}: go back to it; or \
         {cluster}.{back}"
    ))
}
