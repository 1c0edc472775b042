//! One request to AWS, as it will really be sent.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::feature::Feature;
use crate::iam;

/// A request that someone (the controller, a node, Auto Mode) makes of the account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Request {
    /// A readable slug, unique within one version.
    pub id: String,
    /// Service and operation: `ec2:RunInstances`.
    pub action: String,
    /// The ARN that is asked for, or `*`.
    pub resource: String,
    /// Whether an id in the ARN is made up, because the set-up names none: a policy that
    /// allows certain ids only cannot be judged by it.
    pub stand_in: bool,
    /// The tags it sends: `aws:RequestTag/…` and `aws:TagKeys`.
    pub request_tags: BTreeMap<String, String>,
    /// The tags that the resource bears: `aws:ResourceTag/…`.
    pub resource_tags: BTreeMap<String, String>,
    /// The other condition keys with a known value.
    pub context: BTreeMap<String, String>,
    /// Condition keys whose value nobody knows; a trailing `*` stands for any ending.
    pub unknown: Vec<String>,
    /// The features without which it is not made; empty when it always is.
    pub when: Vec<Feature>,
    pub consequence: Consequence,
    /// Ids of the documented errors that its refusal shows as.
    pub errors: Vec<String>,
    /// What else there is to know about it; may be empty.
    pub note: String,
    /// Where the fact comes from: a public URL, or `path@tag` in aws/karpenter-provider-aws.
    pub source: String,
}

/// What the refusal of a request does, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Consequence {
    /// The controller ends, and is started again without end.
    StopsStart,
    /// No node is launched, or none of those it concerns.
    StopsLaunches,
    /// A node launches but does not work as a member of the cluster.
    StopsNodes,
    /// Nodes or NodeClasses cannot be deleted.
    StopsDeletion,
    /// Something is left behind in the account.
    Leaks,
    /// A function is missing; the rest works.
    Degrades,
    /// A function is missing, and nothing says so.
    Silent,
}

impl Consequence {
    /// The word of the data files and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::StopsStart => "stops-start",
            Self::StopsLaunches => "stops-launches",
            Self::StopsNodes => "stops-nodes",
            Self::StopsDeletion => "stops-deletion",
            Self::Leaks => "leaks",
            Self::Degrades => "degrades",
            Self::Silent => "silent",
        }
    }
}

impl Request {
    /// Every condition key with a known value, the tags included. Only `aws:TagKeys` holds
    /// more than one value. A key that is neither here nor in `unknown` is not sent.
    pub fn known_context(&self) -> BTreeMap<String, Vec<String>> {
        let mut keys: BTreeMap<String, Vec<String>> =
            self.context.iter().map(|(key, value)| (key.clone(), vec![value.clone()])).collect();
        for (tag, value) in &self.request_tags {
            keys.insert(format!("aws:RequestTag/{tag}"), vec![value.clone()]);
        }
        if !self.request_tags.is_empty() {
            keys.insert("aws:TagKeys".to_owned(), self.request_tags.keys().cloned().collect());
        }
        let service = self.service();
        for (tag, value) in &self.resource_tags {
            keys.insert(format!("aws:ResourceTag/{tag}"), vec![value.clone()]);
            // EC2 and IAM have a key of their own for the same tags.
            if matches!(service, "ec2" | "iam") {
                keys.insert(format!("{service}:ResourceTag/{tag}"), vec![value.clone()]);
            }
        }
        keys
    }

    /// The request as the evaluator takes it, made by `principal`.
    pub fn by(&self, principal: iam::Principal) -> iam::Request {
        let mut request = iam::Request::new(principal, &self.action, &self.resource);
        for (key, mut values) in self.known_context() {
            request = match values.pop() {
                // The one key that holds a list, of however many values.
                Some(last) if key == "aws:TagKeys" => {
                    values.push(last);
                    request.with(&key, values)
                }
                Some(value) => request.with(&key, value),
                None => request,
            };
        }
        for key in &self.unknown {
            request = match key.strip_suffix('*') {
                Some(prefix) => request.unknown_prefix(prefix),
                None => request.unknown(key),
            };
        }
        // Tags of the role and of its session are the caller's to set where they are known.
        request.unknown_prefix("aws:PrincipalTag/").unknown_globals()
    }

    /// The service prefix of the action.
    pub fn service(&self) -> &str {
        self.action.split_once(':').map_or("", |(service, _)| service)
    }
}
