//! The controller gets the credentials of its role.

use super::{
    all_read, associations, credentials::no_credentials, is_controllers, role_not_found, running,
};
use crate::{
    checks::{
        Area, Check, Context, Judged, Stop, Verdicts,
        controller::irsa::Irsa,
        remedies::quote,
        trust::{Assumption, Refused, culprit, read},
    },
    facts::{eks::PodIdentityAssociation, iam::Role},
    outcome::{Finding, FindingStatus, Remedy},
    target::Product,
};

/// The same in every partition.
const PODS: &str = "pods.eks.amazonaws.com";
const ACTIONS: &[&str] = &["sts:AssumeRole", "sts:TagSession"];

pub static CHECK: Check = Check {
    id: "controller-trust",
    title: "The controller gets the credentials of its role",
    area: Area::Controller,
    products: &[Product::Karpenter],
    errors: &[
        "ec2-connectivity-check-failed",
        "web-identity-denied",
        "no-openid-connect-provider",
        "pod-identity-credentials-failed",
        "no-credential-providers",
    ],
    needs: &[
        "eks:DescribePodIdentityAssociation",
        "eks:ListPodIdentityAssociations",
        "iam:GetOpenIDConnectProvider",
        "iam:GetRole",
    ],
    doc: "\
## What
One of the two ways to a role is open to the controller's service account, `karpenter` in
`kube-system` unless you say otherwise:

- EKS Pod Identity: an association of the service account with the role, and a trust policy that
  lets `pods.eks.amazonaws.com` call `sts:AssumeRole` and `sts:TagSession` (for the agent see
  `pod-identity-agent`);
- IAM roles for service accounts: an IAM OIDC provider for the cluster's issuer with the audience
  `sts.amazonaws.com`, and a trust policy that lets in tokens of that issuer for this namespace
  and service account. Condition keys begin with the issuer's host and path, not with an ARN.

## Why
A service account of another name or namespace, the issuer of a cluster that was recreated, a `*`
under `StringEquals`: whatever it is, the controller has no credentials, and ends at its first
call. What Kubernetes says of the service account and its pods is for `controller-identity`.

## Seen as
`ec2 api connectivity check failed` or `Not authorized to perform sts:AssumeRoleWithWebIdentity`
in the controller's log, and a pod in CrashLoopBackOff.

## Fix
`aws eks create-pod-identity-association`, or `aws iam update-assume-role-policy` with the
document of the finding.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    if cx.target.controller_roles.is_empty() {
        all_read(cx)?;
        return Err(match cx.target.before_install() {
            true => Stop::skipped("there is no controller role yet"),
            false => role_not_found(cx),
        });
    }
    let names = cx.target.controller_roles.iter().map(|role| role.value.as_str());
    Ok(names.map(|name| Judged::new(name, || judge(cx, name)).of_role(name)).collect())
}

fn judge(cx: &Context<'_>, name: &str) -> Result<Finding, Stop> {
    let Some(role) = cx.role(name)? else { return Ok(gone(cx, name)) };
    let all = associations(cx)?;
    let exact = all.iter().find(|found| is_controllers(cx, found) && found.role_arn == role.arn);
    if let Some(association) = exact {
        return by_pod_identity(cx, role, association);
    }
    let irsa = Irsa::of(cx, role)?;
    if irsa.is_meant() {
        return irsa.judge();
    }
    let (namespace, account) = (&cx.target.namespace.value, &cx.target.service_account.value);
    if running::is_unbound(cx, namespace, account) {
        return Err(Stop::skipped(
            "the service account of the controller is bound to no role; see controller-identity",
        ));
    }
    let other = all.iter().find(|association| association.role_arn == role.arn);
    unbound(cx, role, other.copied())
}

fn by_pod_identity(
    cx: &Context<'_>,
    role: &Role,
    association: &PodIdentityAssociation,
) -> Result<Finding, Stop> {
    let account = cx.account().unwrap_or_default();
    let cluster_arn = cx.facts.cluster.value().map_or("", |cluster| cluster.arn.as_str());
    let mut sent = vec![("aws:SourceAccount", account)];
    if !association.session_tags_disabled {
        sent.extend([
            ("aws:RequestTag/eks-cluster-arn", cluster_arn),
            ("aws:RequestTag/eks-cluster-name", cx.target.cluster.as_str()),
            ("aws:RequestTag/kubernetes-namespace", association.namespace.as_str()),
            ("aws:RequestTag/kubernetes-service-account", association.service_account.as_str()),
        ]);
    }
    sent.retain(|(_, value)| !value.is_empty());
    let organization = &cx.facts.organization;
    let assumption =
        Assumption { role, organization, service: PODS, actions: ACTIONS, sent: &sent };
    let refused = assumption.refused()?;
    let Some(first) = refused.first() else {
        return Ok(Finding::pass(format!(
            "{}/{} is associated with {}, which trusts {PODS}",
            association.namespace, association.service_account, role.name
        )));
    };
    let actions: Vec<_> = refused.iter().map(|refused| refused.action).collect();
    let (api, path) = read(&first.decision);
    Ok(no_credentials(
        FindingStatus::Fail,
        format!(
            "{} does not let {PODS} call {}, which the association {} needs.",
            culprit(role, refused.iter().all(Refused::by_organization)),
            actions.join(" and "),
            association.id
        ),
    )
    .errors(&["pod-identity-credentials-failed", "ec2-connectivity-check-failed"])
    .evidence(api, path, format!("{}: {}", first.action, first.decision))
    .mend(assumption.mend()))
}

/// Neither way leads from the service account to the role.
fn unbound(
    cx: &Context<'_>,
    role: &Role,
    other: Option<&PodIdentityAssociation>,
) -> Result<Finding, Stop> {
    let (namespace, account) = (&cx.target.namespace.value, &cx.target.service_account.value);
    let mut seen = format!(
        "No pod identity association gives {} to {namespace}/{account}, and its trust policy lets \
         no service account in.",
        role.name
    );
    if let Some(other) = other {
        seen = format!(
            "{} is associated with {}/{}, not with {namespace}/{account}.",
            role.name, other.namespace, other.service_account
        );
    }
    let status = match cx.target.before_install() {
        true => FindingStatus::Warn,
        false => FindingStatus::Fail,
    };
    let command = format!(
        "aws eks create-pod-identity-association --cluster-name {} --region {} --namespace \
         {namespace} --service-account {account} --role-arn {}",
        quote(&cx.target.cluster),
        cx.region(),
        quote(&role.arn)
    );
    let sent = [];
    let organization = &cx.facts.organization;
    let assumption =
        Assumption { role, organization, service: PODS, actions: ACTIONS, sent: &sent };
    let mut remedy = Remedy::new(format!(
        "Associate the role with {namespace}/{account}; or, if Karpenter runs in another namespace \
         or under another service account, say so with --namespace and --service-account."
    ));
    if assumption.refused().is_ok_and(|refused| !refused.is_empty()) {
        remedy.steps.extend(assumption.mend().steps);
    }
    Ok(no_credentials(status, seen)
        .errors(&["ec2-connectivity-check-failed", "no-credential-providers"])
        .evidence(
            "eks:ListPodIdentityAssociations",
            "associations",
            other.map_or("none", |o| &o.id),
        )
        .mend(remedy.run(command)))
}

fn gone(cx: &Context<'_>, name: &str) -> Finding {
    let status = match cx.target.before_install() {
        true => FindingStatus::Warn,
        false => FindingStatus::Fail,
    };
    no_credentials(status, format!("The controller's role {name} does not exist."))
        .errors(&["ec2-connectivity-check-failed", "web-identity-denied"])
        .evidence("iam:GetRole", name, "NoSuchEntity")
        .mend(Remedy::new(
            "Create the role as the installer does that you use, or name the right one with \
             --controller-role.",
        ))
}

#[cfg(test)]
mod tests;
