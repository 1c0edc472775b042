//! What the user or AWS says of Karpenter against what the cluster says.

use crate::{
    checks::{
        Area, Check, Context, Judged, Stop, Verdicts,
        remedies::{listed, quote},
    },
    facts::{arn, kubernetes::controller::Deployment},
    outcome::{Finding, Remedy},
    target::{
        Origin, Product, QueueTarget, Sourced, cluster_says, names, resolve::of_node_classes,
    },
};

pub static CHECK: Check = Check {
    id: "target-contradiction",
    title: "The cluster agrees with what was said of Karpenter",
    area: Area::Controller,
    products: &[Product::Karpenter],
    errors: &[],
    needs: &[
        "list deployments (Kubernetes)",
        "get serviceaccounts (Kubernetes)",
        "list ec2nodeclasses (Kubernetes)",
    ],
    doc: "\
## What
What you said with flags is what the cluster has: version, namespace, service account, role and
interruption queue of Karpenter's Deployment, and the node roles of its NodeClasses. A queue that
is there under a usual name is read by the controller at all.

## Why
Flags win, so that an upgrade can be judged before it is made. A flag that is a slip of the pen
has another version or another role judged than the one that runs, and every other verdict is
about something that is not there. A queue that nobody reads warns nobody of an interruption.

## Seen as
Nowhere: no component knows of your flags, and a controller without a queue logs nothing.

## Fix
Leave the flag out to judge what runs. Set what the cluster lacks, such as
`settings.interruptionQueue`, in the values of Karpenter's chart.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let kubernetes = cx.kubernetes()?;
    let found = kubernetes.controllers.known()?;
    // The one that flags were meant for cannot be told from one that they contradict.
    let Some(deployment) = cluster_says::judged(cx.target, found) else {
        return Err(Stop::skipped("no Deployment of the cluster is Karpenter's"));
    };
    let name = format!("{}/{}", deployment.meta.namespace, deployment.meta.name);
    Ok(vec![Judged::new(name, || judge(cx, deployment))])
}

/// A flag that says something else than the cluster.
struct Contradiction {
    flag: &'static str,
    said: String,
    runs: String,
}

fn judge(cx: &Context<'_>, deployment: &Deployment) -> Result<Finding, Stop> {
    let mut found: Vec<_> = [
        version(cx, deployment),
        flag("--namespace", &cx.target.namespace, &deployment.meta.namespace),
        flag("--service-account", &cx.target.service_account, &deployment.service_account),
        queue(cx, deployment),
    ]
    .into_iter()
    .flatten()
    .collect();
    if cx.target.controller_roles.iter().any(|role| role.origin == Origin::Flag) {
        cx.kubernetes()?.service_accounts.known()?;
        found.extend(role(cx, deployment)?);
    }
    found.extend(node_role(cx)?);
    if !found.is_empty() {
        return Ok(of_flags(&found));
    }
    if let Some(finding) = unread_queue(cx, deployment) {
        return Ok(finding);
    }
    Ok(Finding::pass("Flags and Deployment do not contradict each other."))
}

fn of_flags(found: &[Contradiction]) -> Finding {
    let said: Vec<_> = found
        .iter()
        .map(|one| format!("{} says {}, and the cluster has {}", one.flag, one.said, one.runs))
        .collect();
    let flags: Vec<_> = found.iter().map(|one| one.flag).collect();
    let finding = Finding::warn(
        format!("{}.", said.join("; ")),
        "What the flags say is judged, and not what runs: the other verdicts hold once the \
         cluster is changed to it, and say little until then.",
    );
    let words = format!("Leave {} out to judge what runs.", listed(&flags));
    found
        .iter()
        .fold(finding, |finding, one| finding.evidence("Kubernetes", one.flag, &one.runs))
        .mend(Remedy::new(words))
}

fn flag(flag: &'static str, target: &Sourced<String>, runs: &str) -> Option<Contradiction> {
    let contradicts = target.origin == Origin::Flag && target.value != runs;
    contradicts.then(|| Contradiction { flag, said: target.value.clone(), runs: runs.to_owned() })
}

fn version(cx: &Context<'_>, deployment: &Deployment) -> Option<Contradiction> {
    let runs = cluster_says::version(deployment)?.to_string();
    let said = &cx.target.karpenter_version;
    let said = Sourced::new(said.value.to_string(), said.origin);
    flag("--karpenter-version", &said, &runs)
}

/// A queue that was named where the controller reads another one, or none.
fn queue(cx: &Context<'_>, deployment: &Deployment) -> Option<Contradiction> {
    let QueueTarget::Named(said) = &cx.target.queue else { return None };
    let said = Sourced::new(names::queue_name(&said.value).to_owned(), said.origin);
    match cluster_says::queue(deployment) {
        Some(runs) => flag("--interruption-queue", &said, names::queue_name(&runs)),
        None if deployment.env_from.is_empty() => flag("--interruption-queue", &said, "none"),
        None => None,
    }
}

/// A node role that was named, and that no NodeClass gives to nodes.
fn node_role(cx: &Context<'_>) -> Result<Option<Contradiction>, Stop> {
    let said = cx
        .target
        .node_roles
        .iter()
        .filter(|role| role.origin == Origin::Flag && role.product == Product::Karpenter);
    let said: Vec<_> = said.map(|role| role.name.as_str()).collect();
    let classes = cx.kubernetes()?.ec2_node_classes.found()?;
    if said.is_empty() || classes.is_none_or(Vec::is_empty) {
        return Ok(None);
    }
    let Some(runs) = of_node_classes(cx.facts, Product::Karpenter) else {
        return Err(Stop::unknown("the instance profile that a NodeClass names was not read"));
    };
    let runs: Vec<_> = runs.iter().map(|role| role.name.as_str()).collect();
    let other = said.into_iter().find(|said| !runs.contains(said));
    Ok(other.map(|said| Contradiction {
        flag: "--node-role",
        said: said.to_owned(),
        runs: if runs.is_empty() { "none".to_owned() } else { listed(&runs) },
    }))
}

fn role(cx: &Context<'_>, deployment: &Deployment) -> Result<Option<Contradiction>, Stop> {
    let said = cx.target.controller_roles.iter().find(|role| role.origin == Origin::Flag);
    let associations = cx.facts.pod_identity_associations.found()?.into_iter().flatten();
    let associated = associations.filter_map(|association| association.value()).find(|one| {
        one.namespace == deployment.meta.namespace
            && one.service_account == deployment.service_account
    });
    let shown = cluster_says::controller_roles(cx.kubernetes()?, deployment);
    let runs = associated
        .map(|association| association.role_arn.as_str())
        .or_else(|| shown.first().map(|role| role.value.as_str()))
        .map(arn::role_name);
    Ok(said.zip(runs).and_then(|(said, runs)| flag("--controller-role", said, runs)))
}

/// A queue that is there for the controller, and that the controller is not told of.
fn unread_queue(cx: &Context<'_>, deployment: &Deployment) -> Option<Finding> {
    let QueueTarget::Found(queues) = &cx.target.queue else { return None };
    if !deployment.env_from.is_empty() || cx.target.before_install() {
        return None;
    }
    let (namespace, queue) = (&deployment.meta.namespace, queues.first()?);
    let release = deployment.labels.get("app.kubernetes.io/instance");
    let release = release.map_or(deployment.meta.name.as_str(), String::as_str);
    let command = format!(
        "helm upgrade {} oci://public.ecr.aws/karpenter/karpenter --version {} --namespace {} \
         --reuse-values --set settings.interruptionQueue={}",
        quote(release),
        cx.karpenter(),
        quote(namespace),
        quote(queue),
    );
    let finding = Finding::warn(
        format!(
            "The queue {} is there, and the Deployment {namespace}/{} names no interruption queue.",
            listed(queues),
            deployment.meta.name
        ),
        "Nobody reads the queue: a node that EC2 is about to take away is not drained before.",
    );
    Some(
        finding
            .evidence("list deployments", "INTERRUPTION_QUEUE", "")
            .mend(Remedy::new("Name the queue in the values of Karpenter's chart.").run(command)),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status::{Pass, Skipped, Unknown, Warn},
    };

    const NAME: &str = "kube-system/karpenter";

    fn scope(flags: &Value) -> Value {
        let mut scope = json!({"karpenter_version": null});
        json_patch::merge(&mut scope, flags);
        json!({ "scope": scope })
    }

    /// The first Deployment with other settings.
    fn controllers(change: &Value) -> Value {
        let saved = Account::KarpenterCluster.patched(&json!({}));
        let found = &saved.facts.kubernetes.controllers;
        let mut controller = serde_json::to_value(&found.known().unwrap()[0]).unwrap();
        json_patch::merge(&mut controller, change);
        json!({"scope": {"karpenter_version": null},
            "facts": {"kubernetes": {"controllers": {"known": [controller]}}}})
    }

    #[test]
    fn rows() {
        let forbidden =
            json!({"denied": {"action": "list deployments (Kubernetes)", "message": "no"}});
        let no_queue = controllers(&json!({"env": {"INTERRUPTION_QUEUE": null}}));
        let mut said_and_none = no_queue.clone();
        said_and_none["scope"]["interruption_queue"] = json!("demo");
        let from_elsewhere =
            controllers(&json!({"env": {"INTERRUPTION_QUEUE": null}, "env_from": ["settings"]}));
        let mut hidden_classes = scope(&json!({"node_roles": ["other"]}));
        hidden_classes["facts"]["kubernetes"]["ec2_node_classes"] = forbidden.clone();
        let rows = [
            ("nothing said", scope(&json!({})), &[(Pass, NAME)][..]),
            (
                "the same said",
                scope(&json!({"karpenter_version": "1.14.1", "namespace": "kube-system",
                    "service_account": "karpenter", "controller_role": "demo-karpenter",
                    "interruption_queue": "demo"})),
                &[(Pass, NAME)],
            ),
            ("another version", scope(&json!({"karpenter_version": "1.6.2"})), &[(Warn, NAME)]),
            ("another namespace", scope(&json!({"namespace": "karpenter"})), &[(Warn, NAME)]),
            ("another account", scope(&json!({"service_account": "other"})), &[(Warn, NAME)]),
            ("another role", scope(&json!({"controller_role": "other"})), &[(Warn, NAME)]),
            ("another queue", scope(&json!({"interruption_queue": "other"})), &[(Warn, NAME)]),
            (
                "the same queue by its ARN",
                scope(&json!({"interruption_queue": "arn:aws:sqs:us-west-2:111122223333:demo"})),
                &[(Pass, NAME)],
            ),
            (
                "the NodeClass's role",
                scope(&json!({"node_roles": ["KarpenterNodeRole-demo"]})),
                &[(Pass, NAME)],
            ),
            ("another node role", scope(&json!({"node_roles": ["other"]})), &[(Warn, NAME)]),
            (
                "another node role, and the NodeClasses are hidden",
                hidden_classes,
                &[(Unknown, NAME)],
            ),
            ("a queue, and none is read", said_and_none, &[(Warn, NAME)]),
            ("a queue that nobody reads", no_queue, &[(Warn, NAME)]),
            ("settings that are elsewhere", from_elsewhere, &[(Pass, NAME)]),
            (
                "no Deployment",
                json!({"facts": {"kubernetes": {"controllers": {"known": []}}}}),
                &[(Skipped, "demo")],
            ),
            (
                "hidden",
                json!({"facts": {"kubernetes": {"controllers": forbidden}}}),
                &[(Unknown, "demo")],
            ),
            ("left alone", json!({"scope": {"no_kube": true}}), &[(Skipped, "demo")]),
        ];
        assert_rows(Account::KarpenterCluster, &CHECK, &rows);
    }
}
