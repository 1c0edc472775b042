//! The verdict on one launch that was tried.

use super::{plan::Planned, refused, refused::Refusal};
use crate::{
    checks::{Context, Stop, remedies::listed},
    facts::proof::{Answer, DryRun, Launch, Proof, RUN_INSTANCES, Session},
    outcome::Finding,
};

pub fn launch(cx: &Context<'_>, proof: &Proof, planned: &Planned) -> Result<Finding, Stop> {
    let found = proof.launches.iter().find(|launch| launch.subject == planned.subject);
    let launch = found.ok_or_else(|| Stop::unknown("it was not tried"))?;
    let refusals: Vec<_> = launch.answers.iter().filter_map(refused::of).collect();
    if let Some(finding) = refused::finding(cx, proof, launch, &refusals) {
        return Ok(finding);
    }
    for (action, subnet) in launch.asked() {
        answered(launch, action, subnet)?;
    }
    let (aside, open): (Vec<&Refusal<'_>>, Vec<_>) =
        refusals.iter().partition(|refusal| refusal.is_aside());
    if let Some(refusal) = open.first() {
        return Err(Stop::unknown(format!(
            "{} was answered with {}, which says nothing of permissions: {}",
            refusal.answer.action, refusal.code, refusal.message
        )));
    }
    if !launch.answers.iter().any(is_allowed_run) {
        let words: Vec<_> = aside.iter().map(|refusal| refusal.words()).collect();
        return Err(Stop::unknown(format!(
            "EC2 gave reasons of zones, quotas or capacity for a {} in every subnet, and so said \
             nothing of permissions: {}",
            launch.instance_type,
            words.join("; ")
        )));
    }
    Ok(passed(proof, launch, &aside, planned.left_out))
}

/// Stops where a call was not made, or got no answer.
fn answered(launch: &Launch, action: &str, subnet: Option<&str>) -> Result<(), Stop> {
    let answer = launch
        .answers
        .iter()
        .find(|answer| answer.action == action && answer.subnet.as_deref() == subnet);
    let place = subnet.map(|subnet| format!(" in {subnet}")).unwrap_or_default();
    let answer = answer.ok_or_else(|| Stop::unknown(format!("{action}{place} was not tried")))?;
    answer.said.known()?;
    Ok(())
}

pub fn is_allowed_run(answer: &Answer) -> bool {
    answer.action == RUN_INSTANCES && answer.said.value() == Some(&DryRun::Allowed)
}

fn passed(proof: &Proof, launch: &Launch, aside: &[&Refusal<'_>], left_out: usize) -> Finding {
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
    let allowed = launch.answers.iter().filter(|answer| is_allowed_run(answer)).count();
    let finding = Finding::pass(format!(
        "AWS would let {}, {how}, make {} for a {} in {}{profile}.{}{}",
        proof.role,
        listed(&actions),
        launch.instance_type,
        subnets(allowed),
        of_zones(aside),
        not_tried(left_out),
    ));
    launch.answers.iter().fold(finding, with_evidence)
}

/// What EC2 said of single subnets that is no matter of permissions.
fn of_zones(aside: &[&Refusal<'_>]) -> String {
    let runs = aside.iter().filter(|refusal| refusal.answer.action == RUN_INSTANCES);
    let words: Vec<_> = runs.map(|refusal| refusal.words()).collect();
    match words.as_slice() {
        [] => String::new(),
        words => format!(
            " Not for reasons of permissions, but of the zone, a quota or capacity, it would not: {}.",
            words.join("; ")
        ),
    }
}

/// That a proof of some subnets is none of the others.
pub fn not_tried(left_out: usize) -> String {
    match left_out {
        0 => String::new(),
        left_out => format!(
            " {} more that the selector matches {} not tried.",
            subnets(left_out),
            if left_out == 1 { "was" } else { "were" }
        ),
    }
}

fn subnets(count: usize) -> String {
    format!("{count} subnet{}", if count == 1 { "" } else { "s" })
}

pub fn with_evidence(finding: Finding, answer: &Answer) -> Finding {
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
