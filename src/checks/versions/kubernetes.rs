//! The cluster's Kubernetes version against the range of the Karpenter release.

use crate::{
    checks::{Area, Check, Context, Judged, Stop, Verdicts, remedies::quote},
    outcome::{Finding, Remedy, Unknown},
    requirements::{
        kubernetes::{self, KubernetesVersion},
        version::KarpenterVersion,
        versions,
    },
    target::{Origin, Product},
};

/// Chart versions carry a `v` before this release (the upgrade guide's notes on 0.35).
const PLAIN_CHART_VERSIONS: KarpenterVersion = KarpenterVersion::new(0, 35, 0);

pub static CHECK: Check = Check {
    id: "kubernetes-version",
    title: "Karpenter supports the cluster's Kubernetes version",
    area: Area::Controller,
    products: &[Product::Karpenter],
    errors: &["kubernetes-version-incompatible"],
    needs: &["eks:DescribeCluster"],
    doc: "\
## What
The cluster's Kubernetes version is in the range that the Karpenter release is meant for.

## Why
Out of range, the controller still starts and only logs an error, but nobody has tested it
there. A Kubernetes newer than the range is a fail: what Karpenter knows of images, APIs and
kubelets ends before it, and Karpenter is to be upgraded first, before the cluster. One older
than the range is a warning: support was taken back, mostly because nobody tests it any more.

## Seen as
`karpenter is not compatible with kubernetes version` in the controller's log.

## Fix
Upgrade Karpenter to a release that supports the cluster's version; see
<https://karpenter.sh/docs/upgrading/compatibility/>.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    Ok(vec![Judged::new(&cx.target.cluster, || {
        let text = &cx.cluster()?.version;
        let version: KubernetesVersion =
            text.parse().map_err(|error| Stop::unknown(format!("{error}")))?;
        judge(cx, version)
    })])
}

fn judge(cx: &Context<'_>, version: KubernetesVersion) -> Result<Finding, Stop> {
    let karpenter = cx.karpenter();
    let range = kubernetes::range(karpenter);
    let seen = format!(
        "The cluster runs Kubernetes {version}, and Karpenter {karpenter} is meant for {} to {}.",
        range.min, range.max
    );
    let assumed = cx.target.karpenter_version.origin == Origin::NewestKnown;
    let finding = if version > range.max {
        if assumed || karpenter.is_newer_than_known() {
            return Err(Stop::Unknown(too_new_to_know(version)));
        }
        Finding::fail(
            seen,
            "Karpenter is untested there and logs an error whenever it sees the version; images, \
             kubelet settings and APIs newer than its range may be beyond it.",
        )
        .mend(upgrade_karpenter(cx, version))
    } else if version > range.checked_max {
        Finding::warn(
            seen,
            format!(
                "It is supported, but the check inside of Karpenter {karpenter} ends at {} and \
                 logs an error all the same.",
                range.checked_max
            ),
        )
        .mend(upgrade_karpenter(cx, version))
    } else if version < range.min {
        Finding::warn(
            seen,
            "Karpenter is no longer tested there and logs an error whenever it sees the version.",
        )
        .mend(upgrade_cluster(cx, version))
    } else {
        return Ok(Finding::pass(seen));
    };
    Ok(finding.errors(&["kubernetes-version-incompatible"]).evidence(
        "eks:DescribeCluster",
        "cluster.version",
        version.to_string(),
    ))
}

fn too_new_to_know(version: KubernetesVersion) -> Unknown {
    Unknown {
        remedy: Some(Remedy::new(
            "Look the release up in https://karpenter.sh/docs/upgrading/compatibility/, and name \
             it with --karpenter-version or use a newer karpenter-preflight.",
        )),
        ..Unknown::new(format!(
            "the cluster runs Kubernetes {version}, and no Karpenter up to {}, the newest that \
             this build knows, is meant for it",
            KarpenterVersion::NEWEST
        ))
    }
}

fn upgrade_karpenter(cx: &Context<'_>, version: KubernetesVersion) -> Remedy {
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
    let chart =
        if newest < PLAIN_CHART_VERSIONS { format!("v{newest}") } else { newest.to_string() };
    let helm = |name: &str| {
        format!(
            "helm upgrade --install {name} oci://public.ecr.aws/karpenter/{name} --version {chart} \
             --namespace {} --reuse-values",
            quote(&cx.target.namespace.value)
        )
    };
    Remedy::new(format!(
        "Upgrade Karpenter to {oldest} or newer; {newest} is the last patch of that line. Read \
         https://karpenter.sh/docs/upgrading/upgrade-guide/ for the steps between, and update the \
         controller's policies first."
    ))
    .run(helm("karpenter-crd"))
    .run(helm("karpenter"))
}

fn upgrade_cluster(cx: &Context<'_>, version: KubernetesVersion) -> Remedy {
    let next = KubernetesVersion { minor: version.minor + 1, ..version };
    let instead = kubernetes::newest_supporting(version)
        .map(|newest| format!(" Until then, Karpenter {newest} is the newest that supports it."))
        .unwrap_or_default();
    Remedy::new(format!("Upgrade the cluster, one minor version at a time.{instead}")).run(format!(
        "aws eks update-cluster-version --region {} --name {} --kubernetes-version {next}",
        quote(cx.region()),
        quote(&cx.target.cluster)
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::{Status, Step},
    };

    fn pair(cluster: &str, karpenter: Option<&str>) -> Value {
        json!({
            "scope": {"karpenter_version": karpenter, "interruption_queue": "demo"},
            "facts": {"cluster": {"known": {"version": cluster}}},
        })
    }

    #[test]
    fn rows() {
        let denied = json!({"denied": {"action": "eks:DescribeCluster", "message": "no"}});
        let (pass, warn) = (&[(Status::Pass, "demo")][..], &[(Status::Warn, "demo")][..]);
        let unknown = &[(Status::Unknown, "demo")][..];
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("in range", json!({}), pass),
                ("the newest", pair("1.36", Some("1.14.1")), pass),
                ("too new", pair("1.35", Some("1.8.0")), &[(Status::Fail, "demo")]),
                ("supported, but logged", pair("1.34", Some("1.6.0")), warn),
                ("too old", pair("1.24", Some("1.0.0")), warn),
                ("newer than this build", pair("1.37", Some("1.20.0")), unknown),
                ("not said which, and too new", pair("1.37", None), unknown),
                (
                    "newest known, and too new",
                    pair("1.37", Some("1.14.1")),
                    &[(Status::Fail, "demo")],
                ),
                ("not a version", pair("latest", Some("1.14.1")), unknown),
                ("not readable", json!({"facts": {"cluster": denied}}), unknown),
            ],
        );
        let skipped = &[(Status::Skipped, "demo")];
        assert_rows(Account::AutoMode, &CHECK, &[("EKS's own Karpenter", json!({}), skipped)]);
    }

    #[test]
    fn remedies_name_the_release() {
        for (cluster, karpenter, words, command) in [
            ("1.35", "1.8.0", "Karpenter to 1.9.0 or newer", "--version 1.9.2 "),
            ("1.29", "0.33.0", "Karpenter to 0.34.0 or newer", "--version v0.34."),
            ("1.34", "1.6.0", "Karpenter to 1.6.0 or newer", "--version 1.6.8 "),
            ("1.24", "1.0.0", "Karpenter 0.37.8 is the newest", "--kubernetes-version 1.25"),
        ] {
            let outcome =
                Account::Karpenter.judge(&CHECK, &pair(cluster, Some(karpenter))).remove(0);
            let remedy = outcome.remedy.expect("it is mended");
            assert!(remedy.words.contains(words), "{}", remedy.words);
            let Some(Step::Command { command: last }) = remedy.steps.last() else { panic!() };
            assert!(last.contains(command), "{last}");
        }
    }
}
