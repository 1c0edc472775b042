//! The names that someone gave: to roles, policies, profiles, queues, rules, groups, sessions.

use std::collections::BTreeSet;

use regex::Regex;
use serde_json::Value;

use crate::{facts::arn, target::saved::Saved};

/// Names in ARNs, wherever they stand: in facts, in policies, in messages.
const NAMED: &str = r#"arn:[a-z-]*:(?:iam|sts)::\d*:(?:role|user|group|policy|instance-profile|assumed-role)/([^"\s,*]+)"#;

pub struct Given(BTreeSet<String>);

impl Given {
    pub fn of(saved: &Saved, value: &Value) -> Result<Self, regex::Error> {
        let named = Regex::new(NAMED)?;
        let mut given = Self(BTreeSet::new());
        given.add_scope(saved);
        given.add_keys(saved);
        given.visit(value, "", &named);
        // The path of an instance profile holds the region.
        given.0.remove(&saved.scope.region);
        Ok(given)
    }

    /// Without those that AWS or Kubernetes give, the same in every account.
    pub fn names(self) -> BTreeSet<String> {
        let public = ["Amazon", "AWS", "aws-", "system:", "eks:"];
        let known = [
            "default",
            "kube-system",
            "karpenter",
            "service-role",
            "admin",
            "system",
            "FullAWSAccess",
            "RCPFullAWSAccess",
        ];
        let mut names = self.0;
        names.retain(|name| {
            !name.is_empty()
                && !known.contains(&name.as_str())
                && !name.contains(".amazonaws.com")
                && !public.iter().any(|prefix| name.starts_with(prefix))
        });
        names
    }

    fn add(&mut self, name: &str) {
        self.0.insert(name.to_owned());
    }

    /// The name of a key's alias, bare or at the end of its ARN; AWS's own begin with `aws/`.
    fn add_alias(&mut self, text: &str) {
        let alias = text.rsplit(':').next().and_then(|last| last.strip_prefix("alias/"));
        if let Some(name) = alias.filter(|name| !name.starts_with("aws/")) {
            name.split('/').for_each(|part| self.add(part));
        }
    }

    fn add_scope(&mut self, saved: &Saved) {
        let scope = &saved.scope;
        let roles = scope.node_roles.iter().chain(&scope.controller_role);
        roles.for_each(|role| self.add(arn::role_name(role)));
        for name in scope.namespace.iter().chain(&scope.service_account) {
            self.add(name);
        }
        if let Some(queue) = &scope.interruption_queue {
            self.add(crate::target::names::queue_name(queue));
        }
    }

    fn add_keys(&mut self, saved: &Saved) {
        let facts = &saved.facts;
        for name in facts.roles.keys().chain(facts.role_profiles.keys()).chain(facts.queues.keys())
        {
            self.add(name);
        }
        let named = facts.named_profiles.keys().chain(facts.placement_groups.keys());
        named.for_each(|name| self.add(name));
        let inline = facts.role_policies.values().filter_map(|policies| policies.inline.value());
        inline.flat_map(|inline| inline.keys()).for_each(|name| self.add(name));
    }

    /// Every value of a field that holds a name, and every name in an ARN.
    fn visit(&mut self, value: &Value, field: &str, named: &Regex) {
        match value {
            Value::String(text) => {
                if ["name", "namespace", "service_account", "username"].contains(&field)
                    || field == "groups"
                    || field == "roles"
                {
                    self.add(text);
                }
                for found in named.captures_iter(text) {
                    found[1].split('/').for_each(|part| self.add(part.trim_end_matches('\\')));
                }
                self.add_alias(text);
            }
            Value::Array(items) => items.iter().for_each(|item| self.visit(item, field, named)),
            Value::Object(fields) => {
                for (key, value) in fields {
                    for found in named.captures_iter(key) {
                        found[1].split('/').for_each(|part| self.add(part));
                    }
                    self.add_alias(key);
                    self.visit(value, key, named);
                }
            }
            _ => {}
        }
    }
}
