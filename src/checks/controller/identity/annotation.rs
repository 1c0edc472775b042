//! The annotation of a service account against the account's roles.

use super::{Binding, injected, mend};
use crate::{
    checks::{
        Stop,
        controller::{
            credentials::no_credentials,
            irsa::Irsa,
            running::{ROLE_ANNOTATION, Running},
        },
    },
    facts::{arn, iam::Role},
    outcome::{Finding, FindingStatus},
};

pub fn judge(running: &Running<'_>, annotated: &str) -> Result<Finding, Stop> {
    let cx = running.cx;
    if let Some(why) = malformed(annotated) {
        return Ok(wrong(running, annotated, why));
    }
    let account = arn::account(&cx.cluster()?.arn);
    if annotated.split(':').nth(1) != Some(cx.target.partition) {
        return Ok(wrong(running, annotated, "its partition is not the cluster's"));
    }
    if arn::account(annotated) != account {
        return Ok(wrong(running, annotated, "it is in another account than the cluster"));
    }
    let pods = injected(running, Binding::Annotation(annotated));
    match cx.role(arn::role_name(annotated)) {
        Ok(None) => Ok(wrong(running, annotated, "there is no such role")),
        Ok(Some(role)) if role.arn != annotated => {
            let why = format!("the role's ARN is {}", role.arn);
            Ok(wrong(running, annotated, &why))
        }
        Ok(Some(role)) => match trusted(running, role)? {
            Some(finding) => Ok(finding),
            None => Ok(pods),
        },
        // What is certain of the pods comes before what is not known of the role.
        Err(_) if pods.status != FindingStatus::Pass => Ok(pods),
        Err(stop) => Err(stop),
    }
}

/// What is wrong with the role's trust policy, unless controller-trust judges just that.
fn trusted(running: &Running<'_>, role: &Role) -> Result<Option<Finding>, Stop> {
    let target = running.cx.target;
    let judged = target.controller_roles.iter().any(|judged| judged.value == role.name)
        && running.namespace() == target.namespace.value
        && running.service_account_name() == target.service_account.value;
    if judged {
        return Ok(None);
    }
    let (namespace, account) = (running.namespace(), running.service_account_name());
    let finding = Irsa::for_account(running.cx, role, namespace, account)?.judge()?;
    Ok(Some(finding).filter(|finding| finding.status != FindingStatus::Pass))
}

/// What is wrong with the form of a role's ARN.
fn malformed(text: &str) -> Option<&'static str> {
    let parts: Vec<_> = text.splitn(6, ':').collect();
    let is_account = |text: &str| text.len() == 12 && text.bytes().all(|b| b.is_ascii_digit());
    match parts.as_slice() {
        _ if text.contains(['$', '<', '[', '{']) => Some("a placeholder was not filled in"),
        ["arn", _, "iam", "", account, resource]
            if is_account(account) && resource.starts_with("role/") =>
        {
            None
        }
        ["arn", _, "iam", _, _, resource] if resource.starts_with("instance-profile/") => {
            Some("it is the ARN of an instance profile")
        }
        ["arn", ..] => Some("it is not the ARN of a role"),
        _ => Some("it is no ARN"),
    }
}

fn wrong(running: &Running<'_>, annotated: &str, why: &str) -> Finding {
    let path = running.service_account_path();
    no_credentials(
        FindingStatus::Fail,
        format!("The service account {path} is annotated with {annotated}: {why}."),
    )
    .errors(&["web-identity-denied", "ec2-connectivity-check-failed"])
    .evidence("get serviceaccount", format!("{path} {ROLE_ANNOTATION}"), annotated)
    .mend(mend::annotate(running, "Annotate the service account with the whole ARN of the role."))
}
