//! The cluster is there to join, and EKS finds nothing wrong with it.

use crate::{
    checks::{Area, Check, Context, Judged, Verdicts, remedies::quote},
    facts::eks::{Cluster, HealthIssue},
    outcome::{Finding, Remedy},
    target::Product,
};

const API: &str = "eks:DescribeCluster";
const ERROR: &str = "node-not-registered";

pub static CHECK: Check = Check {
    id: "cluster-status",
    title: "The cluster is active and healthy",
    area: Area::Controller,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &[ERROR],
    needs: &[API],
    doc: "\
## What
The cluster's status is `ACTIVE` or `UPDATING`, and EKS reports no health issue.

## Why
A cluster that is being made or taken away, or whose making failed, has no API server to join.
EKS finds faults of its own, such as a subnet, security group or KMS key that is gone. It may
notice them, and notice that they are mended, up to three hours late: an issue is a warning.

## Seen as
`Node not registered with cluster` on the NodeClaim: nodes start and cannot reach the API server.

## Fix
Wait for the cluster, or mend what the issue names:
`aws eks describe-cluster --name <cluster> --query cluster.health`.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let cluster = cx.cluster()?;
    let status = Judged::new(&cluster.name, || Ok(by_status(cx, cluster)));
    let issues = cluster.health_issues.iter().map(|issue| {
        Judged::new(format!("{} ({})", cluster.name, issue.code), || Ok(by_issue(cx, issue)))
    });
    Ok(std::iter::once(status).chain(issues).collect())
}

fn by_status(cx: &Context<'_>, cluster: &Cluster) -> Finding {
    let seen = format!("The cluster's status is {}.", cluster.status);
    let finding = match cluster.status.as_str() {
        "ACTIVE" | "UPDATING" => return Finding::pass(seen),
        "CREATING" | "PENDING" => {
            Finding::warn(seen, "There is no API server to join until it is ACTIVE.").mend(
                Remedy::new("Wait for it, then check again.")
                    .run(command(cx, "wait cluster-active")),
            )
        }
        "DELETING" | "FAILED" => Finding::fail(
            seen,
            "There is no API server to join: neither the controller nor a node can work.",
        )
        .mend(
            Remedy::new("See why; a cluster in this state has to be made anew.").run(describe(cx)),
        ),
        _ => Finding::warn(seen, "This status is new to this tool: nodes may not be able to join.")
            .mend(Remedy::new("See what EKS says of the cluster.").run(describe(cx))),
    };
    finding.errors(&[ERROR]).evidence(API, "cluster.status", &cluster.status)
}

fn by_issue(cx: &Context<'_>, issue: &HealthIssue) -> Finding {
    let of = match issue.resources.as_slice() {
        [] => String::new(),
        resources => format!(" ({})", resources.join(", ")),
    };
    Finding::warn(
        format!("EKS reports {}{of}: {}", issue.code, issue.message),
        "What rests on it fails, if it is still so: EKS looks again only every few hours.",
    )
    .errors(&[ERROR])
    .evidence(API, "cluster.health.issues[].code", &issue.code)
    .mend(
        Remedy::new("Mend what it names; then see whether EKS still reports it.").run(describe(cx)),
    )
}

fn describe(cx: &Context<'_>) -> String {
    command(cx, "describe-cluster") + " --query cluster.health"
}

fn command(cx: &Context<'_>, what: &str) -> String {
    format!("aws eks {what} --region {} --name {}", cx.region(), quote(&cx.target.cluster))
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
        let status = |status: &str| json!({"facts": {"cluster": {"known": {"status": status}}}});
        let issue =
            json!({"code": "Ec2SubnetNotFound", "message": "gone", "resources": ["subnet-9"]});
        let denied = json!({"denied": {"action": API, "message": "no"}});
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("active", json!({}), &[(Status::Pass, "demo")]),
                ("updating", status("UPDATING"), &[(Status::Pass, "demo")]),
                ("creating", status("CREATING"), &[(Status::Warn, "demo")]),
                ("failed", status("FAILED"), &[(Status::Fail, "demo")]),
                ("deleting", status("DELETING"), &[(Status::Fail, "demo")]),
                ("a new one", status("HIBERNATING"), &[(Status::Warn, "demo")]),
                (
                    "an issue",
                    json!({"facts": {"cluster": {"known": {"health_issues": [issue]}}}}),
                    &[(Status::Pass, "demo"), (Status::Warn, "demo (Ec2SubnetNotFound)")],
                ),
                (
                    "not readable",
                    json!({"facts": {"cluster": denied}}),
                    &[(Status::Unknown, "demo")],
                ),
            ],
        );
    }
}
