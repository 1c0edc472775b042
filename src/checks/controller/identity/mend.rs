//! How to bind the controller's service account to its role.

use super::Running;
use crate::{
    checks::{controller::running::ROLE_ANNOTATION, remedies::quote},
    facts::{arn, eks::PodIdentityAssociation},
    outcome::Remedy,
};

const IN_THE_CHART: &str = "Set the chart's value \
                            `serviceAccount.annotations.\"eks\\.amazonaws\\.com/role-arn\"` to the \
                            same, or the next upgrade takes it away.";

/// An association, or on Fargate the annotation.
pub fn bind(running: &Running<'_>, words: &str) -> Remedy {
    if running.on_fargate().is_some() {
        return annotate(running, words);
    }
    let target = running.cx.target;
    Remedy::new(format!(
        "{words} The commands associate it, for which the role has to trust \
         `pods.eks.amazonaws.com`; with IAM roles for service accounts, annotate it with \
         `{ROLE_ANNOTATION}` instead and see that the value is not empty."
    ))
    .run(format!(
        "aws eks create-pod-identity-association --cluster-name {} --region {} --namespace {} \
         --service-account {} --role-arn {}",
        quote(&target.cluster),
        quote(running.cx.region()),
        quote(running.namespace()),
        quote(running.service_account_name()),
        quote(&role_arn(running))
    ))
    .run(running.restart())
}

pub fn annotate(running: &Running<'_>, words: &str) -> Remedy {
    Remedy::new(format!("{words} {IN_THE_CHART}"))
        .run(format!(
            "kubectl annotate serviceaccount {} --namespace {} --overwrite {}",
            quote(running.service_account_name()),
            quote(running.namespace()),
            quote(&format!("{ROLE_ANNOTATION}={}", role_arn(running)))
        ))
        .run(running.restart())
}

pub fn restart(running: &Running<'_>) -> Remedy {
    Remedy::new("Make the pods anew.").run(running.restart())
}

pub fn one_of_both(running: &Running<'_>, association: &PodIdentityAssociation) -> Remedy {
    Remedy::new(format!(
        "Keep one of the two. If the association is right, take the annotation off (first command, \
         and in the chart's values); if the annotation is, delete the association {} (second \
         command) and restart the Deployment.",
        association.id
    ))
    .run(format!(
        "kubectl annotate serviceaccount {} --namespace {} {ROLE_ANNOTATION}-",
        quote(running.service_account_name()),
        quote(running.namespace())
    ))
    .run(format!(
        "aws eks delete-pod-identity-association --cluster-name {} --region {} --association-id {}",
        quote(&running.cx.target.cluster),
        quote(running.cx.region()),
        quote(&association.id)
    ))
}

/// The ARN of the controller's role, as far as it is known.
fn role_arn(running: &Running<'_>) -> String {
    let cx = running.cx;
    let mut named = cx.target.controller_roles.iter();
    let known = named.find_map(|role| cx.role(&role.value).ok().flatten());
    known.map(|role| role.arn.clone()).unwrap_or_else(|| {
        let cluster = cx.facts.cluster.value();
        let account = cluster.and_then(|cluster| arn::account(&cluster.arn));
        format!(
            "arn:{}:iam::{}:role/<controller role>",
            cx.target.partition,
            account.or(cx.account()).unwrap_or("<account>")
        )
    })
}
