//! The service-linked role without which EC2 launches no Spot instance.

use crate::{
    checks::{Area, Check, Context, Judged, Stop, Verdicts, node_pools::Values},
    facts::kubernetes::node_pool::NodePool,
    outcome::{Finding, Remedy},
    requirements::version::KarpenterVersion,
    target::Product,
};

const ROLE: &str = "AWSServiceRoleForEC2Spot";

/// From here on Karpenter falls back to on-demand where a pool allows it
/// (`AuthFailure.ServiceLinkedRoleCreationNotPermitted` counts as missing capacity;
/// `pkg/errors/errors.go` at v1.5.0).
const FALLS_BACK: KarpenterVersion = KarpenterVersion::new(1, 5, 0);

pub static CHECK: Check = Check {
    id: "spot-service-linked-role",
    title: "The account has the service-linked role for EC2 Spot",
    area: Area::Launch,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &["spot-service-linked-role"],
    needs: &["iam:GetRole"],
    doc: "\
## What
The account has the role `AWSServiceRoleForEC2Spot`.

## Why
EC2 Spot acts through it. EC2 creates it with the first Spot request only if the requester may
call `iam:CreateServiceLinkedRole`, and no Karpenter policy grants that. A NodePool without a
capacity-type requirement tries Spot first. Before Karpenter 1.5 the launch fails; since then
it falls back to on-demand where the NodePool allows it, and costs more without a word.

For EKS Auto Mode the cluster role's `AmazonEKSComputePolicy` grants it
(<https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonEKSComputePolicy.html>): the
role is made with the first Spot launch, so its absence is no fault there.

## Seen as
`AuthFailure.ServiceLinkedRoleCreationNotPermitted` in the NodeClaim's events.

## Fix
Create the role once per account: `aws iam create-service-linked-role --aws-service-name
spot.amazonaws.com`.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let role = cx.facts.spot_role.found();
    let judge = || match role? {
        Some(role) => Ok(Finding::pass(format!("{} exists", role.arn))),
        None if cx.target.runs(Product::Karpenter) => Ok(missing(cx)),
        None => Err(Stop::skipped(
            "the role does not exist yet, and EKS Auto Mode creates it with the first Spot launch, \
             unless a service control policy or a policy of your own forbids the cluster role \
             iam:CreateServiceLinkedRole",
        )),
    };
    Ok(vec![Judged::new(ROLE, judge).of_role(ROLE)])
}

fn missing(cx: &Context<'_>) -> Finding {
    let seen = format!("The account has no role {ROLE}.");
    let finding = if cx.karpenter() < FALLS_BACK {
        let version = cx.karpenter();
        Finding::fail(
            seen,
            format!(
                "Karpenter {version} fails every launch that tries Spot, which a NodePool \
                 without a capacity-type requirement does first."
            ),
        )
    } else if let Some(pool) = spot_only(cx) {
        Finding::fail(
            seen,
            format!("NodePool {pool} allows Spot only: Karpenter launches nothing for it."),
        )
    } else {
        Finding::warn(
            seen,
            "Karpenter's Spot launches fail. A NodePool that also allows on-demand runs on the dearer \
             on-demand instances; one that allows only Spot launches nothing.",
        )
    };
    finding
        .errors(&["spot-service-linked-role"])
        .evidence(
            "iam:GetRole",
            format!("/aws-service-role/spot.amazonaws.com/{ROLE}"),
            "NoSuchEntity",
        )
        .mend(
            Remedy::new("Create the service-linked role, once per account.")
                .run("aws iam create-service-linked-role --aws-service-name spot.amazonaws.com"),
        )
}

/// A NodePool of Karpenter's that allows Spot only.
fn spot_only<'a>(cx: &Context<'a>) -> Option<&'a str> {
    let pools = cx.kubernetes().ok()?.node_pools.value()?;
    let only = |pool: &&NodePool| {
        let types = Values::of(pool, "karpenter.sh/capacity-type");
        pool.node_class.group != "eks.amazonaws.com"
            && types.allows("spot")
            && !types.allows("on-demand")
            && !types.allows("reserved")
    };
    pools.iter().find(only).map(|pool| pool.meta.name.as_str())
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
        let denied = json!({"denied": {"action": "iam:GetRole", "message": "not authorized"}});
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("there", json!({}), &[(Status::Pass, ROLE)]),
                (
                    "missing, falls back",
                    json!({"facts": {"spot_role": "absent"}}),
                    &[(Status::Warn, ROLE)],
                ),
                (
                    "missing, an old controller",
                    json!({"facts": {"spot_role": "absent"}, "scope": {"karpenter_version": "1.4.0"}}),
                    &[(Status::Fail, ROLE)],
                ),
                (
                    "not readable",
                    json!({"facts": {"spot_role": denied}}),
                    &[(Status::Unknown, ROLE)],
                ),
            ],
        );
        let pool = |types: &[&str]| {
            json!({"facts": {"spot_role": "absent", "kubernetes": {"node_pools": {"known": [
                {"meta": {"name": "default"}, "requirements": [
                    {"key": "karpenter.sh/capacity-type", "operator": "In", "values": types}]}]}}}})
        };
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[
                ("both", pool(&["spot", "on-demand"]), &[(Status::Warn, ROLE)]),
                ("Spot only", pool(&["spot"]), &[(Status::Fail, ROLE)]),
            ],
        );
        assert_rows(
            Account::AutoMode,
            &CHECK,
            &[
                ("there", json!({}), &[(Status::Pass, ROLE)]),
                (
                    "not there yet",
                    json!({"facts": {"spot_role": "absent"}}),
                    &[(Status::Skipped, ROLE)],
                ),
                (
                    "not readable",
                    json!({"facts": {"spot_role": denied}}),
                    &[(Status::Unknown, ROLE)],
                ),
                (
                    "Karpenter beside it",
                    json!({"facts": {"spot_role": "absent"}, "scope": {"karpenter_version": "1.4.0"}}),
                    &[(Status::Fail, ROLE)],
                ),
            ],
        );
    }
}
