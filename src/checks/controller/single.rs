//! One Karpenter runs in the cluster.

use super::running;
use crate::{
    checks::{Area, Check, Context, Judged, Verdicts, remedies::listed},
    outcome::{Finding, Remedy},
    target::Product,
};

pub static CHECK: Check = Check {
    id: "single-controller",
    title: "One Karpenter runs in the cluster",
    area: Area::Controller,
    products: &[Product::Karpenter],
    errors: &["crd-ownership"],
    needs: &[],
    doc: "\
## What
One Deployment of Karpenter's controller has replicas.

## Why
Replicas of one Deployment choose a leader by a lease in their namespace. Two Deployments in two
namespaces, such as `karpenter` and `kube-system` after the move of 0.33, both lead: each launches
nodes for the same pods, and each removes what the other one makes.

## Seen as
Twice as many nodes as are needed, which go again at once. Helm may refuse the second release:
`invalid ownership metadata`.

## Fix
Remove the release that is not meant; its objects stay, as the definitions belong to neither.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let all = running::all(cx)?;
    let active: Vec<_> = all.iter().filter(|one| one.deployment.replicas > 0).collect();
    let names: Vec<_> = active.iter().map(|one| one.name()).collect();
    if active.len() < 2 {
        let seen = match names.as_slice() {
            [one] => format!("{one} alone"),
            _ => "no controller has replicas; see controller-health".to_owned(),
        };
        return Ok(vec![Judged::new(&cx.target.cluster, || Ok(Finding::pass(seen)))]);
    }
    let finding = Finding::fail(
        format!("Karpenter runs {} times: {}.", active.len(), listed(&names)),
        "Each launches nodes for the same pods and removes what the other makes, when they are in \
         different namespaces or have different names.",
    )
    .errors(&["crd-ownership"]);
    let finding = active.iter().fold(finding, |finding, one| {
        finding.evidence("get deployment", one.name(), &one.deployment.image)
    });
    let remedy = Remedy::new(
        "Keep the one that is meant, mostly the newer one, and uninstall the other Helm release; \
         the command shows both.",
    )
    .run("helm list --all-namespaces --filter karpenter");
    Ok(vec![Judged::new(&cx.target.cluster, || Ok(finding.mend(remedy)))])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status,
    };

    #[test]
    fn rows() {
        let with = |old: u32| {
            json!({"facts": {"kubernetes": {"controllers": {"known": [
                {"meta": {"name": "karpenter", "namespace": "kube-system"}, "replicas": 2},
                {"meta": {"name": "karpenter", "namespace": "karpenter"}, "replicas": old}]}}}})
        };
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[
                ("one", json!({}), &[(Status::Pass, "demo")]),
                ("two", with(2), &[(Status::Fail, "demo")]),
                ("one of them scaled to nothing", with(0), &[(Status::Pass, "demo")]),
            ],
        );
    }
}
