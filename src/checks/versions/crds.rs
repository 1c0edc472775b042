//! Karpenter's custom resource definitions against its version.

use crate::{
    checks::{Area, Check, Context, Judged, Stop, Verdicts, remedies::quote},
    facts::kubernetes::{controller::Deployment, node_pool::Crd},
    outcome::{Finding, Remedy},
    requirements::version::KarpenterVersion,
    target::{
        Product,
        cluster_says::{setting, version},
    },
};

/// What every release since 0.32 has.
const NEEDED: [&str; 3] =
    ["ec2nodeclasses.karpenter.k8s.aws", "nodepools.karpenter.sh", "nodeclaims.karpenter.sh"];
/// What the feature gate of this name needs, and since when there is one.
const BY_GATE: [(&str, &str, KarpenterVersion); 2] = [
    ("NodeOverlay", "nodeoverlays.karpenter.sh", KarpenterVersion::new(1, 7, 0)),
    ("CapacityBuffer", "capacitybuffers.autoscaling.x-k8s.io", KarpenterVersion::new(1, 14, 0)),
];
/// The first release that works with v1, and the first that no longer converts v1beta1
/// (<https://karpenter.sh/docs/upgrading/upgrade-guide/>).
const V1: KarpenterVersion = KarpenterVersion::new(1, 0, 0);
const V1_ALONE: KarpenterVersion = KarpenterVersion::new(1, 1, 0);
/// Chart versions carry a `v` before this release.
const PLAIN_CHART_VERSIONS: KarpenterVersion = KarpenterVersion::new(0, 35, 0);

pub static CHECK: Check = Check {
    id: "crd-versions",
    title: "The custom resource definitions fit the controller",
    area: Area::Controller,
    products: &[Product::Karpenter],
    errors: &["crd-field-unknown", "crd-versions-stored", "conversion-webhook-failed"],
    needs: &[],
    doc: "\
## What
The definitions of EC2NodeClasses, NodePools and NodeClaims are there and serve the version that
the running controller works with: v1beta1 before 1.0, v1 from then on. From 1.1 on nothing is
stored as v1beta1 any more, and v1beta1 is not served.

## Why
The `karpenter` chart installs the definitions once and never upgrades them. Fields that they do
not know are refused or dropped without a word, and an object that is still stored in a version
that nobody converts cannot be read.

## Seen as
`strict decoding error: unknown field`, `no matches for kind`, or `conversion webhook … failed`; Helm
says `must remain in spec.versions until a storage migration`.

## Fix
Install the chart `karpenter-crd` in the version of the controller, and keep the two in step.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let facts = cx.kubernetes()?;
    let controllers = facts.controllers.known()?;
    let Some(controller) = controllers.iter().max_by_key(|one| one.replicas) else {
        return Err(Stop::skipped("no Karpenter controller is installed in the cluster"));
    };
    let runs = version(controller).unwrap_or(cx.karpenter());
    let crds = facts.crds.known()?;
    let judge = |name: &str| {
        let crd = crds.iter().find(|crd| crd.name == name);
        Judged::new(name, || Ok(judge(cx, controller, runs, name, crd)))
    };
    Ok(needed(controller, runs).into_iter().map(judge).collect())
}

fn needed(controller: &Deployment, runs: KarpenterVersion) -> Vec<&'static str> {
    let gates = setting(controller, "FEATURE_GATES").unwrap_or_default();
    let is_on = |gate: &str| {
        gates.split(',').filter_map(|one| one.split_once('=')).any(|(name, value)| {
            name.trim().eq_ignore_ascii_case(gate) && value.trim().eq_ignore_ascii_case("true")
        })
    };
    let by_gate = BY_GATE.iter().filter(|(gate, _, since)| runs >= *since && is_on(gate));
    NEEDED.into_iter().chain(by_gate.map(|(_, name, _)| *name)).collect()
}

fn judge(
    cx: &Context<'_>,
    controller: &Deployment,
    runs: KarpenterVersion,
    name: &str,
    crd: Option<&Crd>,
) -> Finding {
    let upgrade = |words: &str| upgrade(controller, runs, words);
    let Some(crd) = crd else {
        return missing(name, runs).mend(upgrade("Install the definitions."));
    };
    if !NEEDED.contains(&name) {
        return Finding::pass(format!("{name} is defined"));
    }
    let has = |list: &[String], wanted: &str| list.iter().any(|version| version == wanted);
    let wanted = if runs < V1 { "v1beta1" } else { "v1" };
    let served = crd.served.join(", ");
    if !has(&crd.served, wanted) {
        let age = if runs < V1 { "newer" } else { "older" };
        return Finding::fail(
            format!(
                "{name} serves {served}, and Karpenter {runs} works with {wanted}: the definitions \
                 are {age} than the controller."
            ),
            "The controller cannot read its objects, and nothing is launched.",
        )
        .errors(&["crd-field-unknown"])
        .evidence("get customresourcedefinition", format!("{name} spec.versions"), served)
        .mend(upgrade("Bring the definitions to the version of the controller."));
    }
    if runs >= V1_ALONE && crd.stored.iter().any(|version| version != "v1") {
        return stored(cx, name, crd, runs);
    }
    if runs >= V1_ALONE && has(&crd.served, "v1beta1") {
        return Finding::warn(
            format!("{name} still serves v1beta1, and Karpenter {runs} no longer converts it."),
            "Whoever asks for v1beta1, such as an older manifest, gets an error of the conversion \
             webhook, which is gone; fields that came later are refused.",
        )
        .errors(&["conversion-webhook-failed", "crd-field-unknown"])
        .evidence("get customresourcedefinition", format!("{name} spec.versions"), served)
        .mend(upgrade(
            "The definitions are those of 1.0: bring them to the controller's version.",
        ));
    }
    Finding::pass(format!("{name} serves {wanted}"))
}

fn missing(name: &str, runs: KarpenterVersion) -> Finding {
    Finding::fail(
        format!("{name} is not defined, and Karpenter {runs} runs."),
        "The controller cannot read its objects and is never ready.",
    )
    .errors(&["crd-field-unknown"])
    .evidence("get customresourcedefinition", name, "not found")
}

fn stored(cx: &Context<'_>, name: &str, crd: &Crd, runs: KarpenterVersion) -> Finding {
    let stored = crd.stored.join(", ");
    let effect = match crd.served.iter().any(|version| version == "v1beta1") {
        true => {
            "Objects that still lie there as v1beta1 cannot be converted by this release, and the \
             next upgrade of the definitions is refused."
        }
        false => "The next upgrade of the definitions is refused.",
    };
    let list = format!(
        "kubectl get customresourcedefinition {name} --output jsonpath={}",
        quote("{.status.storedVersions}")
    );
    Finding::warn(
        format!("Objects of {name} may still be stored as {stored}, and Karpenter {runs} runs."),
        effect,
    )
    .errors(&["crd-versions-stored"])
    .evidence("get customresourcedefinition", format!("{name} status.storedVersions"), &stored)
    .mend(
        Remedy::new(format!(
            "Write every object anew, so that it is stored as v1, and then take v1beta1 off the \
             list: see https://karpenter.sh/v1.0/upgrading/v1-migration/. Karpenter 1.0.6 or later \
             of the 1.0 line does both by itself. The command shows what is listed for {}.",
            cx.target.cluster
        ))
        .run(list),
    )
}

/// Adds the command that brings the definitions to the controller's version.
fn upgrade(controller: &Deployment, runs: KarpenterVersion, words: &str) -> Remedy {
    let chart = if runs < PLAIN_CHART_VERSIONS { format!("v{runs}") } else { runs.to_string() };
    Remedy::new(format!(
        "{words} If Helm says `invalid ownership metadata`, the definitions came with the chart \
         karpenter: see https://karpenter.sh/docs/troubleshooting/#helm-error-when-installing-the-karpenter-crd-chart."
    ))
    .run(format!(
        "helm upgrade --install karpenter-crd oci://public.ecr.aws/karpenter/karpenter-crd \
         --version {chart} --namespace {}",
        quote(&controller.meta.namespace)
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

    /// A controller of this version, and NodePools with these versions.
    fn of(version: &str, served: &[&str], stored: &[&str]) -> Value {
        let other = |name: &str| {
            let both = ["v1", "v1beta1"];
            let wanted = if version.trim_start_matches('v').starts_with("0.") {
                &both[1..]
            } else {
                &both[..1]
            };
            json!({"name": name, "served": wanted, "stored": wanted})
        };
        json!({"facts": {"kubernetes": {
            "controllers": {"known": [{"meta": {"name": "karpenter", "namespace": "kube-system"},
                "image": format!("public.ecr.aws/karpenter/controller:{version}@sha256:0")}]},
            "crds": {"known": [
                {"name": NEEDED[1], "served": served, "stored": stored},
                other(NEEDED[0]), other(NEEDED[2])]}}}})
    }

    fn rows_of(pools: Status) -> Vec<(Status, &'static str)> {
        vec![(Status::Pass, NEEDED[0]), (pools, NEEDED[1]), (Status::Pass, NEEDED[2])]
    }

    #[test]
    fn rows() {
        let (pass, warn, fail) =
            (rows_of(Status::Pass), rows_of(Status::Warn), rows_of(Status::Fail));
        let missing = json!({"facts": {"kubernetes": {"crds": {"known": []}}}});
        let none: Vec<_> = NEEDED.map(|name| (Status::Fail, name)).into();
        let gate = json!({"facts": {"kubernetes": {"controllers": {"known": [
            {"meta": {"name": "karpenter", "namespace": "kube-system"},
             "image": "public.ecr.aws/karpenter/controller:1.14.1",
             "env": {"FEATURE_GATES": "NodeOverlay=true,CapacityBuffer=true"}}]}}}});
        let mut gated = pass.clone();
        gated.extend([
            (Status::Pass, "nodeoverlays.karpenter.sh"),
            (Status::Fail, "capacitybuffers.autoscaling.x-k8s.io"),
        ]);
        let denied = json!({"facts": {"kubernetes": {"crds": {"denied": {
            "action": "get customresourcedefinitions", "message": "forbidden"}}}}});
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[
                ("the guide's", json!({}), &pass),
                ("0.37", of("v0.37.8", &["v1beta1"], &["v1beta1"]), &pass),
                ("0.37 with those of 1.1", of("0.37.8", &["v1"], &["v1"]), &fail),
                (
                    "1.0 during the migration",
                    of("1.0.8", &["v1", "v1beta1"], &["v1", "v1beta1"]),
                    &pass,
                ),
                ("1.2 with those of 0.37", of("1.2.0", &["v1beta1"], &["v1beta1"]), &fail),
                ("1.2 with those of 1.0", of("1.2.0", &["v1", "v1beta1"], &["v1"]), &warn),
                (
                    "1.2, not all migrated",
                    of("1.2.0", &["v1", "v1beta1"], &["v1", "v1beta1"]),
                    &warn,
                ),
                ("none", missing, &none),
                ("what a gate needs", gate, &gated),
                ("not readable", denied, &[(Status::Unknown, "demo")]),
                (
                    "no controller",
                    json!({"facts": {"kubernetes": {"controllers": {"known": []}}}}),
                    &[(Status::Skipped, "demo")],
                ),
            ],
        );
    }

    #[test]
    fn the_chart_is_that_of_the_version() {
        for (version, chart) in [("0.34.0", "--version v0.34.0 "), ("1.2.0", "--version 1.2.0 ")] {
            let wrong = if version.starts_with('0') { "v1" } else { "v1beta1" };
            let found = Account::KarpenterCluster.judge(&CHECK, &of(version, &[wrong], &[]));
            let remedy = format!("{:?}", found[1].remedy);
            assert!(remedy.contains(chart), "{remedy}");
        }
    }
}
