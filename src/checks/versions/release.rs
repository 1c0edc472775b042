//! Whether the release of Karpenter is one that its makers take back.

use super::remedy::upgrade;
use crate::{
    checks::{Area, Check, Context, Judged, Stop, Verdicts},
    outcome::{Finding, Remedy},
    requirements::{version::KarpenterVersion, versions},
    target::{Origin, Product},
};

/// A release that nobody should run, and why.
struct TakenBack {
    version: KarpenterVersion,
    what: &'static str,
    error: &'static str,
    source: &'static str,
}

/// The releases that the upgrade guide warns of.
const TAKEN_BACK: [TakenBack; 1] = [TakenBack {
    version: KarpenterVersion::new(1, 8, 4),
    what: "Pods with some topology spread constraints are not scheduled: Karpenter finds no node \
           for them that it could make.",
    error: "affinity-or-spread-unsatisfied",
    source: "https://github.com/kubernetes-sigs/karpenter/issues/2785",
}];

pub static CHECK: Check = Check {
    id: "karpenter-release",
    title: "The release of Karpenter was not taken back",
    area: Area::Controller,
    products: &[Product::Karpenter],
    errors: &["affinity-or-spread-unsatisfied"],
    needs: &[],
    doc: "\
## What
The release that runs, or that you name, is none of which Karpenter's upgrade guide says not to
upgrade to it: 1.8.4.

## Why
Such a release has a fault that its successor mends. Karpenter 1.8.4 does not schedule pods with
some topology spread constraints.

## Seen as
Pods stay Pending though a NodePool could take them; Karpenter's events name the spread.

## Fix
Go to the last patch of the same line.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let version = &cx.target.karpenter_version;
    if version.origin == Origin::NewestKnown {
        return Err(Stop::skipped("which release runs is not known"));
    }
    let judge = || Ok(judge(cx, version.value));
    Ok(vec![Judged::new(version.value.to_string(), judge)])
}

fn judge(cx: &Context<'_>, version: KarpenterVersion) -> Finding {
    let Some(found) = TAKEN_BACK.iter().find(|one| one.version == version) else {
        return Finding::pass(format!("{version} was not taken back."));
    };
    let seen = format!("The upgrade guide says of Karpenter {version} not to upgrade to it.");
    let of_line = |line: &&versions::Minor| {
        (line.first.major, line.first.minor) == (version.major, version.minor)
    };
    let newest = versions::minors().iter().find(of_line).map_or(version, |line| line.newest);
    let words = format!("Go to {newest}, the last patch of that line; see {}.", found.source);
    let remedy = match cx.target.before_install() {
        true => Remedy::new(words),
        false => upgrade(cx, newest, words),
    };
    Finding::warn(seen, found.what)
        .errors(&[found.error])
        .evidence("upgrade guide", version.to_string(), found.source)
        .mend(remedy)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status::{Pass, Skipped, Warn},
    };

    #[test]
    fn rows() {
        let of = |version: &str| json!({"scope": {"karpenter_version": version}});
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("well", of("1.14.1"), &[(Pass, "1.14.1")]),
                ("taken back", of("1.8.4"), &[(Warn, "1.8.4")]),
                ("its successor", of("1.8.8"), &[(Pass, "1.8.8")]),
                ("not known", json!({"scope": {"karpenter_version": null}}), &[(Skipped, "demo")]),
            ],
        );
    }

    /// There is something to go to.
    #[test]
    fn each_has_a_successor() {
        for one in &TAKEN_BACK {
            let of_line = |line: &&versions::Minor| {
                (line.first.major, line.first.minor) == (one.version.major, one.version.minor)
            };
            let line = versions::minors().iter().find(of_line);
            assert!(line.is_some_and(|line| line.newest > one.version), "{}", one.version);
        }
    }
}
