//! Takes account ids and names out of a facts file, each replaced by the same stand-in
//! everywhere, so that the checks judge the redacted facts as they judge the real ones.
//!
//! Kept are what AWS or Karpenter name, zones, address ranges, versions and times.

mod given;
mod token;

use std::collections::BTreeMap;

use regex::{Captures, Regex};
use serde_json::Value;

use super::{names, saved::Saved};
use given::Given;
use token::replace;

/// Fields whose values are words of an API, not names that someone gave.
const WORDS: &[&str] = &["action", "origin", "scope", "state", "entry_type", "message"];
/// Free text that someone wrote.
const PROSE: &[&str] = &["managed_exception_message"];
/// Fields that are maps from a tag's key to its value.
const TAGS: &[&str] = &["tags", "nodeclass_tags"];
/// Fields that are maps from a name to a fact or a value.
const MAPS: &[&str] = &[
    "roles",
    "role_profiles",
    "role_policies",
    "policies",
    "queues",
    "queue_rules",
    "images",
    "named_profiles",
    "placement_groups",
    "kms_keys",
    "known",
];
/// What comes before the name in tag keys that Kubernetes, Karpenter and AWS give.
const PUBLIC_KEYS: &[&str] =
    &["kubernetes.io/", "k8s.io/", "karpenter.sh/", "k8s.aws/", "amazonaws.com/", "eks:", "aws:"];

/// The stand-in for the cluster's name.
const CLUSTER: &str = "cluster-1";

/// Account ids, random parts of names, resource ids, organisation ids and key ids, by shape.
const SHAPES: &str = r"\b(?:\d{12}|[0-9A-Z]{20,}|(ou|p)-[0-9a-z]{4,}(?:-[0-9a-z]{8,})?|(vpc|subnet|sg|ami|a|o|r|acl|core-network|dopt|eigw|eni|i|igw|lgw|mrk|nat|pcx|pl|rtb|tgw|vgw|vpce)-[0-9a-z]{2,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b";

/// The value that a trust policy shares with whoever may assume the role.
const EXTERNAL_ID: &str = r#"("sts:ExternalId"\s*:\s*)("(?:[^"\\]|\\.)*"|\[[^\]]*\])"#;

/// Why facts cannot be redacted.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error(transparent)]
    Shapes(#[from] regex::Error),
}

/// A copy without account ids, names, resource ids, tag values and messages.
pub fn redact(saved: &Saved) -> Result<Saved, Error> {
    let mut value = serde_json::to_value(saved)?;
    let mut redactor = Redactor::new(saved, &value)?;
    redactor.visit(&mut value, "");
    Ok(serde_json::from_value(value)?)
}

struct Redactor {
    /// Names that someone gave, longest first, with their stand-ins.
    names: Vec<(String, String)>,
    shapes: Regex,
    external_id: Regex,
    stand_ins: BTreeMap<String, String>,
    counts: BTreeMap<String, usize>,
}

impl Redactor {
    fn new(saved: &Saved, value: &Value) -> Result<Self, Error> {
        let cluster = saved.scope.cluster.as_str();
        let usual = usual_names(cluster);
        let mut names = vec![(cluster.to_owned(), CLUSTER.to_owned())];
        // By these names things are found, also where the cluster's is left in a longer one.
        names.extend(usual.iter().cloned().zip(usual_names(CLUSTER)));
        names.retain(|_| !token::says_nothing(cluster));
        for (n, name) in Given::of(saved, value)?.names().into_iter().enumerate() {
            // These say nothing once the cluster's name in them is replaced.
            if name == cluster || usual.contains(&name) || token::says_nothing(&name) {
                continue;
            }
            // How a role is found may rest on this word in its name.
            let karpenter = name.to_ascii_lowercase().contains("karpenter");
            let kind = if karpenter { "karpenter-name" } else { "name" };
            names.push((name, format!("{kind}-{}", n + 1)));
        }
        names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        let (shapes, external_id) = (Regex::new(SHAPES)?, Regex::new(EXTERNAL_ID)?);
        Ok(Self { names, shapes, external_id, stand_ins: BTreeMap::new(), counts: BTreeMap::new() })
    }

    fn visit(&mut self, value: &mut Value, field: &str) {
        match value {
            Value::String(text) if PROSE.contains(&field) => *text = self.stand_in("text", text),
            Value::String(text) if field == "message" => *text = self.text(text),
            Value::String(text) if field == "discovery_tag" => *text = self.tag(text),
            Value::String(text) if field == "tag value" => *text = self.tag_value(text),
            Value::String(text) if !WORDS.contains(&field) => *text = self.text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.visit(item, field)),
            Value::Object(fields) => {
                let visited = std::mem::take(fields).into_iter().map(|(key, mut value)| {
                    let inner = if TAGS.contains(&field) { "tag value" } else { key.as_str() };
                    self.visit(&mut value, inner);
                    let key = match field {
                        _ if TAGS.contains(&field) => self.tag_key(&key),
                        _ if MAPS.contains(&field) => self.text(&key),
                        _ => key,
                    };
                    (key, value)
                });
                *fields = visited.collect();
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str) -> String {
        let mut redacted = self.external_id.replace_all(text, r#"$1"external-id""#).into_owned();
        for (name, stand_in) in &self.names {
            redacted = replace(&redacted, name, stand_in, stand_in == CLUSTER);
        }
        let shapes = self.shapes.clone();
        let by_shape = |found: &Captures<'_>| {
            let is_account = found[0].bytes().all(|byte| byte.is_ascii_digit());
            let kind = found.get(1).or(found.get(2)).map_or("id", |kind| kind.as_str());
            self.stand_in(if is_account { "account" } else { kind }, &found[0])
        };
        shapes.replace_all(&redacted, by_shape).into_owned()
    }

    fn tag(&mut self, tag: &str) -> String {
        match tag.split_once('=') {
            Some((key, value)) => format!("{}={}", self.tag_key(key), self.tag_value(value)),
            None => self.tag_key(tag),
        }
    }

    fn tag_key(&mut self, key: &str) -> String {
        if key == "Name" || PUBLIC_KEYS.iter().any(|public| key.contains(public)) {
            self.text(key)
        } else {
            self.stand_in("key", key)
        }
    }

    /// Any value may say something of whoever gave it, but for those that say yes or no.
    fn tag_value(&mut self, value: &str) -> String {
        let redacted = self.text(value);
        let says_nothing = ["", "*", "1", "0", "true", "false", "owned", "shared"].contains(&value);
        if redacted != value || says_nothing { redacted } else { self.stand_in("value", value) }
    }

    /// The stand-in of a text: always the same one, in the shape that checks may look at.
    fn stand_in(&mut self, kind: &str, real: &str) -> String {
        if let Some(known) = self.stand_ins.get(real) {
            return known.clone();
        }
        let count = self.counts.entry(kind.to_owned()).or_default();
        *count += 1;
        let stand_in = match kind {
            "account" => format!("{count:012}"),
            _ => format!("{kind}-{count:02}"),
        };
        self.stand_ins.insert(real.to_owned(), stand_in.clone());
        stand_in
    }
}

fn usual_names(cluster: &str) -> Vec<String> {
    let roles = names::controller_roles(cluster).into_iter().chain(names::node_roles(cluster));
    roles.chain(names::queues(cluster)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::{
        checks::{self, Context, testing::Account},
        outcome::Status,
        target::{resolve::resolve, saved::Saved},
    };

    fn statuses(saved: &Saved) -> Vec<(String, Status)> {
        let target = resolve(&saved.scope, &saved.facts);
        let cx = Context::new(&target, saved);
        let outcomes = checks::run::run(checks::ALL, &cx);
        outcomes.into_iter().map(|outcome| (outcome.check, outcome.status)).collect()
    }

    /// The account with its cluster under another name.
    fn renamed(account: Account, patch: &Value, cluster: &str) -> Saved {
        let text = serde_json::to_string(&account.patched(patch)).unwrap();
        serde_json::from_str(&text.replace("demo", cluster)).unwrap()
    }

    #[test]
    fn verdicts_stay_and_names_go() {
        let broken = json!({"facts": {
            "roles": {"KarpenterNodeRole-demo": "absent"},
            "spot_role": "absent",
            "imds_defaults": {"known": {"instance_metadata_tags": "enabled"}},
        }});
        for account in [Account::Karpenter, Account::AutoMode] {
            for patch in [json!({}), broken.clone()] {
                // A name of its own, a word of ARNs, a word of tags, and a very short one.
                for cluster in ["payments-prod", "eks", "cluster", "x"] {
                    let saved = renamed(account, &patch, cluster);
                    let redacted = super::redact(&saved).unwrap();
                    assert_eq!(statuses(&saved), statuses(&redacted), "{cluster}");
                    let text = redacted.to_text().unwrap();
                    for secret in ["111122223333", "payments", "EXAMPLE"] {
                        assert!(!text.contains(secret), "{secret} is still in\n{text}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_someone_wrote_goes_wherever_it_stands() {
        let patch = json!({
            "scope": {
                "controller_role": "acme-controller",
                "node_roles": ["arn:aws:iam::111122223333:role/acme/demo-acme-node"],
                "discovery_tag": "acme.example/find=acme-value",
            },
            "facts": {
                "imds_defaults": {"known": {"managed_exception_message": "ask acme"}},
                "cluster": {"known": {"role_arn": "arn:aws:iam::111122223333:role/acme-prod-demo-cluster"}},
                "roles": {"demo-cluster": {"known": {"trust": "{\"Statement\":[{\"Effect\":\"Allow\",\"Principal\":{\"AWS\":\"arn:aws:iam::111122223333:role/acme-admin\"},\"Action\":\"sts:AssumeRole\",\"Condition\":{\"StringEquals\":{\"aws:PrincipalOrgID\":\"o-acme123456\",\"sts:ExternalId\":\"acme-secret\"}}}]}"}}},
                "vpc_subnets": {"known": [{"id": "subnet-0a", "arn": null, "vpc_id": "vpc-0a", "zone": "us-west-2a",
                    "zone_id": null, "cidr": null, "free_addresses": 1, "owner": null,
                    "tags": {"Name": "acme-a", "acme-team": "acme-b", "acme.example/find": "acme-value"}}]},
            },
        });
        let text = super::redact(&Account::Karpenter.patched(&patch)).unwrap().to_text().unwrap();
        assert!(!text.contains("acme"), "{text}");
    }
}
