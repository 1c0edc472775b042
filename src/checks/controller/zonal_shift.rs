//! Zonal shift is on for the cluster where Karpenter is told to follow it.

use super::{
    running::{self, Running},
    settings::set_env,
};
use crate::{
    checks::{Area, Check, Context, Stop, Verdicts, remedies::quote},
    outcome::{Finding, Remedy},
    requirements::version::KarpenterVersion,
    target::{Product, cluster_says::setting},
};

/// The first release that knows the setting.
const KNOWN: KarpenterVersion = KarpenterVersion::new(1, 12, 0);

pub static CHECK: Check = Check {
    id: "zonal-shift",
    title: "Zonal shift is on where Karpenter follows it",
    area: Area::Controller,
    products: &[Product::Karpenter],
    errors: &["zonal-shift-not-enabled"],
    needs: &["eks:DescribeCluster"],
    doc: "\
## What
Where Karpenter is set to `ENABLE_ZONAL_SHIFT=true`, the cluster has zonal shift enabled.

## Why
The getting-started guide sets it from 1.12 on. The controller asks at the start whether the cluster
takes part, and ends if it does not.

## Seen as
`Unable to find Cluster in Zonal Shift` in the controller's log.

## Fix
`aws eks update-cluster-config --zonal-shift-config enabled=true`, or set
`settings.enableZonalShift=false`.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    running::each(cx, |one| judge(cx, one))
}

fn judge(cx: &Context<'_>, one: &Running<'_>) -> Result<Finding, Stop> {
    let set = setting(one.deployment, "ENABLE_ZONAL_SHIFT");
    if !set.is_some_and(|value| value.eq_ignore_ascii_case("true")) {
        return Err(Stop::skipped("Karpenter is not set to follow zonal shifts"));
    }
    if cx.karpenter() < KNOWN {
        return Err(Stop::skipped(format!(
            "Karpenter {} does not know the setting; from {KNOWN} on",
            cx.karpenter()
        )));
    }
    match cx.cluster()?.zonal_shift {
        Some(true) => Ok(Finding::pass("zonal shift is on for the cluster")),
        None => Err(Stop::unknown("eks:DescribeCluster does not say whether zonal shift is on")),
        Some(false) => Ok(Finding::fail(
            format!("{} is set to follow zonal shifts, and the cluster takes no part.", one.name()),
            "The controller ends at the start.",
        )
        .errors(&["zonal-shift-not-enabled"])
        .evidence("eks:DescribeCluster", "cluster.zonalShiftConfig.enabled", "false")
        .evidence("get deployment", format!("{} env ENABLE_ZONAL_SHIFT", one.name()), "true")
        .mend(
            Remedy::new(
                "Let the cluster take part (first command), or do not let Karpenter follow it \
                 (second command, and `settings.enableZonalShift=false` in the chart's values).",
            )
            .run(format!(
                "aws eks update-cluster-config --name {} --region {} --zonal-shift-config \
                 enabled=true",
                quote(&cx.target.cluster),
                quote(cx.region())
            ))
            .run(set_env(one, "ENABLE_ZONAL_SHIFT=false")),
        )),
    }
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
        let subject = "kube-system/karpenter";
        let with = |env: &str, on: Option<bool>, version: &str| {
            json!({"scope": {"karpenter_version": version}, "facts": {
                "cluster": {"known": {"zonal_shift": on}},
                "kubernetes": {"controllers": {"known": [
                    {"meta": {"name": "karpenter", "namespace": "kube-system"},
                     "env": {"ENABLE_ZONAL_SHIFT": env}}]}}}})
        };
        let skipped = &[(Status::Skipped, subject)][..];
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[
                ("not set", json!({}), skipped),
                ("off", with("false", Some(false), "1.14.1"), skipped),
                ("both on", with("true", Some(true), "1.14.1"), &[(Status::Pass, subject)]),
                ("alone", with("true", Some(false), "1.14.1"), &[(Status::Fail, subject)]),
                ("not said", with("true", None, "1.14.1"), &[(Status::Unknown, subject)]),
                ("not known yet", with("true", Some(false), "1.11.0"), skipped),
            ],
        );
    }
}
