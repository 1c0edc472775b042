//! The controller's settings against the account.

use super::running::{self, Running};
use crate::{
    checks::{
        Area, Check, Context, Judged, Stop, Verdicts, controller::identity::QUEUE_PANICS,
        remedies::quote,
    },
    facts::kubernetes::node_class::NodeClass,
    outcome::{Finding, Remedy},
    requirements::version::KarpenterVersion,
    target::{Product, QueueTarget, cluster_says::setting, names::queue_name},
};

/// Before this one, settings could come from a ConfigMap that is not read.
const OF_ENVIRONMENT: KarpenterVersion = KarpenterVersion::new(0, 33, 0);

pub static CHECK: Check = Check {
    id: "controller-settings",
    title: "The controller's settings fit the account",
    area: Area::Controller,
    products: &[Product::Karpenter],
    errors: &[
        "cluster-name-missing",
        "cluster-not-found",
        "cluster-endpoint-not-resolved",
        "cluster-name-not-resolved",
        "node-not-registered",
        "non-existent-queue",
        "sqs-provider-not-created",
        "iam-not-reachable",
    ],
    needs: &["eks:DescribeCluster"],
    doc: "\
## What
What Karpenter's Deployment sets fits this cluster: `CLUSTER_NAME` is its name, `CLUSTER_ENDPOINT` is
empty or its endpoint, `INTERRUPTION_QUEUE` is the name of a queue, and with `ISOLATED_VPC` no
NodeClass waits for an instance profile that Karpenter cannot make.

## Why
The cluster's name is in every tag and in every statement of the controller's policy. Nodes are
told the endpoint: one of an earlier cluster lets them start and never join. In a VPC without a way
out there is no IAM API, so that only `spec.instanceProfile` works.

## Seen as
`No cluster found for name` or `missing field, cluster-name` in the controller's log; on the nodes
`no such host` for the endpoint.

## Fix
Correct the value in the chart's `settings`; leave `settings.clusterEndpoint` empty.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    let mut judged = Vec::new();
    for one in &running::all(cx)? {
        let found = [
            ("CLUSTER_NAME", cluster_name(cx, one)),
            ("CLUSTER_ENDPOINT", endpoint(cx, one)),
            ("INTERRUPTION_QUEUE", queue(cx, one)),
            ("ISOLATED_VPC", isolated(cx, one)),
        ];
        let before = judged.len();
        for (name, verdict) in found {
            let subject = format!("{} {name}", one.name());
            let verdict = match verdict {
                Ok(None) => continue,
                Ok(Some(finding)) => Ok(finding),
                Err(stop) => Err(stop),
            };
            judged.push(Judged::new(subject, || verdict));
        }
        if judged.len() == before {
            let pass = format!("the settings are those of {}", cx.target.cluster);
            judged.push(Judged::new(one.name(), || Ok(Finding::pass(pass))));
        }
    }
    Ok(judged)
}

/// What is wrong with a setting, if anything.
type Wrong = Result<Option<Finding>, Stop>;

fn cluster_name(cx: &Context<'_>, one: &Running<'_>) -> Wrong {
    let name = &cx.target.cluster;
    let Some(set) = setting(one.deployment, "CLUSTER_NAME") else {
        if cx.karpenter() < OF_ENVIRONMENT || !one.deployment.env_from.is_empty() {
            return Err(Stop::unknown("it is not set in the Deployment itself"));
        }
        let finding = Finding::fail(
            format!("{} sets no CLUSTER_NAME.", one.name()),
            "The controller ends at the start.",
        );
        let finding = finding.errors(&["cluster-name-missing"]);
        return Ok(Some(told(finding, one, "CLUSTER_NAME", "not set").mend(set_to(
            one,
            "CLUSTER_NAME",
            name,
            "Set the chart's value `settings.clusterName`.",
        ))));
    };
    if set == *name {
        return Ok(None);
    }
    let errors: &[&str] = match setting(one.deployment, "CLUSTER_ENDPOINT") {
        None => &["cluster-not-found", "cluster-endpoint-not-resolved"],
        Some(_) => &["cluster-not-found"],
    };
    let finding = Finding::fail(
        format!("{} is set for the cluster {set}, and runs in {name}.", one.name()),
        "It asks EKS for that cluster, and it tags and looks for instances under that name, for \
         which its policy is not made.",
    )
    .errors(errors);
    Ok(Some(told(finding, one, "CLUSTER_NAME", &set).mend(set_to(
        one,
        "CLUSTER_NAME",
        name,
        "Set the chart's value `settings.clusterName` to the name of this cluster (no ARN), and at \
         once with kubectl. Nodes that were tagged with the other name are not found any more.",
    ))))
}

fn endpoint(cx: &Context<'_>, one: &Running<'_>) -> Wrong {
    let Some(set) = setting(one.deployment, "CLUSTER_ENDPOINT") else { return Ok(None) };
    let cluster = cx.cluster()?;
    let bare = |url: &str| url.trim_end_matches('/').to_ascii_lowercase();
    let Some(real) = &cluster.endpoint else {
        return Err(Stop::unknown("eks:DescribeCluster does not name the cluster's endpoint"));
    };
    if bare(&set) == bare(real) {
        return Ok(None);
    }
    let is_url = set.starts_with("https://") || set.starts_with("http://");
    let (errors, effect): (&[_], _) = match is_url {
        true => (
            &["cluster-name-not-resolved", "node-not-registered"],
            "Nodes are told this endpoint: instances start, do not find the cluster, and are \
             replaced after 15 minutes, again and again.",
        ),
        false => (&["cluster-name-missing"], "The controller ends at the start."),
    };
    let seen = format!("{} is set to the endpoint {set}, and the cluster's is {real}.", one.name());
    let finding = Finding::fail(seen, effect).errors(errors).evidence(
        "eks:DescribeCluster",
        "cluster.endpoint",
        real,
    );
    let remedy = Remedy::new(
        "Leave the chart's value `settings.clusterEndpoint` empty: Karpenter finds the endpoint by \
         itself.",
    )
    .run(set_env(one, "CLUSTER_ENDPOINT-"));
    Ok(Some(told(finding, one, "CLUSTER_ENDPOINT", &set).mend(remedy)))
}

/// Whether the queue exists, and whether a name was judged, is for queue-exists; a flag may give
/// it the name where the Deployment has more.
fn queue(cx: &Context<'_>, one: &Running<'_>) -> Wrong {
    let Some(set) = setting(one.deployment, "INTERRUPTION_QUEUE") else { return Ok(None) };
    let name = queue_name(&set);
    let judged = matches!(&cx.target.queue, QueueTarget::Named(named) if named.value == set);
    if name == set || judged {
        return Ok(None);
    }
    let panics = (QUEUE_PANICS[0]..QUEUE_PANICS[1]).contains(&cx.karpenter());
    let (errors, effect): (&[_], _) = match panics {
        true => {
            (&["non-existent-queue"], "SQS finds no queue of that name, and the controller ends.")
        }
        false => (
            &["sqs-provider-not-created", "non-existent-queue"],
            "SQS finds no queue of that name: no interruption is seen, and the error is logged \
             again and again.",
        ),
    };
    let kind = if set.starts_with("arn:") { "an ARN" } else { "a URL or a path" };
    let seen = format!("{} is set to the queue {set}, {kind} where the name belongs.", one.name());
    let finding = Finding::fail(seen, effect).errors(errors);
    Ok(Some(told(finding, one, "INTERRUPTION_QUEUE", &set).mend(set_to(
        one,
        "INTERRUPTION_QUEUE",
        name,
        "Set the chart's value `settings.interruptionQueue` to the queue's name, and at once with \
         kubectl.",
    ))))
}

/// In a VPC without a way out the IAM API cannot be reached, and a NodeClass with a role waits
/// for its instance profile for ever.
fn isolated(cx: &Context<'_>, one: &Running<'_>) -> Wrong {
    let is_on = |value: String| value.eq_ignore_ascii_case("true");
    if !setting(one.deployment, "ISOLATED_VPC").is_some_and(is_on) {
        return Ok(None);
    }
    let classes = cx.facts.kubernetes.ec2_node_classes.found()?.map_or(&[][..], Vec::as_slice);
    let waits = |class: &&NodeClass| {
        let profile = class.conditions.iter().find(|c| c.kind == "InstanceProfileReady");
        class.role.is_some() && profile.is_some_and(|condition| condition.status != "True")
    };
    let Some(class) = classes.iter().find(waits) else { return Ok(None) };
    let name = &class.meta.name;
    let finding = Finding::fail(
        format!(
            "{} is set for an isolated VPC, and the NodeClass {name} has a role and no instance \
             profile yet.",
            one.name()
        ),
        "Karpenter has to call IAM to make the instance profile, and IAM has no endpoint in a VPC: \
         the NodeClass never becomes ready.",
    )
    .errors(&["iam-not-reachable"]);
    let remedy = Remedy::new(
        "Make the instance profile yourself, and name it in the NodeClass as \
         `spec.instanceProfile` in the place of `spec.role`. Take ISOLATED_VPC off if the VPC does \
         have a way out.",
    )
    .run(format!("kubectl edit ec2nodeclass {}", quote(name)));
    Ok(Some(told(finding, one, "ISOLATED_VPC", "true").mend(remedy)))
}

fn told(finding: Finding, one: &Running<'_>, name: &str, value: &str) -> Finding {
    finding.evidence("get deployment", format!("{} env {name}", one.name()), value)
}

fn set_to(one: &Running<'_>, name: &str, value: &str, words: &str) -> Remedy {
    Remedy::new(words).run(set_env(one, &format!("{name}={value}")))
}

/// The command that changes a variable of the Deployment; `NAME-` takes one off.
pub(super) fn set_env(one: &Running<'_>, change: &str) -> String {
    format!(
        "kubectl set env deployment {} --namespace {} {}",
        quote(&one.deployment.meta.name),
        quote(one.namespace()),
        quote(change)
    )
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

    fn env(env: &Value) -> Value {
        json!({"facts": {"kubernetes": {"controllers": {"known": [
            {"meta": {"name": "karpenter", "namespace": "kube-system"},
             "service_account": "karpenter", "env": env}]}}}})
    }

    #[test]
    fn rows() {
        let name = "kube-system/karpenter CLUSTER_NAME";
        let endpoint = "kube-system/karpenter CLUSTER_ENDPOINT";
        let queue = "kube-system/karpenter INTERRUPTION_QUEUE";
        let isolated = "kube-system/karpenter ISOLATED_VPC";
        let pass = &[(Status::Pass, SUBJECT)][..];
        let real = "https://EXAMPLED539D4633E53DE1B71EXAMPLE.gr7.us-west-2.eks.amazonaws.com";
        let waiting = json!({"facts": {"kubernetes": {"ec2_node_classes": {"known": [
            {"meta": {"name": "default"}, "role": "r", "conditions": [
                {"type": "InstanceProfileReady", "status": "Unknown", "since": null}]}]}}}});
        let and = |mut patch: Value, more: &Value| {
            json_patch::merge(&mut patch, more);
            patch
        };
        let alone = json!({"CLUSTER_NAME": "demo"});
        let with = |name: &str, value: &str| and(alone.clone(), &json!({name: value}));
        let mut args = env(&json!({"CLUSTER_NAME": "other"}));
        args["facts"]["kubernetes"]["controllers"]["known"][0]["args"] =
            json!(["--cluster-name=demo"]);
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[
                ("the guide's", json!({}), pass),
                ("no name", env(&json!({})), &[(Status::Fail, name)]),
                ("another name", env(&json!({"CLUSTER_NAME": "old"})), &[(Status::Fail, name)]),
                ("a flag wins", args, pass),
                ("its endpoint", env(&with("CLUSTER_ENDPOINT", &format!("{real}/"))), pass),
                (
                    "another endpoint",
                    env(&with("CLUSTER_ENDPOINT", "https://OLD.gr7.us-west-2.eks.amazonaws.com")),
                    &[(Status::Fail, endpoint)],
                ),
                ("no URL", env(&with("CLUSTER_ENDPOINT", "demo")), &[(Status::Fail, endpoint)]),
                ("its queue", env(&with("INTERRUPTION_QUEUE", "demo")), pass),
                (
                    "an ARN where the name was judged",
                    and(
                        env(&with("INTERRUPTION_QUEUE", "arn:aws:sqs:us-west-2:111122223333:demo")),
                        &json!({"scope": {"interruption_queue": "demo"}}),
                    ),
                    &[(Status::Fail, queue)],
                ),
                ("isolated", env(&with("ISOLATED_VPC", "true")), pass),
                (
                    "isolated, and IAM is wanted",
                    and(env(&with("ISOLATED_VPC", "true")), &waiting),
                    &[(Status::Fail, isolated)],
                ),
                (
                    "two faults",
                    env(&json!({"CLUSTER_NAME": "old", "CLUSTER_ENDPOINT": "x"})),
                    &[(Status::Fail, name), (Status::Fail, endpoint)],
                ),
            ],
        );
    }
}
