//! Who has to answer before the API server takes a pod, a node, or what Karpenter is made of.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use serde::Deserialize;

use super::{Found, Labels, Rule, Wire};
use crate::{
    collect::kubernetes::{
        kind::{Kind, List},
        server::ApiServer,
    },
    facts::{
        Fact,
        kubernetes::webhooks::{Gatekeeper, ServiceName},
    },
};

const SLICES: Kind = Kind::built_in("discovery.k8s.io", "endpointslices");
/// The label that leads from an EndpointSlice to its Service.
const SERVICE: &str = "kubernetes.io/service-name";

/// How many services are looked at: nobody has as many.
const MOST: usize = 50;

/// What nodes, pods and Karpenter itself are made of; each in its group.
const WATCHED: [(&str, &str); 14] = [
    ("", "bindings"),
    ("", "nodes"),
    ("", "pods"),
    ("", "pods/binding"),
    ("", "pods/eviction"),
    ("", "serviceaccounts"),
    ("", "services"),
    ("apps", "daemonsets"),
    ("apps", "deployments"),
    ("apps", "replicasets"),
    ("coordination.k8s.io", "leases"),
    ("karpenter.k8s.aws", "ec2nodeclasses"),
    ("karpenter.sh", "nodeclaims"),
    ("karpenter.sh", "nodepools"),
];

/// The services that these webhooks lead to; who of them is ready is not asked yet. A URL outside
/// of the cluster is nobody's here to judge.
pub fn of(found: &[Found]) -> Vec<Gatekeeper> {
    let mut all: BTreeMap<ServiceName, Gatekeeper> = BTreeMap::new();
    for one in found.iter().filter(|one| !one.is_karpenters()) {
        let Found { kind, configuration, webhook } = one;
        let asked_about = watched(webhook);
        let service = webhook.client_config.clone().into_service();
        let Some(service) = service.filter(|_| !asked_about.is_empty()) else { continue };
        let limited = is_limited(webhook);
        let gatekeeper = all.entry(service.clone()).or_insert_with(|| Gatekeeper {
            service,
            limited,
            ..Gatekeeper::default()
        });
        let kind = kind.plural.trim_end_matches('s');
        gatekeeper.configurations.insert(format!("{kind} {configuration}"));
        gatekeeper.asked_about.extend(asked_about);
        // What one of them is asked about everywhere is refused everywhere.
        gatekeeper.limited &= limited;
    }
    all.into_values().take(MOST).collect()
}

/// Asks for each of them who is ready.
pub async fn asked(
    server: &ApiServer,
    gatekeepers: Fact<Vec<Gatekeeper>>,
) -> Fact<Vec<Gatekeeper>> {
    match gatekeepers {
        Fact::Known(all) => Fact::Known(
            join_all(all.into_iter().map(async |gatekeeper| Gatekeeper {
                ready: ready(server, &gatekeeper.service).await,
                ..gatekeeper
            }))
            .await,
        ),
        unread => unread,
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Slice {
    /// An empty list is written as null.
    endpoints: Option<Vec<Endpoint>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Endpoint {
    conditions: Conditions,
}

/// Where nothing is said of it, an endpoint is to be taken as ready.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Conditions {
    ready: Option<bool>,
}

async fn ready(server: &ApiServer, service: &ServiceName) -> Fact<u32> {
    let list = List::all(SLICES)
        .in_namespace(&service.namespace)
        .with_labels(&format!("{SERVICE}={}", service.name));
    let add = |count: &mut u32, slice: Slice| {
        let all = slice.endpoints.iter().flatten();
        let ready = all.filter(|endpoint| endpoint.conditions.ready != Some(false)).count();
        *count += u32::try_from(ready).unwrap_or(u32::MAX);
    };
    server.fold(&list, u32::default, add).await
}

/// Those of the watched resources that are refused when the webhook does not answer.
fn watched(webhook: &Wire) -> Vec<String> {
    if webhook.failure_policy == "Ignore" {
        return Vec::new();
    }
    let rules = || webhook.rules.iter().filter(|rule| changes(rule));
    let is_asked = |group: &str, resource: &str| rules().any(|rule| takes(rule, group, resource));
    WATCHED
        .iter()
        .filter(|(group, resource)| is_asked(group, resource))
        .map(|(_, resource)| (*resource).to_owned())
        .collect()
}

/// Whether a rule is about more than deleting and connecting.
fn changes(rule: &Rule) -> bool {
    rule.operations.iter().any(|of| ["*", "CREATE", "UPDATE"].contains(&of.as_str()))
}

fn takes(rule: &Rule, group: &str, resource: &str) -> bool {
    let in_group = rule.api_groups.iter().any(|of| of == "*" || of == group);
    let (kind, sub) = resource.split_once('/').unwrap_or((resource, ""));
    in_group
        && rule.resources.iter().any(|of| {
            let (of, of_sub) = of.split_once('/').unwrap_or((of, ""));
            // `*` alone is every resource without a part, `*/*` every one with and without.
            (of == "*" || of == kind) && (of_sub == sub || of_sub == "*")
        })
}

/// Whether objects, or their namespaces, must have certain labels for it to be asked.
fn is_limited(webhook: &Wire) -> bool {
    let wants = |labels: &Labels| {
        let expressions = labels.match_expressions.iter();
        !labels.match_labels.is_empty()
            || expressions.clone().any(|of| ["In", "Exists"].contains(&of.operator.as_str()))
    };
    wants(&webhook.namespace_selector) || wants(&webhook.object_selector)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, from_value, json};

    use super::*;

    fn found(webhook: Value) -> Found {
        let kind =
            Kind::built_in("admissionregistration.k8s.io", "validatingwebhookconfigurations");
        Found { kind, configuration: "kyverno".to_owned(), webhook: from_value(webhook).unwrap() }
    }

    fn webhook(part: &Value) -> Value {
        let mut webhook = json!({
            "name": "validate.kyverno.svc-fail", "failurePolicy": "Fail",
            "clientConfig": {"service": {"namespace": "kyverno", "name": "kyverno-svc"}},
            "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"],
                "resources": ["pods"]}]});
        json_patch::merge(&mut webhook, part);
        webhook
    }

    fn asked_about(part: &Value) -> Vec<String> {
        let all = of(&[found(webhook(part))]);
        all.into_iter().flat_map(|gatekeeper| gatekeeper.asked_about).collect()
    }

    fn rule(operations: &[&str], group: &str, resources: &[&str]) -> Value {
        json!({"rules": [{"operations": operations, "apiGroups": [group], "apiVersions": ["*"],
            "resources": resources}]})
    }

    #[test]
    fn what_is_refused_without_an_answer() {
        for (part, expected) in [
            (json!({}), &["pods"][..]),
            (json!({"failurePolicy": null}), &["pods"]),
            (json!({"failurePolicy": "Ignore"}), &[]),
            (json!({"clientConfig": {"service": null, "url": "https://a.example"}}), &[]),
            (json!({"name": "validation.webhook.karpenter.sh"}), &[]),
            (rule(&["DELETE"], "", &["pods"]), &[]),
            (rule(&["*"], "", &["pods/eviction", "secrets"]), &["pods/eviction"]),
            (rule(&["CREATE"], "", &["pods/*"]), &["pods", "pods/binding", "pods/eviction"]),
            (rule(&["UPDATE"], "apps", &["*"]), &["daemonsets", "deployments", "replicasets"]),
            (rule(&["CREATE"], "batch", &["*"]), &[]),
            (rule(&["CREATE"], "cert-manager.io", &["*/*"]), &[]),
        ] {
            assert_eq!(asked_about(&part), expected, "{part}");
        }
        assert_eq!(asked_about(&rule(&["CREATE"], "*", &["*/*"])).len(), WATCHED.len());
    }

    #[test]
    fn where_it_is_asked() {
        let selector =
            |expression: &Value| json!({"namespaceSelector": {"matchExpressions": [expression]}});
        for (part, limited) in [
            (json!({}), false),
            (selector(&json!({"key": "a", "operator": "NotIn", "values": ["kube-system"]})), false),
            (selector(&json!({"key": "a", "operator": "DoesNotExist"})), false),
            (selector(&json!({"key": "a", "operator": "Exists"})), true),
            (json!({"objectSelector": {"matchLabels": {"a": "b"}}}), true),
        ] {
            let found = [found(webhook(&part))];
            assert_eq!(of(&found)[0].limited, limited, "{part}");
            let both = [found[0].clone(), self::found(webhook(&json!({})))];
            assert!(!of(&both)[0].limited, "{part}");
            assert_eq!(of(&both).len(), 1);
        }
    }
}
