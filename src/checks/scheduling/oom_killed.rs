//! Whether containers were killed for memory of late.

use jiff::{SignedDuration, Timestamp};

use crate::{
    checks::{
        Area, Check, Context, Judged, Verdicts,
        remedies::quote,
        workloads::{Tally, counted, first_few, pods},
    },
    facts::kubernetes::workloads::Workload,
    outcome::{Finding, Remedy},
    target::Product,
};

/// What counts as recent. A pod tells of the last end of each container only, however long ago
/// that was; a day holds the daily peak.
const RECENT: SignedDuration = SignedDuration::from_hours(24);

pub static CHECK: Check = Check {
    id: "pods-oom-killed",
    title: "No container was killed for memory in the last day",
    area: Area::Scheduling,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["oom-killed"],
    needs: &[],
    doc: "\
## What
In the last 24 hours no container was ended for want of memory, as far as the pods still tell.

## Why
A container that uses more memory than its limit is killed. So is one within its limit if the
node runs out, which happens where limits are far above requests: Karpenter fills a node up to
the requests, and consolidation chooses the smallest node that they fit on.

## Seen as
`OOMKilled` in the container's last state, with exit code 137.

## Fix
Set the memory request to what the container uses at its peak, and the limit to the same value.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let pods = pods(cx)?;
    let recent = |at: Option<Timestamp>| at.is_some_and(|at| cx.now.duration_since(at) < RECENT);
    let killed = Tally::new(pods, |workload| match recent(workload.oom_killed.latest) {
        true => workload.oom_killed.pods.count,
        false => 0,
    });
    Ok(vec![Judged::new(&cx.target.cluster, || {
        let Some((most, _)) = killed.of.first() else {
            return Ok(Finding::pass("None tells of it."));
        };
        Ok(finding(&killed, most))
    })])
}

fn finding(killed: &Tally<'_>, most: &Workload) -> Finding {
    let oom = &most.oom_killed;
    let limit = match &oom.limit {
        Some(limit) => format!("whose limit is {limit}"),
        None => "which has no limit, so that its node ran out".to_owned(),
    };
    let seen = format!(
        "{} tell of a container that was killed for memory in the last day: {}. In {} it is the \
         container {}, {limit}: {}.",
        counted(killed.pods(), "pod"),
        killed.listed(),
        most.owner.words(),
        oom.container,
        first_few(&oom.pods)
    );
    let owner = &most.owner;
    let remedy = Remedy::new(
        "Look what the container uses at its peak, and set its memory request and limit to that. \
         Where the limit is not reached, the node ran out: raise the requests of what runs there.",
    )
    .run(format!("kubectl top pods --namespace {} --containers", quote(&owner.namespace)));
    let remedy = match owner.kind.as_str() {
        "Deployment" | "StatefulSet" | "DaemonSet" if !owner.name.is_empty() => {
            remedy.run(format!(
                "kubectl set resources {} {} --namespace {} --containers {} \
             --requests memory=FILL_IN_PEAK --limits memory=FILL_IN_PEAK",
                owner.kind.to_ascii_lowercase(),
                quote(&owner.name),
                quote(&owner.namespace),
                quote(&oom.container)
            ))
        }
        _ => remedy,
    };
    Finding::warn(seen, "It starts again, loses what it was doing, and is killed again.")
        .errors(&["oom-killed"])
        .evidence(
            "list pods (Kubernetes)",
            "status.containerStatuses[].lastState.terminated.reason",
            "OOMKilled",
        )
        .mend(remedy)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows, workloads},
        outcome::Status,
    };

    fn killed(at: &str) -> Value {
        workloads(&[json!({
            "owner": {"namespace": "shop", "kind": "Deployment", "name": "web"},
            "pods": {"count": 4, "names": []},
            "oom_killed": {"pods": {"count": 2, "names": ["shop/web-1", "shop/web-2"]},
                           "latest": at, "container": "app", "limit": "512Mi"}})])
    }

    #[test]
    fn rows() {
        let denied = json!({"denied": {"action": "list pods", "message": "forbidden"}});
        let now = Account::KarpenterCluster.patched(&json!({})).collected_at;
        let ago = |hours| (now - SignedDuration::from_hours(hours)).to_string();
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[
                ("healthy", json!({}), &[(Status::Pass, "demo")]),
                ("an hour ago", killed(&ago(1)), &[(Status::Warn, "demo")]),
                ("two days ago", killed(&ago(48)), &[(Status::Pass, "demo")]),
                (
                    "not readable",
                    json!({"facts": {"kubernetes": {"workloads": {"pods": denied}}}}),
                    &[(Status::Unknown, "demo")],
                ),
                ("left alone", json!({"scope": {"no_kube": true}}), &[(Status::Skipped, "demo")]),
            ],
        );
    }
}
