//! `deploy/rbac.yaml` is exactly what is asked of an API server.

use std::{collections::BTreeSet, fs};

use serde_json::Value;

use super::{ApiServer, Asked, Cluster, collected};
use crate::emulator::{self, Account};

/// Verb, resource, and the name where only some may be read.
type Permission = (String, String, Option<String>);

fn texts(value: &Value) -> Vec<String> {
    let texts = value.as_array().into_iter().flatten();
    texts.map(|text| text.as_str().unwrap().to_owned()).collect()
}

pub fn published() -> BTreeSet<Permission> {
    let text = fs::read_to_string(emulator::root().join("deploy/rbac.yaml")).unwrap();
    let role = text.split("\n---\n").next().unwrap();
    let role: Value = serde_saphyr::from_str(role).unwrap();
    let mut permissions = BTreeSet::new();
    for rule in role["rules"].as_array().unwrap() {
        let groups = texts(&rule["apiGroups"]);
        let in_groups = texts(&rule["resources"]).into_iter().flat_map(|resource| {
            groups.iter().map(move |group| match group.as_str() {
                "" => resource.clone(),
                group => format!("{resource}.{group}"),
            })
        });
        let resources: Vec<_> = in_groups.chain(texts(&rule["nonResourceURLs"])).collect();
        let mut names: Vec<_> = texts(&rule["resourceNames"]).into_iter().map(Some).collect();
        if names.is_empty() {
            names.push(None);
        }
        for verb in texts(&rule["verbs"]) {
            for resource in &resources {
                let named = names.iter().map(|name| (verb.clone(), resource.clone(), name.clone()));
                permissions.extend(named);
            }
        }
    }
    permissions
}

/// What is asked of clusters that between them come through every branch.
fn made() -> BTreeSet<Asked> {
    let guide = Account::seeded(&["getting-started"], "us-west-2");
    let auto = Account::seeded(&["auto-mode"], "us-west-2");
    let clusters = [
        (&guide, Cluster::karpenter(&guide)),
        (&guide, Cluster::default()),
        (&auto, Cluster::auto_mode(&auto)),
    ];
    let mut made = BTreeSet::new();
    for (account, cluster) in clusters {
        let server = ApiServer::start(cluster);
        collected(&server, account, &[]);
        made.extend(server.log());
    }
    made
}

#[test]
fn the_role_allows_exactly_what_is_asked() {
    let published = published();
    let by_name = |asked: &Asked| {
        let of_any = (asked.verb.to_owned(), asked.resource.clone(), None);
        let of_one = (asked.verb.to_owned(), asked.resource.clone(), asked.name.clone());
        if published.contains(&of_any) { of_any } else { of_one }
    };
    let made: BTreeSet<Permission> = made().iter().map(by_name).collect();
    assert_eq!(made, published);
}

#[test]
fn nothing_but_get_and_list_and_no_secret() {
    for (verb, resource, _) in published() {
        assert!(["get", "list"].contains(&verb.as_str()), "{verb} {resource}");
        assert!(!resource.contains("secret") && !resource.contains('*'), "{resource}");
    }
}
