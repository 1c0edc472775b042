//! The cluster's Kubernetes version against the range of the Karpenter release.

use super::remedy::{newer_karpenter, older_karpenter};
use crate::{
    checks::{Area, Check, Context, Judged, Stop, Verdicts},
    outcome::{Finding, Remedy, Unknown},
    requirements::{
        kubernetes::{self, KubernetesRange, KubernetesVersion},
        version::KarpenterVersion,
    },
    target::{Origin, Product},
};

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
Use a release of Karpenter that supports the cluster's version; see
<https://karpenter.sh/docs/upgrading/compatibility/>. Between 0.3x, 1.0 and 1.1 the APIs change:
follow the migration guide there. An upgrade of the cluster cannot be undone.
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
    if version > range.max && (assumed || karpenter.is_newer_than_known()) {
        return Err(Stop::Unknown(too_new_to_know(version)));
    }
    let Some(finding) = out_of_range(cx, version, range, &seen) else {
        return Ok(Finding::pass(match cx.guessed_version()? {
            Some(guess) => format!("{seen} {guess}"),
            None => seen,
        }));
    };
    Ok(finding.errors(&["kubernetes-version-incompatible"]).evidence(
        "eks:DescribeCluster",
        "cluster.version",
        version.to_string(),
    ))
}

/// The finding for a version that the release is not meant for; `None` where it is.
fn out_of_range(
    cx: &Context<'_>,
    version: KubernetesVersion,
    range: KubernetesRange,
    seen: &str,
) -> Option<Finding> {
    if version > range.max {
        let effect = "Karpenter is untested there and logs an error whenever it sees the version; \
                      images, kubelet settings and APIs newer than its range may be beyond it.";
        Some(Finding::fail(seen, effect).mend(newer_karpenter(cx, version)))
    } else if version > range.checked_max {
        let effect = format!(
            "It is supported, but the check inside of Karpenter {} ends at {} and logs an error \
             all the same.",
            cx.karpenter(),
            range.checked_max
        );
        Some(Finding::warn(seen, effect).mend(newer_karpenter(cx, version)))
    } else if version < range.min {
        let effect = "Karpenter is no longer tested there and logs an error whenever it sees the \
                      version.";
        Some(Finding::warn(seen, effect).mend(older_karpenter(cx, version)))
    } else {
        None
    }
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
    fn nothing_is_upgraded_before_an_install() {
        let mut patch = pair("1.35", Some("1.8.0"));
        patch["scope"]["stage"] = json!("before");
        let remedy = Account::Karpenter.judge(&CHECK, &patch).remove(0).remedy;
        let remedy = remedy.expect("it is mended");
        assert!(remedy.words.starts_with("Install Karpenter 1.9.0 or newer"), "{}", remedy.words);
        assert!(remedy.steps.is_empty());
    }

    fn remedy(patch: &Value) -> (String, Vec<String>) {
        let remedy = Account::Karpenter.judge(&CHECK, patch).remove(0).remedy;
        let remedy = remedy.expect("it is mended");
        let commands = remedy.steps.into_iter().map(|step| match step {
            Step::Command { command } => command,
            Step::Document { document, .. } => document,
        });
        (remedy.words, commands.collect())
    }

    #[test]
    fn remedies_name_the_release() {
        for (cluster, karpenter, words, version) in [
            ("1.35", "1.8.0", "Karpenter to 1.9.0 or newer", "--version 1.9.2 "),
            ("1.29", "0.33.0", "Karpenter to 0.34.0 or newer", "--version v0.34."),
            ("1.34", "1.6.0", "Karpenter to 1.6.0 or newer", "--version 1.6.8 "),
        ] {
            let (said, commands) = remedy(&pair(cluster, Some(karpenter)));
            assert!(said.contains(words), "{said}");
            assert_eq!(commands.len(), 2, "{commands:?}");
            assert!(commands.iter().all(|command| command.contains(version)), "{commands:?}");
            assert!(!commands.iter().any(|c| c.contains(" --reuse-values")), "{commands:?}");
            // A controller under another name must not get a second one beside it.
            assert!(!commands[1].contains("--install"), "{commands:?}");
        }
    }

    #[test]
    fn what_migrates_or_cannot_be_undone_is_words_only() {
        for (cluster, karpenter, words) in [
            ("1.33", "0.36.2", "first to 1.0 by the migration guide"),
            ("1.32", "1.0.14", "APIs change on the way"),
            ("1.29", "0.32.0", "APIs change on the way"),
            ("1.24", "1.0.0", "Karpenter 0.37.8 is the newest"),
            ("1.24", "1.0.0", "make NodePools and NodeClasses anew"),
            ("1.25", "1.14.0", "Karpenter 1.4.4 is the newest"),
            ("1.22", "0.37.0", "upgrade the cluster"),
        ] {
            let (said, commands) = remedy(&pair(cluster, Some(karpenter)));
            assert!(said.contains(words), "{said}");
            assert!(commands.is_empty(), "{commands:?}");
        }
        let mut before = pair("1.25", Some("1.14.0"));
        before["scope"]["stage"] = json!("before");
        let (said, commands) = remedy(&before);
        assert!(said.starts_with("Install Karpenter 1.4.4") && commands.is_empty(), "{said}");
    }
}
