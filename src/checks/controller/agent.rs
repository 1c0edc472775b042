//! The agent that hands out the credentials of EKS Pod Identity runs where the controller runs.

use super::{
    associations,
    credentials::{CREDENTIALS_URI, no_credentials},
    irsa::Irsa,
    is_controllers,
    running::{self, ROLE_ANNOTATION, Running},
};
use crate::{
    checks::{Area, Check, Context, Judged, Stop, Verdicts, remedies::quote},
    facts::{arn, eks::PodIdentityAssociation},
    outcome::{Finding, FindingStatus, Remedy},
    target::{Product, names},
};

const ADDON: &str = names::POD_IDENTITY_AGENT;

pub static CHECK: Check = Check {
    id: "pod-identity-agent",
    title: "The Pod Identity agent runs where the controller runs",
    area: Area::Controller,
    products: &[Product::Karpenter],
    errors: &[
        "pod-identity-credentials-failed",
        "no-credential-providers",
        "ec2-metadata-no-credentials",
        "ec2-connectivity-check-failed",
    ],
    needs: &[
        "eks:DescribeAddon",
        "eks:DescribeCluster",
        "eks:DescribePodIdentityAssociation",
        "eks:ListPodIdentityAssociations",
    ],
    doc: "\
## What
Where the controller's service account has a pod identity association, the add-on
`eks-pod-identity-agent` is active, and no pod of the controller runs on Fargate.

## Why
The agent is a DaemonSet: it hands the credentials out on the pod's own node. On Fargate there are
no DaemonSets, so that a pod there never gets credentials by an association. EKS Auto Mode has the
agent built in.

## Seen as
`169.254.170.23/v1/credentials` with `connection refused` in the controller's log, or
`NoCredentialProviders`; the pods never become ready.

## Fix
`aws eks create-addon --addon-name eks-pod-identity-agent`; on Fargate use IAM roles for service
accounts instead.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let all = associations(cx)?;
    let is_its = |association: &&&PodIdentityAssociation| is_controllers(cx, association);
    let Some(association) = all.iter().find(is_its) else {
        return Err(Stop::skipped("the controller has no pod identity association"));
    };
    let subject = format!("{}/{}", association.namespace, association.service_account);
    Ok(vec![Judged::new(subject, || judge(cx, association))])
}

fn judge(cx: &Context<'_>, association: &PodIdentityAssociation) -> Result<Finding, Stop> {
    // Whatever the cluster does not tell: the add-on alone says enough.
    let running = running::all(cx).unwrap_or_default();
    let its = |one: &&Running<'_>| {
        one.namespace() == association.namespace
            && one.service_account_name() == association.service_account
    };
    let running = running.iter().find(its);
    if let Some((one, pod)) = running.and_then(|one| Some((one, one.on_fargate()?))) {
        return Ok(on_fargate(cx, one, association, &pod.meta.name, pod.node.as_deref()));
    }
    if cx.cluster()?.auto_mode.compute {
        return Ok(Finding::pass("EKS Auto Mode has the agent built in"));
    }
    let works = |one: &Running<'_>| {
        let given = one.pods.iter().any(|pod| pod.ready && pod.env.contains_key(CREDENTIALS_URI));
        given && one.all_ready()
    };
    match by_addon(cx, association) {
        // It can be installed without the add-on.
        Ok(finding) if finding.status != FindingStatus::Pass && running.is_some_and(works) => {
            Ok(Finding::pass(format!(
                "{ADDON} is no active add-on, and the controller has its credentials all the same"
            )))
        }
        other => other,
    }
}

fn by_addon(cx: &Context<'_>, association: &PodIdentityAssociation) -> Result<Finding, Stop> {
    let agent = cx.facts.addons.get(ADDON);
    let agent = agent
        .ok_or_else(|| Stop::unknown(format!("these facts do not hold the add-on {ADDON}")))?;
    let (seen, state) = match agent.found()? {
        Some(addon) if addon.status == "ACTIVE" => {
            return Ok(Finding::pass(format!("the add-on {ADDON} is active")));
        }
        Some(addon) => ("is not active", addon.status.as_str()),
        None => ("is not installed", "ResourceNotFoundException"),
    };
    let flags =
        format!("--cluster-name {} --region {}", quote(&cx.target.cluster), quote(cx.region()));
    let remedy = Remedy::new("Install the add-on, or see to its health.");
    let remedy = match state {
        "ResourceNotFoundException" => {
            remedy.run(format!("aws eks create-addon {flags} --addon-name {ADDON}"))
        }
        _ => remedy.run(format!("aws eks describe-addon {flags} --addon-name {ADDON}")),
    };
    Ok(no_credentials(
        FindingStatus::Warn,
        format!(
            "{}/{} uses EKS Pod Identity, and the add-on {ADDON} {seen}.",
            association.namespace, association.service_account
        ),
    )
    .errors(&["pod-identity-credentials-failed", "ec2-connectivity-check-failed"])
    .evidence("eks:DescribeAddon", format!("{ADDON} status"), state)
    .mend(remedy))
}

fn on_fargate(
    cx: &Context<'_>,
    one: &Running<'_>,
    association: &PodIdentityAssociation,
    pod: &str,
    node: Option<&str>,
) -> Finding {
    let flags =
        format!("--cluster-name {} --region {}", quote(&cx.target.cluster), quote(cx.region()));
    let mut remedy = Remedy::new(
        "Bind the service account to its role by the annotation instead: let the role trust the \
         cluster's OIDC provider, annotate, and delete the association, which wins over the \
         annotation. Set the annotation in the chart's `serviceAccount.annotations` too.",
    );
    if let Ok(Some(role)) = cx.role(arn::role_name(&association.role_arn))
        && let Ok(irsa) = Irsa::for_account(cx, role, one.namespace(), one.service_account_name())
        && !irsa.lets_in()
    {
        remedy.steps.extend(irsa.mend(false).steps);
    }
    let remedy = remedy
        .run(format!(
            "kubectl annotate serviceaccount {} --namespace {} --overwrite {}",
            quote(one.service_account_name()),
            quote(one.namespace()),
            quote(&format!("{ROLE_ANNOTATION}={}", association.role_arn))
        ))
        .run(format!(
            "aws eks delete-pod-identity-association {flags} --association-id {}",
            quote(&association.id)
        ))
        .run(one.restart());
    no_credentials(
        FindingStatus::Fail,
        format!(
            "The controller's pod {pod} runs on Fargate, and its service account gets its role by \
             a pod identity association, which has no effect there."
        ),
    )
    .errors(&["no-credential-providers", "ec2-metadata-no-credentials"])
    .evidence("get pod", format!("{pod} spec.nodeName"), node.unwrap_or_default())
    .evidence("eks:ListPodIdentityAssociations", "associations", &association.id)
    .mend(remedy)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status,
    };

    const SUBJECT: &str = "kube-system/karpenter";

    fn agent(state: &Value) -> Value {
        json!({"facts": {"addons": {"eks-pod-identity-agent": state}}})
    }

    #[test]
    fn rows_without_the_cluster() {
        let denied = json!({"denied": {"action": "eks:DescribeAddon", "message": "no"}});
        let none = json!({"facts": {"pod_identity_associations": {"known": []}}});
        assert_rows(
            Account::Karpenter,
            &CHECK,
            &[
                ("the guide's", json!({}), &[(Status::Pass, SUBJECT)]),
                ("no agent", agent(&json!("absent")), &[(Status::Warn, SUBJECT)]),
                (
                    "an agent that failed",
                    agent(&json!({"known": {"status": "DEGRADED"}})),
                    &[(Status::Warn, SUBJECT)],
                ),
                ("the agent is not readable", agent(&denied), &[(Status::Unknown, SUBJECT)]),
                ("no association", none, &[(Status::Skipped, "demo")]),
            ],
        );
    }

    #[test]
    fn rows_with_the_cluster() {
        let pod = |node: &str, ready: bool| {
            json!({"facts": {"kubernetes": {"controller_pods": {"known": [
                {"meta": {"name": "karpenter-1", "namespace": "kube-system"}, "node": node,
                 "service_account": "karpenter", "ready": ready,
                 "env": {CREDENTIALS_URI: "http://169.254.170.23/v1/credentials"}}]}}}})
        };
        let and = |mut patch: Value, more: &Value| {
            json_patch::merge(&mut patch, more);
            patch
        };
        let absent = agent(&json!("absent"));
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[
                ("the guide's", json!({}), &[(Status::Pass, SUBJECT)]),
                ("on Fargate", pod("fargate-ip-10-0-1-2", false), &[(Status::Fail, SUBJECT)]),
                (
                    "no add-on, and it works",
                    and(pod("n", true), &absent),
                    &[(Status::Pass, SUBJECT)],
                ),
                ("no add-on", and(pod("n", false), &absent), &[(Status::Warn, SUBJECT)]),
            ],
        );
    }

    #[test]
    fn fargate_is_known_by_its_label_too() {
        let patch = json!({"facts": {"kubernetes": {
            "controller_pods": {"known": [{"meta": {"name": "p", "namespace": "kube-system"},
                "node": "custom", "service_account": "karpenter"}]},
            "nodes": {"known": [{"meta": {"name": "custom"},
                "labels": {"eks.amazonaws.com/compute-type": "fargate"}}]}}}});
        let found = Account::KarpenterCluster.judge(&CHECK, &patch).remove(0);
        assert!(found.seen.contains("runs on Fargate"), "{found:#?}");
    }
}
