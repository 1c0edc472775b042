//! Dry runs of a launch with the controller's own credentials: what no reading of policies shows.

mod plan;
mod refused;
#[cfg(test)]
mod tests;
mod tried;

use crate::{
    checks::{Area, Check, Context, Judged, Stop, Verdicts},
    facts::{Fact, arn, proof::Proof},
    outcome::{Finding, Unknown},
    target::Product,
};
pub use plan::questions;

pub static CHECK: Check = Check {
    id: "proved-launch",
    title: "AWS lets the controller launch, as dry runs prove",
    area: Area::Launch,
    products: &[Product::Karpenter],
    errors: &[
        "unauthorized-operation",
        "create-fleet-auth-check-failed",
        "create-launch-template-auth-check-failed",
        "run-instances-auth-check-failed",
        "denied-by-organization-policy",
        "denied-by-resource-control-policy",
        "denied-by-permissions-boundary",
        "denied-by-endpoint-policy",
        "denied-by-session-policy",
        "pass-role-denied",
        "web-identity-denied",
        "no-openid-connect-provider",
        "instance-profile-name-invalid",
        "ami-invalid",
        "ami-not-authorized",
        "not-a-valid-tag-key",
        "imdsv1-refused",
        "security-group-subnet-vpc-mismatch",
        "too-many-security-groups",
        "launch-resource-gone",
        "invalid-block-device-mapping",
        "marketplace-terms-not-accepted",
        "account-pending-verification",
        "account-blocked",
    ],
    needs: &[
        "sts:GetCallerIdentity",
        "eks:DescribeCluster",
        "iam:GetRole",
        "ec2:DescribeSubnets",
        "ec2:DescribeSecurityGroups",
        "ssm:GetParameters",
    ],
    doc: "\
## What
Only with `--prove`: the tool gets credentials of the controller's role and makes the calls of a
launch with them as dry runs, `ec2:CreateLaunchTemplate`, `ec2:CreateFleet` and, in each subnet,
`ec2:RunInstances`, with the image, security groups, instance profile, metadata options, volumes and
tags of each EC2NodeClass. AWS answers whether the call would go through, and makes nothing.

The credentials come from a token of the controller's service account (IRSA), from `sts:AssumeRole`
where the role trusts the caller, or they are the caller's own where this runs as the controller's
role. EKS Pod Identity gives its credentials to pods only, so there run it in a pod with the
controller's service account. `docs/proving-a-launch.md` says what this needs, and what it risks.

## Why
It is the only proof that covers what cannot be read from inside of the account: service control
and resource control policies, declarative policies, policies of sessions and of VPC endpoints. A
dry run does not try capacity, quotas, keys of volumes or the node's way into the cluster: where
EC2 answers with one of those for a subnet all the same, it is told and not held against the role.

## Seen as
`Controller isn't authorized to call ec2:RunInstances`, `UnauthorizedOperation`, and whatever else
EC2 says to the request.

## Fix
What refuses stands in the finding: the layer, and where AWS names it the policy.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    if matches!(cx.facts.proofs, Fact::NotAsked { .. }) {
        return Err(Stop::skipped("not asked for: add --prove"));
    }
    let proofs = cx.facts.proofs.known()?;
    if proofs.is_empty() && cx.target.controller_roles.is_empty() {
        return Err(Stop::unknown(
            "no role of the controller was found to prove a launch with; name it with \
             --controller-role",
        ));
    }
    let launches = plan::launches(cx)?;
    let several = proofs.len() > 1;
    let mut judged = Vec::new();
    for proof in proofs {
        if let Some(verdict) = without_session(cx, proof) {
            judged.push(Judged::new(&proof.role, || verdict).of_role(&proof.role));
            continue;
        }
        for planned in &launches {
            let subject = &planned.subject;
            let shown = if several { format!("{}/{subject}", proof.role) } else { subject.clone() };
            judged.push(Judged::new(shown, || match &planned.launch {
                Ok(_) => tried::launch(cx, proof, planned),
                Err(stop) => Err(stop.clone()),
            }));
        }
    }
    judged.extend(unproved(cx, proofs));
    Ok(judged)
}

/// The controller's roles that no launch was tried as, and why.
fn unproved(cx: &Context<'_>, proofs: &[Proof]) -> Vec<Judged> {
    let is_proved = |name: &str| proofs.iter().any(|proof| proof.role == name);
    let names = cx.target.controller_roles.iter().map(|role| arn::role_name(&role.value));
    let mut judged = Vec::new();
    for name in names.filter(|name| !is_proved(name)) {
        let stop = match plan::asker(cx, name) {
            // An association may lead to another role.
            Ok(asker) if is_proved(&asker.role) => continue,
            Ok(_) => Stop::unknown("it was not tried"),
            Err(Stop::Skipped(why)) => Stop::unknown(why),
            Err(unknown) => unknown,
        };
        judged.push(Judged::new(name, || Err(stop)).of_role(name));
    }
    judged
}

/// The verdict where there were no credentials of the role. With the service account's own token
/// it is the controller itself that gets none.
fn without_session(cx: &Context<'_>, proof: &Proof) -> Option<Result<Finding, Stop>> {
    const WEB_IDENTITY: &str = "sts:AssumeRoleWithWebIdentity";
    Some(match &proof.session {
        Fact::Known(_) => return None,
        Fact::Denied { action, message } | Fact::Failed { action, message }
            if action == WEB_IDENTITY =>
        {
            refused::no_session(cx, &proof.role, message)
                .ok_or_else(|| Stop::unknown(format!("{WEB_IDENTITY} failed: {message}")))
        }
        Fact::Denied { action, message } if action == "sts:AssumeRole" => {
            Err(Stop::Unknown(Unknown {
                missing_action: Some(action.clone()),
                ..Unknown::new(format!(
                    "{} does not let you assume it ({message}), and no other way to its credentials \
                     is open from here: run this in a pod with the controller's service account",
                    proof.role
                ))
            }))
        }
        unseen => Err(unseen
            .known()
            .err()
            .map_or_else(|| Stop::unknown("there are no credentials of the role"), Stop::from)),
    })
}
