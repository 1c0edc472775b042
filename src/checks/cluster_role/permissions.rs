//! EKS Auto Mode may do its work as the cluster's role.

use super::existing;
use crate::{
    checks::{
        Area, Check, Context, Judged, Stop, Verdicts,
        permissions::{Answers, Grants, ROLE_POLICIES, Refused, Who, without_policy},
        remedies::quote,
        setup::setup,
    },
    facts::{arn, iam::Role},
    outcome::Remedy,
    requirements::{
        self,
        policy::Layout,
        role::{self, Kind},
    },
    target::Product,
};

pub static CHECK: Check = Check {
    id: "cluster-role-permissions",
    title: "EKS Auto Mode may do its work as the cluster's role",
    area: Area::Controller,
    products: &[Product::AutoMode],
    errors: &[
        "instance-profile-creation-failed",
        "launch-template-configs",
        "create-fleet-denied",
        "launch-unauthorized",
        "create-tags-denied",
        "spot-service-linked-role",
        "unauthorized-operation",
    ],
    needs: &["eks:DescribeCluster", ROLE_POLICIES],
    doc: "\
## What
The policies of the cluster's role, inside its permissions boundary, allow what Auto Mode does in
its name: instance profiles, launch templates, fleets, network interfaces, volumes and load
balancers, each with the tags that EKS sets.

## Why
A cluster made before Auto Mode has a role with one policy; Auto Mode needs the permissions of
five. Policies of your own serve as well as AWS's: only what they allow counts, not their names.
Policies of the organisation (SCPs, RCPs) count where they can be read, which a member account
seldom may; where not, a note says so.

## Seen as
NodeClass condition `InstanceProfileReady` false, reason `InstanceProfileCreationFailed`; NodeClaims
with `Error getting launch template configs` or `Error creating fleet`.

## Fix
Attach the AWS-managed policies of Auto Mode to the cluster's role.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let name = arn::role_name(&cx.cluster()?.role_arn);
    Ok(judge(cx).unwrap_or_else(|stop| vec![Judged::new(name, || Err(stop)).of_role(name)]))
}

fn judge(cx: &Context<'_>) -> Result<Vec<Judged>, Stop> {
    let role = existing(cx)?;
    let setup = setup(cx, Product::AutoMode)?;
    let who = Who {
        role: &role.name,
        asker: "EKS Auto Mode".to_owned(),
        cluster: &cx.target.cluster,
        errors: CHECK.errors,
    };
    let answers = Answers::to(requirements::auto_mode(&setup), &Grants::of(cx, role)?);
    Ok(who.findings(answers, |refused| mend(cx, role, refused)))
}

fn mend(cx: &Context<'_>, role: &Role, refused: &[Refused]) -> Remedy {
    if let Some(remedy) = without_policy(role, refused) {
        return remedy;
    }
    let Ok(setup) = setup(cx, Product::AutoMode) else { return Remedy::new("") };
    let printed = role::print(Kind::AutoModeCluster, cx.karpenter(), &setup, Layout::Fit);
    let attached = cx.facts.role_policies.get(&role.name).map(|policies| &policies.attached);
    let attached: Vec<_> = attached.and_then(|a| a.value()).into_iter().flatten().collect();
    let words = format!(
        "Attach AWS's policies for Auto Mode to {}, or allow the same in policies of your own.",
        role.name
    );
    let missing = printed.managed.iter().filter(|arn| !attached.contains(arn));
    missing.fold(Remedy::new(words), |remedy, arn| {
        remedy.run(format!(
            "aws iam attach-role-policy --role-name {} --policy-arn {arn}",
            quote(&role.name)
        ))
    })
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
        let managed = |names: &[&str]| {
            let arns: Vec<_> =
                names.iter().map(|name| format!("arn:aws:iam::aws:policy/{name}")).collect();
            json!({"facts": {"role_policies": {"demo-cluster": {"attached": {"known": arns}}}}})
        };
        let denied = json!({"denied": {"action": "iam:GetPolicyVersion", "message": "no"}});
        let star = json!({"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Action": "*", "Resource": "*"}});
        let of_ones_own = json!({"facts": {"role_policies": {"demo-cluster": {
            "attached": {"known": []}, "inline": {"known": {"all": {"known": star.to_string()}}}}}}});
        let (launches, nodes, rest) = (
            (Status::Fail, "demo-cluster (stops-launches)"),
            (Status::Fail, "demo-cluster (stops-nodes)"),
            (Status::Warn, "demo-cluster (degrades)"),
        );
        assert_rows(
            Account::AutoMode,
            &CHECK,
            &[
                ("AWS's policies", json!({}), &[(Status::Pass, "demo-cluster")]),
                ("a policy of one's own", of_ones_own, &[(Status::Pass, "demo-cluster")]),
                (
                    "as before Auto Mode",
                    managed(&["AmazonEKSClusterPolicy"]),
                    &[launches, nodes, rest],
                ),
                (
                    "without the network's",
                    managed(&[
                        "AmazonEKSClusterPolicy",
                        "AmazonEKSComputePolicy",
                        "AmazonEKSBlockStoragePolicy",
                        "AmazonEKSLoadBalancingPolicy",
                    ]),
                    &[nodes],
                ),
                (
                    "one is not readable",
                    json!({"facts": {"policies": {"arn:aws:iam::aws:policy/AmazonEKSComputePolicy": denied}}}),
                    &[(Status::Unknown, "demo-cluster")],
                ),
                (
                    "no role",
                    json!({"facts": {"roles": {"demo-cluster": "absent"}}}),
                    &[(Status::Skipped, "demo-cluster")],
                ),
            ],
        );
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[("another product", json!({}), &[(Status::Skipped, "demo")])],
        );
    }
}
