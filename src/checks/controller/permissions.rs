//! The controller may make the requests of its version.

use super::{Controller, each};
use crate::{
    checks::{
        Area, Check, Context, Judged, Stop, Verdicts,
        permissions::{
            Answers, ROLE_POLICIES, Refused, Who, add_policies, statements_for, without_policy,
        },
        remedies::listed,
        setup::{distinct_requests, queues, setup, setups},
    },
    iam::Principal,
    outcome::{Finding, FindingStatus, Remedy, Unknown},
    requirements::{
        self, Request, Setup,
        policy::{self, Layout},
    },
    target::{Product, QueueTarget},
};

pub static CHECK: Check = Check {
    id: "controller-permissions",
    title: "The controller may make the requests of its version",
    area: Area::Controller,
    products: &[Product::Karpenter],
    errors: &[
        "ec2-connectivity-check-failed",
        "cluster-endpoint-not-resolved",
        "describe-cluster-denied",
        "instance-types-not-described",
        "validating-kubernetes-version",
        "queue-access-denied",
        "amis-not-readable",
        "subnets-not-readable",
        "security-groups-not-readable",
        "create-fleet-auth-check-failed",
        "create-launch-template-auth-check-failed",
        "run-instances-auth-check-failed",
        "launch-template-configs",
        "create-tags-denied",
        "create-fleet-denied",
        "launch-unauthorized",
        "spot-request-tagging-denied",
        "instance-profile-permission-denied",
        "ssm-parameter-denied",
        "ami-alias-not-resolved",
        "cluster-cidr-not-detected",
        "list-instance-profiles-denied",
        "nodeclass-terminating",
        "terminate-instances-denied",
        "launch-template-not-deleted",
        "describe-instance-status-denied",
        "node-tagging-denied",
        "pricing-not-updated",
        "sqs-provider-not-created",
        "unauthorized-operation",
    ],
    needs: &[
        ROLE_POLICIES,
        "eks:DescribePodIdentityAssociation",
        "eks:ListPodIdentityAssociations",
        "sqs:GetQueueUrl",
    ],
    doc: "\
## What
Each request that this version of Karpenter really makes, with its resources and tags, is allowed
by the policies of the controller's role, inside its permissions boundary and inside the policy of
its pod identity association. `iam:PassRole` is judged on its own, by `controller-pass-role`.

What is refused is grouped by what the refusal does. It fails where the controller does not start,
nodes do not come or do not go; it warns where something is left behind or left undone.

## Why
Every release asks for something else, and tightens the conditions on the tags that it sends. A
policy that is older or newer than the controller, or made for another cluster name, is the most
reported fault of all. With `--karpenter-version` the check looks ahead: it tells what to add
before an upgrade.

Where the cluster can be read, what its NodeClasses and settings use is asked for, with the names and
tags of each NodeClass.

Policies of the organisation (SCPs, RCPs) count where they can be read, which a member account
seldom may; where not, a note says so.

## Seen as
`UnauthorizedOperation: You are not authorized to perform this operation` in the controller's
log, NodeClasses that are not ready, nodes that never come.

## Fix
Give the role the policy of this version; the finding holds it, filled in.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    Ok(each(cx, |controller| judge(cx, controller)))
}

fn judge(cx: &Context<'_>, controller: &Controller<'_>) -> Result<Vec<Judged>, Stop> {
    let setups = setups(cx, Product::Karpenter)?;
    let who = Who {
        role: &controller.role.name,
        asker: format!("Karpenter {}", cx.karpenter()),
        cluster: &cx.target.cluster,
        errors: CHECK.errors,
    };
    let mut answers = Answers::to(requests(cx, &setups), &controller.grants(cx)?);
    answers.unknown.extend(unseen_queue(cx));
    // Permissions do not hang on which NodeClass it is, so that the first one stands for all.
    let setup = setup(cx, Product::Karpenter)?;
    let mut judged = who.findings(answers, |refused| mend(cx, controller, &setup, refused));
    for one in &mut judged {
        say_guess(cx, one);
    }
    Ok(judged)
}

/// A pass for a version that is guessed is no plain pass.
fn say_guess(cx: &Context<'_>, judged: &mut Judged) {
    let Ok(Finding { status: FindingStatus::Pass, seen, .. }) = &mut judged.verdict else { return };
    match cx.guessed_version() {
        Ok(None) => {}
        Ok(Some(guess)) => *seen = format!("{seen}. {guess}"),
        Err(stop) => judged.verdict = Err(stop),
    }
}

fn requests(cx: &Context<'_>, setups: &[Setup]) -> Vec<Request> {
    let of_one = |setup: &Setup| requirements::controller(cx.karpenter(), setup);
    let mut requests = distinct_requests(setups, of_one);
    requests.retain(|request| request.action != "iam:PassRole");
    // Which of several queues is Karpenter's is not known: each must be readable.
    for queue in queues(cx).into_iter().skip(1) {
        let of_other = setups.first().map(|setup| of_one(&reading(setup, &queue)));
        let of_other = of_other.into_iter().flatten();
        requests.extend(of_other.filter(|request| request.resource == queue));
    }
    requests
}

fn reading(setup: &Setup, queue: &str) -> Setup {
    Setup { queue_arn: Some(queue.to_owned()), ..setup.clone() }
}

/// Whether there is a queue decides whether the controller asks for its messages.
fn unseen_queue(cx: &Context<'_>) -> Option<Unknown> {
    if cx.target.queue != QueueTarget::NotSeen {
        return None;
    }
    let unseen = cx.facts.queues.values().find_map(|queue| queue.found().err())?;
    match Stop::from(unseen) {
        Stop::Unknown(unknown) => Some(Unknown {
            why: format!("whether the controller may read its queue: {}", unknown.why),
            ..unknown
        }),
        Stop::Skipped(_) | Stop::LeftOut(_) => None,
    }
}

fn mend(
    cx: &Context<'_>,
    controller: &Controller<'_>,
    setup: &Setup,
    refused: &[Refused],
) -> Remedy {
    let role = controller.role;
    if let Some(remedy) = without_policy(role, refused) {
        return remedy;
    }
    let version = cx.karpenter();
    let refused_queue = queues(cx)
        .into_iter()
        .find(|queue| refused.iter().any(|refused| refused.request.resource == *queue));
    let setup = refused_queue.map_or_else(|| setup.clone(), |queue| reading(setup, &queue));
    let policies = policy::controller(version, &setup, Layout::Fit);
    let mut words = format!(
        "Give {} the policy of Karpenter {version} for this cluster. It holds all that this \
         version asks for, so that an older policy can go.",
        role.name
    );
    let new = Principal::aws(&role.arn).map(|by| statements_for(&policies, refused, &by));
    if let Some(sids) = new.ok().filter(|sids| !sids.is_empty()) {
        let sids: Vec<_> = sids.iter().map(String::as_str).collect();
        words.push_str(&format!(" What is refused here is allowed by {}.", listed(&sids)));
    }
    add_policies(cx, Remedy::new(words), role, &policies)
}

#[cfg(test)]
mod tests;
