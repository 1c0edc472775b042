//! The controller's service account is bound to its role, and its pods know it.

mod annotation;
mod mend;
#[cfg(test)]
mod tests;

use super::{
    credentials::{CREDENTIALS_URI, no_credentials},
    running::{self, ROLE_ANNOTATION, Running},
};
use crate::{
    checks::{Area, Check, Context, Stop, Verdicts, remedies::listed},
    facts::{arn, eks::PodIdentityAssociation, kubernetes::controller::Pod},
    outcome::{Finding, FindingStatus},
    requirements::version::KarpenterVersion,
    target::Product,
};

pub const ROLE_ARN: &str = "AWS_ROLE_ARN";
/// From here on with the second SDK, which words a want of credentials otherwise …
const SECOND_SDK: KarpenterVersion = KarpenterVersion::new(1, 1, 0);
/// … and before these a queue that is not seen ends the process (v0.33.0 to v1.3.8).
pub(super) const QUEUE_PANICS: [KarpenterVersion; 2] =
    [KarpenterVersion::new(0, 33, 0), KarpenterVersion::new(1, 4, 0)];

pub static CHECK: Check = Check {
    id: "controller-identity",
    title: "The controller's service account is bound to its role",
    area: Area::Controller,
    products: &[Product::Karpenter],
    errors: &[
        "non-existent-queue",
        "no-credential-providers",
        "ec2-metadata-no-credentials",
        "ec2-connectivity-check-failed",
        "web-identity-denied",
        "unauthorized-operation",
    ],
    needs: &[
        "eks:DescribePodIdentityAssociation",
        "eks:ListPodIdentityAssociations",
        "iam:GetRole",
    ],
    doc: "\
## What
The service account that Karpenter's Deployment runs with has a pod identity association, or the
annotation `eks.amazonaws.com/role-arn` with the whole ARN of a role of the cluster's account that
exists and lets this service account in. The running pods carry what EKS sets for such a service
account: `AWS_CONTAINER_CREDENTIALS_FULL_URI` or `AWS_ROLE_ARN`.

## Why
EKS looks at the service account only when a pod is made. With no annotation, or an empty one, it
sets nothing, and the controller falls back on the role of its node: calls that nodes may make
succeed, and the first one of Karpenter's own fails, mostly at the queue. Mending the binding does
not help pods that run already. Where a service account has both, the association wins.

## Seen as
A pod in CrashLoopBackOff with `AWS.SimpleQueueService.NonExistentQueue`,
`NoCredentialProviders` or `no EC2 IMDS role found`. The pod has no mount
`/var/run/secrets/eks.amazonaws.com/serviceaccount`.

## Fix
Bind the service account, in the chart's values too (`serviceAccount.annotations`; see that the
shell variable is set), and restart the Deployment.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    running::each(cx, judge)
}

/// How the service account comes by a role.
#[derive(Clone, Copy)]
enum Binding<'a> {
    Association(&'a PodIdentityAssociation),
    Annotation(&'a str),
}

fn judge(running: &Running<'_>) -> Result<Finding, Stop> {
    let Some(account) = running.service_account()? else { return Ok(no_account(running)) };
    let written = account.annotations.get(ROLE_ANNOTATION).map(|value| value.trim());
    let annotation = written.filter(|value| !value.is_empty());
    match (annotation, running.association()) {
        (None, Ok(None)) => unbound(running, written.is_some()),
        (None, Err(stop)) => Err(stop),
        (None, Ok(Some(association))) => Ok(injected(running, Binding::Association(association))),
        (Some(arn), Ok(Some(association))) => Ok(both(running, arn, association)),
        (Some(arn), Ok(None)) => annotation::judge(running, arn),
        // An association that was not read would win.
        (Some(arn), Err(stop)) => match annotation::judge(running, arn)? {
            finding if finding.status == FindingStatus::Pass => Ok(finding),
            _ => Err(stop),
        },
    }
}

fn no_account(running: &Running<'_>) -> Finding {
    let path = running.service_account_path();
    no_credentials(
        FindingStatus::Fail,
        format!("{} runs with the service account {path}, which does not exist.", running.name()),
    )
    .errors(&errors(running))
    .evidence("get serviceaccount", &path, "not found")
    .mend(mend::bind(running, "Create the service account, as the chart does, and bind it."))
}

/// Neither way leads to a role.
fn unbound(running: &Running<'_>, empty: bool) -> Result<Finding, Stop> {
    if !running.deployment.env_from.is_empty() {
        return Err(Stop::unknown(format!(
            "the service account {} is bound to no role; whether {} holds credentials is not read",
            running.service_account_path(),
            listed(&running.deployment.env_from)
        )));
    }
    let path = running.service_account_path();
    let mut seen = match empty {
        true => format!(
            "The annotation {ROLE_ANNOTATION} of the service account {path} is empty, as by a \
             shell variable that was not set, and it has no pod identity association."
        ),
        false => format!(
            "The service account {path} has neither the annotation {ROLE_ANNOTATION} nor a pod \
             identity association."
        ),
    };
    if let Some(other) = other_association(running) {
        seen += &format!(
            " {} is associated with {}/{}.",
            other.role_arn, other.namespace, other.service_account
        );
    }
    let mut status = FindingStatus::Fail;
    if running.all_ready() {
        status = FindingStatus::Warn;
        seen += " Its pods are ready all the same: they work with credentials of their node or of \
                 their own.";
    }
    let value = if empty { "empty" } else { "none" };
    let finding = no_credentials(status, seen)
        .errors(&errors(running))
        .evidence("get serviceaccount", format!("{path} annotations"), value)
        .evidence("eks:ListPodIdentityAssociations", &path, "none");
    Ok(finding.mend(mend::bind(running, "Bind the service account to the controller's role.")))
}

/// The association of a role of the controller's with another service account.
fn other_association<'a>(running: &Running<'a>) -> Option<&'a PodIdentityAssociation> {
    let roles = &running.cx.target.controller_roles;
    let all = super::associations(running.cx).ok()?;
    all.into_iter().find(|association| {
        roles.iter().any(|role| role.value == arn::role_name(&association.role_arn))
    })
}

/// Where both are there, EKS sets what belongs to the association
/// (amazon-eks-pod-identity-webhook, `pkg/handler/handler.go`).
fn both(running: &Running<'_>, annotated: &str, association: &PodIdentityAssociation) -> Finding {
    let finding = injected(running, Binding::Association(association));
    let same = arn::role_name(annotated) == arn::role_name(&association.role_arn);
    if finding.status != FindingStatus::Pass || same {
        return finding;
    }
    let path = running.service_account_path();
    Finding::warn(
        format!(
            "The service account {path} is annotated with {annotated} and associated with {}.",
            association.role_arn
        ),
        "New pods get the association's role, whatever the annotation says: what you allow to the \
         other role is not allowed to the controller.",
    )
    .errors(&["unauthorized-operation"])
    .evidence("get serviceaccount", ROLE_ANNOTATION, annotated)
    .evidence("eks:DescribePodIdentityAssociation", "roleArn", &association.role_arn)
    .mend(mend::one_of_both(running, association))
}

/// Whether the pods carry what EKS sets for the binding.
fn injected(running: &Running<'_>, binding: Binding<'_>) -> Finding {
    let path = running.service_account_path();
    let (variable, bound) = match binding {
        Binding::Association(association) => {
            (CREDENTIALS_URI, format!("associated with {}", association.role_arn))
        }
        Binding::Annotation(annotated) => (ROLE_ARN, format!("annotated with {annotated}")),
    };
    let lacks = |pod: &&&Pod| match binding {
        Binding::Association(_) => running.env(pod, CREDENTIALS_URI).is_none(),
        Binding::Annotation(annotated) => running.env(pod, ROLE_ARN) != Some(annotated),
    };
    let old: Vec<_> = running.pods.iter().filter(lacks).copied().collect();
    let Some(first) = old.first() else {
        let pods = match running.pods.len() {
            0 => "it has no pod yet".to_owned(),
            _ => "its pods know it".to_owned(),
        };
        return Finding::pass(format!("{path} is {bound}, and {pods}"));
    };
    let carries = match running.env(first, variable).or(running.env(first, ROLE_ARN)) {
        Some(value) => format!("carries {value}"),
        None => format!("carries no {variable}"),
    };
    let names: Vec<_> = old.iter().map(|pod| pod.meta.name.as_str()).collect();
    let status = match old.iter().all(|pod| pod.ready) {
        true => FindingStatus::Warn,
        false => FindingStatus::Fail,
    };
    let seen = format!(
        "The service account {path} is {bound}, and {} {carries}: EKS sets it when a pod is made, \
         so made before that are {}.",
        first.meta.name,
        listed(&names)
    );
    let made = first.meta.created.map_or("not known".to_owned(), |created| created.to_string());
    no_credentials(status, seen)
        .errors(&errors(running))
        .evidence("get pod", format!("{} creationTimestamp", first.meta.name), made)
        .mend(mend::restart(running))
}

/// What a controller without credentials of its own prints.
fn errors(running: &Running<'_>) -> Vec<&'static str> {
    let version = running.cx.karpenter();
    let queue = running.deployment.env.get("INTERRUPTION_QUEUE").is_some_and(|q| !q.is_empty());
    let mut errors = Vec::new();
    if queue && (QUEUE_PANICS[0]..QUEUE_PANICS[1]).contains(&version) {
        errors.push("non-existent-queue");
    }
    errors.push(match version < SECOND_SDK {
        true => "no-credential-providers",
        false => "ec2-metadata-no-credentials",
    });
    errors.push("ec2-connectivity-check-failed");
    errors
}
