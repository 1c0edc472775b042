//! The objects of a cluster, and how the API serves them.

use std::{collections::BTreeMap, fs};

use serde_json::{Value, json};

use super::{Asked, status};
use crate::{
    emulator::{self, Account},
    proxy::http::Response,
};

const MUTATING: &str = "MutatingWebhookConfiguration";
const VALIDATING: &str = "ValidatingWebhookConfiguration";

/// Built-in kinds: group, plural, kind. Custom ones are known by their definitions.
const BUILT_IN: &[(&str, &str, &str)] = &[
    ("", "configmaps", "ConfigMap"),
    ("", "events", "Event"),
    ("", "limitranges", "LimitRange"),
    ("", "namespaces", "Namespace"),
    ("", "nodes", "Node"),
    ("", "persistentvolumeclaims", "PersistentVolumeClaim"),
    ("", "persistentvolumes", "PersistentVolume"),
    ("", "pods", "Pod"),
    ("", "serviceaccounts", "ServiceAccount"),
    ("admissionregistration.k8s.io", "mutatingwebhookconfigurations", MUTATING),
    ("admissionregistration.k8s.io", "validatingwebhookconfigurations", VALIDATING),
    ("apiextensions.k8s.io", "customresourcedefinitions", "CustomResourceDefinition"),
    ("apps", "daemonsets", "DaemonSet"),
    ("apps", "deployments", "Deployment"),
    ("apps", "statefulsets", "StatefulSet"),
    ("discovery.k8s.io", "endpointslices", "EndpointSlice"),
    ("policy", "poddisruptionbudgets", "PodDisruptionBudget"),
    ("storage.k8s.io", "csinodes", "CSINode"),
    ("storage.k8s.io", "storageclasses", "StorageClass"),
];

/// Items of a list.
pub enum Items {
    Given(Vec<Value>),
    /// This many, each made when it is served.
    Made(usize, fn(usize) -> String),
}

impl Items {
    fn len(&self) -> usize {
        match self {
            Self::Given(items) => items.len(),
            Self::Made(count, _) => *count,
        }
    }

    fn text(&self, at: usize) -> String {
        match self {
            Self::Given(items) => items[at].to_string(),
            Self::Made(_, make) => make(at),
        }
    }
}

/// A cluster's objects by kind, as `kubectl get -o json` prints them.
#[derive(Default)]
pub struct Cluster {
    by_kind: BTreeMap<String, Items>,
}

/// A path of the API.
struct Place<'a> {
    group: &'a str,
    version: &'a str,
    namespace: Option<&'a str>,
    plural: &'a str,
    name: Option<&'a str>,
}

fn place(path: &str) -> Option<Place<'_>> {
    let parts: Vec<_> = path.trim_start_matches('/').split('/').collect();
    let (group, version, rest) = match parts.as_slice() {
        ["api", version, rest @ ..] => ("", *version, rest),
        ["apis", group, version, rest @ ..] => (*group, *version, rest),
        _ => return None,
    };
    let (namespace, plural, name) = match rest {
        ["namespaces", namespace, plural, name] => (Some(*namespace), *plural, Some(*name)),
        ["namespaces", namespace, plural] => (Some(*namespace), *plural, None),
        [plural, name] => (None, *plural, Some(*name)),
        [plural] => (None, *plural, None),
        _ => return None,
    };
    Some(Place { group, version, namespace, plural, name })
}

impl Cluster {
    /// Karpenter as the getting-started guide installs it, and healthy.
    pub fn karpenter(account: &Account) -> Self {
        Self::of("karpenter.json", account)
    }

    /// EKS Auto Mode with its built-in NodeClass and NodePools, and healthy.
    pub fn auto_mode(account: &Account) -> Self {
        Self::of("auto-mode.json", account)
    }

    /// The objects of a file, with the account's own ids in them.
    fn of(file: &str, account: &Account) -> Self {
        let path = emulator::data("kubernetes").join(file);
        let text = fs::read_to_string(path).unwrap().replace("111122223333", &account.number);
        let made = &account.made;
        let subnets = made["privateSubnets"].as_array().into_iter().flatten();
        let subnets = subnets.enumerate().map(|(n, id)| (format!("subnet-private-{}", n + 1), id));
        let text = subnets
            .chain([("sg-cluster".to_owned(), &made["clusterSecurityGroup"])])
            .filter_map(|(stand_in, id)| Some((stand_in, id.as_str()?)))
            .fold(text, |text, (stand_in, id)| text.replace(&stand_in, id));
        let list: Value = serde_json::from_str(&text).unwrap();
        let objects = list["items"].as_array().unwrap().iter().cloned();
        objects.fold(Self::default(), Self::with)
    }

    /// The cluster with one more object.
    pub fn with(mut self, object: Value) -> Self {
        let kind = object["kind"].as_str().unwrap().to_owned();
        match self.by_kind.entry(kind).or_insert_with(|| Items::Given(Vec::new())) {
            Items::Given(items) => items.push(object),
            Items::Made(..) => panic!("its items are made when they are served"),
        }
        self
    }

    /// The cluster with these items of a kind in place of its own.
    pub fn with_items(mut self, kind: &str, items: Items) -> Self {
        self.by_kind.insert(kind.to_owned(), items);
        self
    }

    /// The cluster without an object.
    pub fn without(mut self, kind: &str, name: &str) -> Self {
        let Some(Items::Given(items)) = self.by_kind.get_mut(kind) else { panic!("no {kind}") };
        let before = items.len();
        items.retain(|item| item["metadata"]["name"] != name);
        assert!(items.len() < before, "no {kind} {name}");
        self
    }

    /// The cluster with a merge patch over one object.
    pub fn patch(mut self, kind: &str, name: &str, patch: &Value) -> Self {
        let Some(Items::Given(items)) = self.by_kind.get_mut(kind) else { panic!("no {kind}") };
        let item = items.iter_mut().find(|item| item["metadata"]["name"] == name);
        json_patch::merge(item.unwrap_or_else(|| panic!("no {kind} {name}")), patch);
        self
    }

    /// What a request asks for.
    pub fn asked(&self, path: &str) -> Asked {
        let Some(place) = place(path) else {
            return Asked { verb: "get", resource: path.to_owned(), name: None };
        };
        let resource = match place.group {
            "" => place.plural.to_owned(),
            group => format!("{}.{group}", place.plural),
        };
        let verb = if place.name.is_some() { "get" } else { "list" };
        Asked { verb, resource, name: place.name.map(str::to_owned) }
    }

    pub fn answer(&self, path: &str, query: &str) -> Response {
        if path == "/version" {
            let version = json!({"major": "1", "minor": "35", "gitVersion": "v1.35.2-eks-3abbec1"});
            return Response::new(200, "application/json", version.to_string());
        }
        let place = place(path);
        let kind = place.as_ref().and_then(|place| Some((place, self.kind(place)?)));
        let Some((place, (kind, custom))) = kind else {
            return Response::new(404, "text/plain; charset=utf-8", "404 page not found\n");
        };
        match place.name {
            Some(name) => self.get(place, &kind, name),
            None => self.list(place, &kind, custom, query),
        }
    }

    /// The kind at a path, and whether it is a custom one.
    fn kind(&self, place: &Place<'_>) -> Option<(String, bool)> {
        let built_in = BUILT_IN
            .iter()
            .find(|(group, plural, _)| (*group, *plural) == (place.group, place.plural));
        if let Some((_, _, kind)) = built_in {
            return (place.version == "v1").then(|| ((*kind).to_owned(), false));
        }
        let Some(Items::Given(definitions)) = self.by_kind.get("CustomResourceDefinition") else {
            return None;
        };
        let name = format!("{}.{}", place.plural, place.group);
        let found = definitions.iter().find(|one| one["metadata"]["name"] == *name)?;
        let versions = found["spec"]["versions"].as_array()?;
        let served =
            versions.iter().any(|one| one["name"] == place.version && one["served"] == true);
        served.then(|| (found["spec"]["names"]["kind"].as_str().unwrap().to_owned(), true))
    }

    fn get(&self, place: &Place<'_>, kind: &str, name: &str) -> Response {
        let found = match self.by_kind.get(kind) {
            Some(Items::Given(items)) => items.iter().find(|item| {
                item["metadata"]["name"] == name
                    && place.namespace.is_none_or(|ns| item["metadata"]["namespace"] == ns)
            }),
            _ => None,
        };
        match found {
            Some(object) => Response::new(200, "application/json", object.to_string()),
            None => {
                let message = format!("{} \"{name}\" not found", place.plural);
                status(404, "NotFound", &message)
            }
        }
    }

    fn list(&self, place: &Place<'_>, kind: &str, custom: bool, query: &str) -> Response {
        let option =
            |name: &str| query.split('&').find_map(|part| part.strip_prefix(&format!("{name}=")));
        let none = Items::Given(Vec::new());
        let items = self.by_kind.get(kind).unwrap_or(&none);
        let wanted: Vec<usize> = (0..items.len())
            .filter(|at| fits(items, *at, place, option("labelSelector")))
            .collect();
        let limit: usize = option("limit").map_or(usize::MAX, |limit| limit.parse().unwrap());
        let from: usize = option("continue").map_or(0, |from| from.parse().unwrap());
        let to = from.saturating_add(limit).min(wanted.len());
        let texts: Vec<_> = wanted[from..to].iter().map(|at| items.text(*at)).collect();
        let mut metadata = json!({"resourceVersion": "184467"});
        if to < wanted.len() {
            metadata["continue"] = json!(to.to_string());
            metadata["remainingItemCount"] = json!(wanted.len() - to);
        }
        let group =
            if place.group.is_empty() { String::new() } else { format!("{}/", place.group) };
        let version = format!("{group}{}", place.version);
        // A built-in kind writes an empty list as it is, a custom one too; nobody counts on it.
        let items = if texts.is_empty() && custom {
            "null".to_owned()
        } else {
            format!("[{}]", texts.join(","))
        };
        let body = format!(
            r#"{{"kind":"{kind}List","apiVersion":"{version}","metadata":{metadata},"items":{items}}}"#
        );
        Response::new(200, "application/json", body)
    }
}

fn fits(items: &Items, at: usize, place: &Place<'_>, selector: Option<&str>) -> bool {
    let Items::Given(items) = items else { return selector.is_none() && place.namespace.is_none() };
    let metadata = &items[at]["metadata"];
    let labels =
        selector.unwrap_or_default().replace("%3D", "=").replace("%2C", ",").replace("%2F", "/");
    place.namespace.is_none_or(|namespace| metadata["namespace"] == namespace)
        && labels
            .split(',')
            .filter_map(|one| one.split_once('='))
            .all(|(key, value)| metadata["labels"][key] == value)
}
