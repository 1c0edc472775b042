//! Whether Windows pods meet a node whose Windows their image is made for.

use std::collections::BTreeSet;

use crate::{
    checks::{
        Area, Check, Context, Judged, Stop, Verdicts,
        remedies::listed,
        workloads::{Tally, edit, pods},
    },
    facts::kubernetes::{
        node_class::NodeClass,
        workloads::{Windows, Workload},
    },
    outcome::{Finding, Remedy},
    target::Product,
};

const BUILD: &str = "node.kubernetes.io/windows-build";

/// Windows releases: what AMI families and image tags call them, and their builds.
/// <https://learn.microsoft.com/en-us/virtualization/windowscontainers/deploy-containers/version-compatibility>
const RELEASES: &[(&str, &[&str], &str)] = &[
    ("windows2019", &["ltsc2019", "1809", "17763"], "10.0.17763"),
    ("windows2022", &["ltsc2022", "20348"], "10.0.20348"),
    ("windows2025", &["ltsc2025", "26100"], "10.0.26100"),
];

pub static CHECK: Check = Check {
    id: "windows-pods",
    title: "Windows pods select the Windows that their image is made for",
    area: Area::Scheduling,
    products: &[Product::Karpenter],
    errors: &["windows-image-mismatch"],
    needs: &[],
    doc: "\
## What
Workloads with `kubernetes.io/os: windows` have images of a Windows release that some
EC2NodeClass or node has, and where there are several releases, they select theirs by
`node.kubernetes.io/windows-build`.

## Why
A Windows container runs on the Windows build that its image is made for. The scheduler and
Karpenter do not look into images: without a selector a pod goes to any Windows node.

## Seen as
`no match for platform in manifest: not found` when the image is pulled.

## Fix
`nodeSelector` with `node.kubernetes.io/windows-build`: `10.0.17763` is Windows Server 2019,
`10.0.20348` 2022 and `10.0.26100` 2025. Or an image for the nodes' release.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let pods = pods(cx)?;
    let all =
        Tally::new(pods, |workload| workload.windows.as_ref().map_or(0, |_| workload.pods.count));
    if all.is_empty() {
        return Err(Stop::skipped("no pod runs on Windows"));
    }
    Ok(vec![Judged::new(&cx.target.cluster, || judge(cx, &all))])
}

fn judge(cx: &Context<'_>, all: &Tally<'_>) -> Result<Finding, Stop> {
    let offered = offered(cx)?;
    if offered.is_empty() {
        return Err(Stop::unknown(
            "neither the EC2NodeClasses nor the nodes show which Windows release they run",
        ));
    }
    let pick = |wanted: &dyn Fn(&Windows) -> bool| Tally {
        of: all
            .of
            .iter()
            .copied()
            .filter(|(w, _)| w.windows.as_ref().is_some_and(wanted))
            .collect(),
    };
    let misfits = pick(&|windows| {
        let selected = windows.builds.iter().map(String::as_str);
        of_images(windows).into_iter().chain(selected).any(|build| !offered.contains(build))
    });
    if let Some((first, _)) = misfits.of.first() {
        return Ok(misfit(&misfits, first, &offered));
    }
    let without = pick(&|windows| windows.builds.is_empty());
    match without.of.first() {
        Some((first, _)) if offered.len() > 1 => Ok(no_selector(&without, first, &offered)),
        _ => Ok(Finding::pass(format!("They fit {}.", words(&offered)))),
    }
}

/// The builds that nodes have, or get from an EC2NodeClass.
fn offered(cx: &Context<'_>) -> Result<BTreeSet<String>, Stop> {
    let kubernetes = cx.kubernetes()?;
    let classes = kubernetes.ec2_node_classes.found()?.into_iter().flatten();
    let of_classes = classes.filter_map(build_of).map(str::to_owned);
    let nodes = kubernetes.nodes.known()?.iter();
    let of_nodes = nodes.filter_map(|node| node.labels.get(BUILD)).cloned();
    Ok(of_classes.chain(of_nodes).collect())
}

fn build_of(class: &NodeClass) -> Option<&'static str> {
    let alias = class.ami_terms.iter().find_map(|term| term.alias.as_deref());
    let family = alias.map(|alias| alias.split('@').next().unwrap_or(alias));
    let family = family.or(class.ami_family.as_deref())?;
    let release = RELEASES.iter().find(|(name, ..)| family.eq_ignore_ascii_case(name));
    release.map(|(.., build)| *build)
}

/// The builds that the tags of images name.
fn of_images(windows: &Windows) -> BTreeSet<&'static str> {
    let tags = windows.images.iter().filter_map(|image| image.rsplit_once(':').map(|(_, tag)| tag));
    tags.filter_map(|tag| {
        let names = |marks: &[&str]| marks.iter().any(|mark| tag.contains(mark));
        RELEASES.iter().find(|(_, marks, _)| names(marks)).map(|(.., build)| *build)
    })
    .collect()
}

fn misfit(misfits: &Tally<'_>, first: &Workload, offered: &BTreeSet<String>) -> Finding {
    let windows = first.windows.clone().unwrap_or_default();
    let images: Vec<_> = windows.images.iter().collect();
    let seen = format!(
        "{} want a Windows build that no EC2NodeClass or node has, which is {}. {} selects {} \
         and runs {}.",
        misfits.listed(),
        words(offered),
        first.owner.words(),
        if windows.builds.is_empty() { "none".to_owned() } else { words(&windows.builds) },
        listed(&images)
    );
    Finding::fail(seen, "Their images cannot be pulled on the nodes, or no node is found for them.")
        .errors(&["windows-image-mismatch"])
        .evidence("list pods (Kubernetes)", "spec.containers[].image", listed(&images))
        .mend(
            Remedy::new(
                "Use images for the nodes' Windows release, or add an EC2NodeClass with the \
                 release of the images (amiSelectorTerms with alias windows2022@latest) and a \
                 NodePool for it.",
            )
            .run(edit(&first.owner)),
        )
}

fn no_selector(without: &Tally<'_>, first: &Workload, offered: &BTreeSet<String>) -> Finding {
    let build = first.windows.as_ref().and_then(|windows| of_images(windows).into_iter().next());
    let build = build.unwrap_or("BUILD");
    Finding::warn(
        format!(
            "Nodes have several Windows builds, {}, and these select none: {}.",
            words(offered),
            without.listed()
        ),
        "On a node of another build than their image's the image cannot be pulled.",
    )
    .errors(&["windows-image-mismatch"])
    .evidence("list pods (Kubernetes)", "spec.nodeSelector", "no windows-build")
    .mend(
        Remedy::new(format!(
            "Give the pods the nodeSelector {BUILD} with the build of their image, such as {build}."
        ))
        .run(edit(&first.owner)),
    )
}

fn words(builds: &BTreeSet<String>) -> String {
    listed(&builds.iter().collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status,
    };

    fn windows(families: &[&str], builds: &[&str], image: &str) -> Value {
        let class = |family: &&str| json!({"meta": {"name": family}, "ami_terms": [{"alias": format!("{family}@latest")}]});
        let classes: Vec<_> = families.iter().map(class).collect();
        json!({"facts": {"kubernetes": {
            "ec2_node_classes": {"known": classes},
            "workloads": {"pods": {"known": {"workloads": [{
                "owner": {"namespace": "shop", "kind": "Deployment", "name": "iis"},
                "pods": {"count": 3, "names": []},
                "windows": {"builds": builds, "images": [image]}}]}}}}}})
    }

    #[test]
    fn rows() {
        let iis = "mcr.microsoft.com/windows/servercore/iis:windowsservercore-ltsc2022";
        let own = "111122223333.dkr.ecr.us-west-2.amazonaws.com/app:7";
        let demo = |status| [(status, "demo")];
        let denied = json!({"denied": {"action": "list ec2nodeclasses", "message": "forbidden"}});
        let mut no_classes = windows(&[], &[], iis);
        no_classes["facts"]["kubernetes"]["ec2_node_classes"] = denied;
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[
                ("no Windows", json!({}), &demo(Status::Skipped)),
                (
                    "one release, that of the image",
                    windows(&["windows2022"], &[], iis),
                    &demo(Status::Pass),
                ),
                ("another release", windows(&["windows2019"], &[], iis), &demo(Status::Fail)),
                (
                    "two releases and no selector",
                    windows(&["windows2019", "windows2022"], &[], iis),
                    &demo(Status::Warn),
                ),
                (
                    "two releases and a selector",
                    windows(&["windows2019", "windows2022"], &["10.0.20348"], iis),
                    &demo(Status::Pass),
                ),
                (
                    "a build that nothing has",
                    windows(&["windows2022"], &["10.0.17763"], own),
                    &demo(Status::Fail),
                ),
                (
                    "an image that does not tell",
                    windows(&["windows2022"], &[], own),
                    &demo(Status::Pass),
                ),
                ("no release shown", windows(&["al2023"], &[], own), &demo(Status::Unknown)),
                ("not readable", no_classes, &demo(Status::Unknown)),
                ("left alone", json!({"scope": {"no_kube": true}}), &demo(Status::Skipped)),
            ],
        );
    }
}
