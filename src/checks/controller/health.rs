//! The controller's pods run, and if not, what they say.

use super::running::{self, Running};
use crate::{
    checks::{
        Area, Check, Context, Judged, Stop, Verdicts,
        diagnosis::Diagnosis,
        node_classes,
        remedies::{listed, quote},
    },
    facts::kubernetes::controller::{Deployment, Pod},
    outcome::{Finding, Remedy},
    target::Product,
};

/// How long ago a container may have ended for it to matter still where its pod is ready again,
/// in seconds.
const RECENT: i64 = 24 * 60 * 60;
/// How long a pod may take to become ready, in seconds: its image is large, and its probes wait.
const LATE: i64 = 5 * 60;

pub static CHECK: Check = Check {
    id: "controller-health",
    title: "The controller runs",
    area: Area::Controller,
    products: &[Product::Karpenter],
    errors: &["controller-crash-loop", "oom-killed", "probe-failed-at-start"],
    needs: &[],
    doc: "\
## What
The controller's pods are ready, as many as the Deployment wants, and none was killed for want of
memory within a day. What a pod says of its end is looked up in the catalogue of documented errors.
Pods that find no node are another check's.

## Why
While no replica is ready nothing is launched, and nothing is removed. Most of what ends the
controller ends it at the start: no credentials, no Region, before 1.4 a queue that it cannot see.

## Seen as
`CrashLoopBackOff`, `OOMKilled` or `ImagePullBackOff` in `kubectl get pods`.

## Fix
Read the log of the run before: `kubectl logs --previous`; `karpenter-preflight explain -` reads it
for you. Against OOMKilled, raise `controller.resources`.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    if cx.kubernetes()?.controllers.known()?.is_empty()
        && let Some(left) = left_behind(cx)?
    {
        return Ok(vec![Judged::new(&cx.target.cluster, || Ok(left))]);
    }
    running::each(cx, |one| judge(cx, one))
}

/// NodeClaims of Karpenter's with no controller that cares for them.
fn left_behind(cx: &Context<'_>) -> Result<Option<Finding>, Stop> {
    let claims = cx.kubernetes()?.node_claims.found()?.into_iter().flatten();
    let group = node_classes::group(Product::Karpenter);
    let claims: Vec<_> = claims.filter(|claim| claim.node_class.group == group).collect();
    let Some(first) = claims.first() else { return Ok(None) };
    let finding = Finding::fail(
        format!(
            "No Deployment of Karpenter is in the cluster, and {} NodeClaims are, such as {}.",
            claims.len(),
            first.meta.name
        ),
        "Nothing is launched, and nothing removed: the nodes stay and cost until somebody ends \
         their instances. Nothing is printed either.",
    )
    .evidence("list deployments (Kubernetes)", "app.kubernetes.io/name=karpenter", "none");
    let remedy = Remedy::new(
        "Install Karpenter again. To be rid of it, delete the NodePools first, while it runs: it \
         then ends its instances.",
    )
    .run("helm list --all-namespaces --all --filter karpenter");
    Ok(Some(finding.mend(remedy)))
}

fn judge(cx: &Context<'_>, one: &Running<'_>) -> Result<Finding, Stop> {
    if one.deployment.replicas == 0 {
        return Ok(scaled_to_nothing(one));
    }
    let sick: Vec<_> = one.pods.iter().copied().filter(|pod| is_sick(cx, pod)).collect();
    match sick.first() {
        Some(first) => Ok(sick_pods(cx, one, first, &sick)),
        None => without_a_word(cx, one),
    }
}

/// Where no pod says anything of itself: those that are not ready may be on their way.
fn without_a_word(cx: &Context<'_>, one: &Running<'_>) -> Result<Finding, Stop> {
    let Deployment { replicas, ready_replicas: ready, .. } = *one.deployment;
    if ready < replicas {
        let late = |pod: &&&Pod| !pod.ready && pod.unscheduled.is_none() && is_late(cx, pod);
        if let Some(pod) = one.pods.iter().find(late) {
            return Ok(never_ready(cx, one, pod));
        }
        let all_ready = one.all_ready() && one.pods.len() < replicas as usize;
        if all_ready {
            return Ok(too_few(one));
        }
    }
    match ready {
        0 => Err(Stop::unknown("no replica is ready, and no pod says why")),
        ready => Ok(Finding::pass(format!("{ready} of {replicas} replicas are ready"))),
    }
}

fn is_late(cx: &Context<'_>, pod: &Pod) -> bool {
    pod.meta.created.is_some_and(|made| cx.now.as_second() - made.as_second() >= LATE)
}

/// A pod that runs, or is being made, and does not become ready.
fn never_ready(cx: &Context<'_>, one: &Running<'_>, pod: &Pod) -> Finding {
    let (name, since) = (&pod.meta.name, pod.meta.created);
    let since =
        since.map_or_else(String::new, |since| since.strftime(" since %F %H:%M").to_string());
    let state = pod.waiting.as_deref().unwrap_or(&pod.phase);
    let seen = format!("{name} of {} is {state}{since} and not ready.", one.name());
    let describe = format!(
        "kubectl describe pod {} --namespace {} | karpenter-preflight explain - --cluster {} \
         --region {}",
        quote(name),
        quote(one.namespace()),
        quote(&cx.target.cluster),
        quote(cx.region())
    );
    not_all_ready(one, seen)
        .errors(&["probe-failed-at-start"])
        .evidence("get pod", format!("{name} status.conditions[Ready]"), "False")
        .mend(
            Remedy::new(
                "Its events say what it waits for; where it runs, its log does. A first call to AWS \
                 without credentials or a way out hangs, and nothing is ready until it is over.",
            )
            .run(describe)
            .run(format!(
                "kubectl logs {} --namespace {} --tail 50",
                quote(name),
                quote(one.namespace())
            )),
        )
}

/// Replicas for which there is no pod.
fn too_few(one: &Running<'_>) -> Finding {
    let seen = format!(
        "{} wants {} replicas, and {} have a pod.",
        one.name(),
        one.deployment.replicas,
        one.pods.len()
    );
    let names = (quote(&one.deployment.meta.name), quote(one.namespace()));
    not_all_ready(one, seen)
        .evidence("list pods (Kubernetes)", format!("{} pods", one.name()), one.pods.len().to_string())
        .mend(
            Remedy::new(
                "The Deployment's conditions say what does not let it make pods, such as a quota, a \
                 missing priority class or an admission webhook.",
            )
            .run(format!("kubectl describe deployment {} --namespace {}", names.0, names.1))
            .run(format!("kubectl get events --namespace {} --field-selector reason=FailedCreate", names.1)),
        )
}

fn not_all_ready(one: &Running<'_>, seen: String) -> Finding {
    match one.deployment.ready_replicas {
        0 => Finding::fail(seen, "No replica is ready: nothing is launched, and nothing removed."),
        ready => Finding::warn(
            seen,
            format!(
                "{ready} of {} replicas are ready; when those end too, nothing is launched.",
                one.deployment.replicas
            ),
        ),
    }
}

/// What the first pod that is sick says of itself.
fn sick_pods(cx: &Context<'_>, one: &Running<'_>, first: &Pod, sick: &[&Pod]) -> Finding {
    let names: Vec<_> = sick.iter().map(|pod| pod.meta.name.as_str()).collect();
    let said = [first.waiting.as_deref(), first.last_ended.as_deref()];
    let said: Vec<_> = said.into_iter().flatten().collect();
    let what = match said.as_slice() {
        [] => "is not ready".to_owned(),
        said => said.join("; before that ").trim_end_matches('.').to_owned(),
    };
    let more = match names.as_slice() {
        [] | [_] => String::new(),
        [_, rest @ ..] => format!(" The same way or another: {}.", listed(rest)),
    };
    let seen =
        format!("{} of {} ({} restarts): {what}.{more}", names[0], one.name(), first.restarts);
    let finding = said.iter().fold(not_all_ready(one, seen), |finding, text| {
        finding.evidence("get pod", format!("{} status.containerStatuses", names[0]), *text)
    });
    let logs = format!(
        "kubectl logs {} --namespace {} --previous | karpenter-preflight explain - --cluster {} \
         --region {}",
        quote(names[0]),
        quote(one.namespace()),
        quote(&cx.target.cluster),
        quote(cx.region())
    );
    Diagnosis::of(&said.join("\n")).name_in(cx, finding, "controller-crash-loop", &[logs])
}

/// Whether a pod has something to say. One without a node is judged elsewhere, and one that is
/// just starting says nothing.
fn is_sick(cx: &Context<'_>, pod: &Pod) -> bool {
    if pod.unscheduled.is_some() {
        return false;
    }
    let starts = pod.waiting.as_deref().is_none_or(|why| {
        ["ContainerCreating", "PodInitializing"].iter().any(|state| why.starts_with(state))
    });
    let ended = pod.last_ended.as_deref();
    let recently = pod.last_ended_at.is_some_and(|at| cx.now.as_second() - at.as_second() < RECENT);
    let out_of_memory = ended.is_some_and(|why| why.starts_with("OOMKilled"));
    match pod.ready {
        true => out_of_memory && recently,
        false => !starts || ended.is_some(),
    }
}

fn scaled_to_nothing(one: &Running<'_>) -> Finding {
    Finding::fail(
        format!("{} is scaled to no replica.", one.name()),
        "No controller runs: nothing is launched, and nothing removed. Nothing is printed either.",
    )
    .evidence("get deployment", format!("{} spec.replicas", one.name()), "0")
    .mend(Remedy::new("Scale it up again, in the chart's value `replicas` too.").run(format!(
        "kubectl scale deployment {} --namespace {} --replicas 2",
        quote(&one.deployment.meta.name),
        quote(one.namespace())
    )))
}

#[cfg(test)]
mod tests;
