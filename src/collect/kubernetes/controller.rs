//! Karpenter's Deployments, their service accounts and their pods.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::join_all;
use serde::Deserialize;
use tokio::join;

use super::{
    kind::{Kind, List},
    pod::{Container, PodSpec, PodStatus, Template, env},
    server::ApiServer,
    wire::{self, Meta, Nothing, Object},
};
use crate::facts::{
    Fact,
    kubernetes::controller::{Deployment, Pod, ServiceAccount, Toleration},
};

const DEPLOYMENTS: Kind = Kind::built_in("apps", "deployments");
const SERVICE_ACCOUNTS: Kind = Kind::core("serviceaccounts");
pub const PODS: Kind = Kind::core("pods");

/// The label of Karpenter's chart, on Deployment and pods.
const NAME: (&str, &str) = ("app.kubernetes.io/name", "karpenter");
/// The end of the image's repository, in whatever registry.
const IMAGE: &str = "karpenter/controller";
/// The settings of Karpenter that are kept of an environment, beside what is the AWS SDK's.
const SETTINGS: &[&str] = &[
    "ASSUME_ROLE_ARN",
    "BATCH_IDLE_DURATION",
    "BATCH_MAX_DURATION",
    "CLUSTER_ENDPOINT",
    "CLUSTER_NAME",
    "DISABLE_DRY_RUN",
    "EKS_CONTROL_PLANE",
    "ENABLE_ZONAL_SHIFT",
    "FEATURE_GATES",
    "IGNORE_DRA_REQUESTS",
    "INTERRUPTION_QUEUE",
    "ISOLATED_VPC",
    "MIN_VALUES_POLICY",
    "PREFERENCE_POLICY",
    "RESERVED_ENIS",
    "SYSTEM_NAMESPACE",
    "VM_MEMORY_OVERHEAD_PERCENT",
];

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Spec {
    replicas: Option<u32>,
    selector: Selector,
    template: Template,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Selector {
    match_labels: BTreeMap<String, String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Status {
    ready_replicas: u32,
}

/// A Deployment, and how its pods are found.
#[derive(Debug, Clone)]
pub struct Found {
    pub deployment: Deployment,
    pods: List,
}

/// The Deployments whose container is Karpenter's controller, in whatever namespace.
pub async fn controllers(server: &ApiServer) -> Fact<Vec<Found>> {
    let add = |found: &mut Vec<Found>, deployment: Object<Spec, Status>| {
        found.extend(controller(deployment));
    };
    server.fold(&List::all(DEPLOYMENTS), Vec::new, add).await
}

/// The service accounts that these run with.
pub async fn service_accounts(
    server: &ApiServer,
    controllers: &Fact<Vec<Found>>,
) -> Fact<Vec<ServiceAccount>> {
    let Fact::Known(controllers) = controllers else {
        return controllers.clone().map(|_| Vec::new());
    };
    let names: BTreeSet<_> = controllers
        .iter()
        .map(|found| (&found.deployment.meta.namespace, &found.deployment.service_account))
        .collect();
    let reads = names.into_iter().map(|(namespace, name)| async move {
        let read: Fact<Object<Nothing>> = server.get(SERVICE_ACCOUNTS, Some(namespace), name).await;
        read.map(service_account)
    });
    existing(join_all(reads).await)
}

/// The pods of these.
pub async fn pods(server: &ApiServer, controllers: &Fact<Vec<Found>>) -> Fact<Vec<Pod>> {
    let Fact::Known(controllers) = controllers else {
        return controllers.clone().map(|_| Vec::new());
    };
    let reads = controllers.iter().map(|found| server.list(&found.pods, pod));
    existing(join_all(reads).await).map(|pods| pods.into_iter().flatten().collect())
}

/// Service accounts and pods at the same time.
pub async fn with(
    server: &ApiServer,
    controllers: &Fact<Vec<Found>>,
) -> (Fact<Vec<ServiceAccount>>, Fact<Vec<Pod>>) {
    join!(service_accounts(server, controllers), pods(server, controllers))
}

/// The values of those that exist, or the first fact that could not be read.
fn existing<T>(facts: Vec<Fact<T>>) -> Fact<Vec<T>> {
    let mut values = Vec::new();
    for fact in facts {
        match fact {
            Fact::Known(value) => values.push(value),
            Fact::Absent => {}
            unseen => return unseen.map(|_| Vec::new()),
        }
    }
    Fact::Known(values)
}

fn controller(object: Object<Spec, Status>) -> Option<Found> {
    let Object { metadata, spec, status } = object;
    let named = |meta: &Meta| meta.labels.get(NAME.0).is_some_and(|name| name == NAME.1);
    let is_named = named(&metadata) || named(&spec.template.metadata);
    let pod_labels = spec.template.metadata.labels;
    let mut pod = spec.template.spec;
    let container = container(std::mem::take(&mut pod.containers), is_named)?;
    let labels = spec.selector.match_labels.iter().map(|(key, value)| format!("{key}={value}"));
    let labels = labels.collect::<Vec<_>>().join(",");
    let pods = List::all(PODS).in_namespace(&metadata.namespace).with_labels(&labels);
    let replicas = spec.replicas.unwrap_or(1);
    let deployment = deployment(metadata, pod, container);
    let ready_replicas = status.ready_replicas;
    let deployment = Deployment { pod_labels, replicas, ready_replicas, ..deployment };
    Some(Found { deployment, pods })
}

/// Karpenter's own container: the one with its image; of a Deployment with its label, which may
/// run an image of another name, else the first.
fn container(containers: Vec<Container>, is_named: bool) -> Option<Container> {
    let at = containers.iter().position(|container| is_controller(&container.image));
    let at = at.or_else(|| is_named.then_some(0))?;
    containers.into_iter().nth(at)
}

/// Whether an image is Karpenter's controller, whatever its registry, tag and digest.
fn is_controller(image: &str) -> bool {
    let repository = image.split('@').next().unwrap_or_default();
    let (path, last) = repository.rsplit_once('/').unwrap_or(("", repository));
    let name = last.split(':').next().unwrap_or_default();
    format!("{path}/{name}").ends_with(&format!("/{IMAGE}")) || format!("{path}/{name}") == IMAGE
}

fn deployment(mut metadata: Meta, pod: PodSpec, container: Container) -> Deployment {
    let mut labels = std::mem::take(&mut metadata.labels);
    labels.retain(|label, _| {
        label.starts_with("app.kubernetes.io/") || label.starts_with("helm.sh/")
    });
    let required = pod.affinity.node_affinity.required_during_scheduling_ignored_during_execution;
    let apart = pod.affinity.pod_anti_affinity.required_during_scheduling_ignored_during_execution;
    let env_from = container.env_from.into_iter();
    let env_from = env_from.flat_map(|from| [from.config_map_ref.name, from.secret_ref.name]);
    Deployment {
        labels,
        image: container.image,
        service_account: or(pod.service_account_name, "default"),
        env: settings(env(container.env, &metadata.namespace)),
        args: flags(container.command.into_iter().skip(1).chain(container.args)),
        env_from: env_from.filter(|name| !name.is_empty()).collect(),
        dns_policy: or(pod.dns_policy, "ClusterFirst"),
        host_network: pod.host_network,
        node_selector: pod.node_selector,
        required_node_affinity: required
            .node_selector_terms
            .into_iter()
            .map(|term| wire::requirements(term.match_expressions))
            .collect(),
        tolerations: pod.tolerations.into_iter().map(toleration).collect(),
        one_replica_a_node: apart.iter().any(|term| term.topology_key == "kubernetes.io/hostname"),
        one_replica_a_zone: pod.topology_spread_constraints.iter().any(|spread| {
            spread.when_unsatisfiable == "DoNotSchedule"
                && spread.topology_key == "topology.kubernetes.io/zone"
        }),
        requests: wire::quantities(container.resources.requests),
        meta: metadata.into_facts(),
        ..Deployment::default()
    }
}

fn or(text: String, default: &str) -> String {
    if text.is_empty() { default.to_owned() } else { text }
}

/// Karpenter's settings and the AWS SDK's, without anything secret.
fn settings(mut env: BTreeMap<String, String>) -> BTreeMap<String, String> {
    env.retain(|name, _| is_kept(name));
    env
}

/// Of the AWS SDK's variables, those that hold a key, a token or a password are secrets; those
/// that name a file with one are not.
fn is_kept(name: &str) -> bool {
    let secret =
        ["SECRET", "ACCESS_KEY", "TOKEN", "PASSWORD"].iter().any(|word| name.contains(word));
    let of_aws = name.starts_with("AWS_") && (!secret || name.ends_with("_FILE"));
    of_aws || SETTINGS.contains(&name)
}

/// The flags that set what the environment could: `--cluster-name=demo`, or in two words.
fn flags(args: impl Iterator<Item = String>) -> Vec<String> {
    let mut kept = Vec::new();
    let mut args = args.peekable();
    while let Some(arg) = args.next() {
        let flag = arg.trim_start_matches('-');
        let name = flag.split('=').next().unwrap_or_default();
        let is_flag = arg.starts_with('-');
        if !is_flag || !is_kept(&name.to_ascii_uppercase().replace('-', "_")) {
            continue;
        }
        let value =
            if flag.contains('=') { None } else { args.next_if(|next| !next.starts_with('-')) };
        kept.push(arg);
        kept.extend(value);
    }
    kept
}

fn toleration(toleration: super::pod::Toleration) -> Toleration {
    Toleration {
        key: toleration.key,
        operator: or(toleration.operator, "Equal"),
        value: toleration.value,
        effect: toleration.effect,
    }
}

fn service_account(account: Object<Nothing>) -> ServiceAccount {
    let mut annotations = account.metadata.annotations.clone();
    annotations.retain(|name, _| name.starts_with("eks.amazonaws.com/"));
    ServiceAccount { meta: account.metadata.into_facts(), annotations }
}

fn pod(pod: Object<PodSpec, PodStatus>) -> Pod {
    let Object { metadata, mut spec, status } = pod;
    let container = container(std::mem::take(&mut spec.containers), true).unwrap_or_default();
    let condition = |kind: &str| status.conditions.iter().find(|found| found.kind == kind);
    let ready = condition("Ready").is_some_and(|found| found.status == "True");
    let unscheduled = condition("PodScheduled").filter(|found| found.status == "False");
    let containers = &status.container_statuses;
    let waiting = containers.iter().find_map(|found| found.state.waiting.as_ref());
    let ended = containers.iter().find_map(|found| found.last_state.terminated.as_ref());
    Pod {
        env: settings(env(container.env, &metadata.namespace)),
        unscheduled: unscheduled.map(|found| found.message.clone()),
        waiting: waiting.map(|waiting| said(&waiting.reason, &waiting.message)),
        last_ended: ended.map(|ended| said(&ended.reason, &ended.message)),
        last_ended_at: ended.and_then(|ended| ended.finished_at),
        restarts: containers.iter().map(|found| found.restart_count).sum(),
        ready,
        phase: status.phase,
        node: Some(spec.node_name).filter(|name| !name.is_empty()),
        service_account: or(spec.service_account_name, "default"),
        meta: metadata.into_facts(),
    }
}

fn said(reason: &str, message: &str) -> String {
    match message.trim() {
        "" => reason.to_owned(),
        message => format!("{reason}: {message}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_kept() {
        for (name, kept) in [
            ("CLUSTER_NAME", true),
            ("AWS_REGION", true),
            ("AWS_WEB_IDENTITY_TOKEN_FILE", true),
            ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", true),
            ("AWS_CONTAINER_AUTHORIZATION_TOKEN", false),
            ("AWS_SECRET_ACCESS_KEY", false),
            ("AWS_ACCESS_KEY_ID", false),
            ("AWS_SESSION_TOKEN", false),
            ("DB_PASSWORD", false),
            ("HTTPS_PROXY", false),
        ] {
            assert_eq!(is_kept(name), kept, "{name}");
        }
    }

    #[test]
    fn only_flags_of_settings_are_kept() {
        let args = ["run", "--cluster-name=demo", "--token", "s", "-feature-gates", "A=true", "x"];
        let kept = flags(args.into_iter().map(str::to_owned));
        assert_eq!(kept, ["--cluster-name=demo", "-feature-gates", "A=true"]);
    }
}
