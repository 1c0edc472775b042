//! Takes account ids and names out of a facts file, each replaced by the same stand-in
//! everywhere, so that the checks judge the redacted facts as they judge the real ones.

use std::collections::{BTreeMap, BTreeSet};

use regex::{Captures, Regex};
use serde_json::Value;

use super::saved::Saved;
use crate::facts::{Facts, arn};

/// Fields whose values are words of an API or a chart, not names that someone gave.
const WORDS: &[&str] = &["action", "namespace", "origin", "service_account", "state", "entry_type"];
/// Fields that are maps from a name to a fact or a value.
const MAPS: &[&str] = &[
    "roles",
    "role_profiles",
    "role_policies",
    "policies",
    "queues",
    "queue_rules",
    "known",
    "tags",
];

/// A copy without account ids, names, resource ids, endpoints and tag values.
pub fn redact(saved: &Saved) -> Result<Saved, serde_json::Error> {
    let mut value = serde_json::to_value(saved)?;
    let mut redactor = Redactor::new(saved);
    redactor.visit(&mut value, "");
    serde_json::from_value(value)
}

struct Redactor {
    /// Names that someone gave, longest first, with their stand-ins.
    names: Vec<(String, String)>,
    /// Account ids, resource ids and random parts, by shape.
    shapes: Option<Regex>,
    stand_ins: BTreeMap<String, String>,
    counts: BTreeMap<String, usize>,
}

impl Redactor {
    fn new(saved: &Saved) -> Self {
        let cluster = &saved.scope.cluster;
        let mut names = vec![(cluster.clone(), "cluster-1".to_owned())];
        for (n, name) in given_names(saved).into_iter().enumerate() {
            if contains_token(&name, cluster) || is_known_to_all(&name) {
                continue;
            }
            // How a role is found may rest on this word in its name.
            let product =
                if name.to_ascii_lowercase().contains("karpenter") { "karpenter-" } else { "" };
            names.push((name, format!("{product}name-{}", n + 1)));
        }
        names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        let shapes = r"\b(?:\d{12}|[0-9A-Z]{30,}|(vpc|subnet|sg|ami|a)-[0-9a-z]{2,}|gr7|yl4)\b";
        Self {
            names,
            shapes: Regex::new(shapes).ok(),
            stand_ins: BTreeMap::new(),
            counts: BTreeMap::new(),
        }
    }

    fn visit(&mut self, value: &mut Value, field: &str) {
        match value {
            Value::String(text) if !WORDS.contains(&field) => *text = self.text(text, field),
            Value::Array(items) => items.iter_mut().for_each(|item| self.visit(item, field)),
            Value::Object(fields) => {
                let renames = MAPS.contains(&field);
                let visited = std::mem::take(fields).into_iter().map(|(key, mut value)| {
                    // A tag's value is visited as such, whatever its key is.
                    let inner = if field == "tags" { "tag value" } else { key.as_str() };
                    self.visit(&mut value, inner);
                    (if renames { self.text(&key, "key") } else { key }, value)
                });
                *fields = visited.collect();
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str, field: &str) -> String {
        let mut redacted = text.to_owned();
        for (name, stand_in) in &self.names {
            redacted = replace_token(&redacted, name, stand_in);
        }
        if field == "tag value" && redacted == text && !text.is_empty() {
            return self.stand_in("value", text);
        }
        let Some(shapes) = self.shapes.clone() else { return redacted };
        shapes
            .replace_all(&redacted, |found: &Captures<'_>| {
                let kind = found.get(1).map_or("id", |kind| kind.as_str());
                self.stand_in(kind, &found[0])
            })
            .into_owned()
    }

    fn stand_in(&mut self, kind: &str, real: &str) -> String {
        if let Some(known) = self.stand_ins.get(real) {
            return known.clone();
        }
        let is_account = real.len() == 12 && real.bytes().all(|byte| byte.is_ascii_digit());
        let kind = if is_account { "account" } else { kind };
        let count = self.counts.entry(kind.to_owned()).or_default();
        *count += 1;
        // Stand-ins keep the shape that checks may look at.
        let stand_in = match kind {
            "account" => format!("{count:012}"),
            _ => format!("{kind}-{count:02}"),
        };
        self.stand_ins.insert(real.to_owned(), stand_in.clone());
        stand_in
    }
}

/// The names that someone gave to roles, profiles, queues, rules, groups and sessions.
fn given_names(saved: &Saved) -> BTreeSet<String> {
    let facts = &saved.facts;
    let mut names: BTreeSet<String> =
        facts.roles.keys().chain(facts.queues.keys()).cloned().collect();
    let profiles = facts.role_profiles.values().chain([&facts.instance_profiles]);
    for profile in profiles.filter_map(|profiles| profiles.value()).flatten() {
        names.insert(profile.name.clone());
        names.extend(profile.roles.iter().cloned());
    }
    let rules = facts.queue_rules.values().filter_map(|rules| rules.value()).flatten();
    names.extend(rules.filter_map(|rule| rule.value()).map(|rule| rule.name.clone()));
    for groups in [&facts.discovered_security_groups, &facts.vpc_security_groups] {
        names.extend(groups.value().into_iter().flatten().map(|group| group.name.clone()));
    }
    names.extend(facts.node_groups.value().into_iter().flatten().map(|group| group.name.clone()));
    let entries = facts.access_entries.value().into_iter().flatten();
    names.extend(entries.map(|(principal, _)| arn::role_name(principal).to_owned()));
    names.extend(policy_names(facts));
    names.extend(saved.scope.node_roles.iter().map(|role| arn::role_name(role).to_owned()));
    if let Some(caller) = facts.caller.value() {
        names.extend(caller.arn.split('/').skip(1).map(str::to_owned));
    }
    // A name of a letter or two would be found everywhere.
    names.retain(|name| name.len() > 2);
    names
}

/// The names of policies, but for AWS's own.
fn policy_names(facts: &Facts) -> impl Iterator<Item = String> {
    let inline = facts.role_policies.values().filter_map(|policies| policies.inline.value());
    let own = facts.policies.keys().filter(|policy| arn::account(policy) != Some("aws"));
    inline
        .flat_map(|inline| inline.keys())
        .cloned()
        .chain(own.map(|p| arn::role_name(p).to_owned()))
}

/// Names that AWS gives, the same in every account.
fn is_known_to_all(name: &str) -> bool {
    name.starts_with("AWSServiceRole") || name == "default"
}

fn contains_token(text: &str, token: &str) -> bool {
    replace_token(text, token, "") != text
}

/// Replaces a name where it stands by itself: not inside a word, nor before a domain's dot.
fn replace_token(text: &str, token: &str, by: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(token) {
        let (before, after) = (&rest[..at], &rest[at + token.len()..]);
        let starts = !ends_in_word(if before.is_empty() { &out } else { before });
        // Karpenter's instance profiles are named `<cluster>_<number>`, and policies follow that.
        let ends = !after.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '.');
        out.push_str(before);
        out.push_str(if starts && ends { by } else { token });
        rest = after;
    }
    out + rest
}

fn ends_in_word(text: &str) -> bool {
    text.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::{
        checks::{self, Context, testing::Account},
        outcome::Status,
        target::{resolve::resolve, saved::Saved},
    };

    fn statuses(saved: &Saved) -> Vec<(String, Status)> {
        let target = resolve(&saved.scope, &saved.facts);
        let cx = Context { target: &target, facts: &saved.facts };
        let outcomes = checks::run::run(checks::ALL, &cx);
        outcomes.into_iter().map(|outcome| (outcome.check, outcome.status)).collect()
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
                let saved = account.patched(&patch);
                let redacted = super::redact(&saved).unwrap();
                assert_eq!(statuses(&saved), statuses(&redacted));
                let text = redacted.to_text().unwrap();
                for secret in ["111122223333", "demo", "subnet-0", "sg-01", "vpc-01", "EXAMPLE"] {
                    let redacted_ids = ["subnet-0", "sg-01", "vpc-01"].contains(&secret);
                    assert!(redacted_ids || !text.contains(secret), "{secret} is still in\n{text}");
                }
            }
        }
    }

    #[test]
    fn names_are_replaced_only_as_whole_words() {
        for (text, expected) in [
            ("KarpenterNodeRole-prod", "KarpenterNodeRole-X"),
            ("arn:aws:sqs:us-east-1:1:prod", "arn:aws:sqs:us-east-1:1:X"),
            ("production", "production"),
            ("prod.example.com", "prod.example.com"),
            ("instance-profile/prod_*", "instance-profile/X_*"),
            ("prod-prod", "X-X"),
        ] {
            assert_eq!(super::replace_token(text, "prod", "X"), expected);
        }
    }
}
