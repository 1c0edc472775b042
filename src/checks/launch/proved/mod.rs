//! Dry runs of a launch with the controller's own credentials: what no reading of policies shows.

mod plan;
mod refused;
#[cfg(test)]
mod tests;

use crate::{
    checks::{Area, Check, Context, Judged, Stop, Verdicts, remedies::listed},
    facts::{
        Fact, arn,
        proof::{Answer, DryRun, Launch, Proof, Session},
    },
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
dry run does not try capacity, quotas, keys of volumes or the node's way into the cluster.

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
        for (subject, planned) in &launches {
            let shown = if several { format!("{}/{subject}", proof.role) } else { subject.clone() };
            judged.push(Judged::new(shown, || match planned {
                Ok(_) => launch(cx, proof, subject),
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

fn launch(cx: &Context<'_>, proof: &Proof, subject: &str) -> Result<Finding, Stop> {
    let found = proof.launches.iter().find(|launch| launch.subject == subject);
    let launch = found.ok_or_else(|| Stop::unknown("it was not tried"))?;
    let refusals: Vec<_> = launch.answers.iter().filter_map(refused::of).collect();
    if let Some(finding) = refused::finding(cx, proof, launch, &refusals) {
        return Ok(finding);
    }
    if let Some(refusal) = refusals.first() {
        return Err(Stop::unknown(format!(
            "{} was answered with {}, which says nothing of permissions: {}",
            refusal.answer.action, refusal.code, refusal.message
        )));
    }
    for answer in &launch.answers {
        answer.said.known()?;
    }
    Ok(passed(proof, launch))
}

fn passed(proof: &Proof, launch: &Launch) -> Finding {
    let mut actions: Vec<&str> = Vec::new();
    for answer in &launch.answers {
        if !actions.contains(&answer.action.as_str()) {
            actions.push(&answer.action);
        }
    }
    let profile = match &launch.instance_profile {
        Some(_) => "",
        None => "; without an instance profile, as none is there yet",
    };
    let how = match proof.session.value() {
        Some(Session::Own) => "as which this runs",
        Some(Session::WebIdentity) => "with a token of the controller's service account",
        _ => "assumed by the caller",
    };
    let finding = Finding::pass(format!(
        "AWS would let {}, {how}, make {} for a {} in {} subnet{}{profile}.",
        proof.role,
        listed(&actions),
        launch.instance_type,
        launch.subnets.len(),
        if launch.subnets.len() == 1 { "" } else { "s" },
    ));
    launch.answers.iter().fold(finding, with_evidence)
}

fn with_evidence(finding: Finding, answer: &Answer) -> Finding {
    let path = match &answer.subnet {
        Some(subnet) => format!("dry run in {subnet}"),
        None => "dry run".to_owned(),
    };
    let value = match answer.said.value() {
        Some(DryRun::Allowed) => "DryRunOperation",
        Some(DryRun::Refused { code, .. }) => code,
        None => "no answer",
    };
    finding.evidence(answer.action.clone(), path, value)
}
