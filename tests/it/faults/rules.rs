//! What a fault may change in a report, and what it must.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::{
    cli::Ran,
    proxy::{At, Fault},
    report::{Report, text},
};

/// Needs by which a check only finds more to judge, or exempts some of it: the subjects named
/// here are found by their usual names as well, and their verdict rests on other answers.
const FINDS: &[(&str, &str, &[&str])] = &[
    ("node-role-exists", "", &[CLUSTER, LIST, ENTRY, PROFILES]),
    ("node-role-instance-profile", "", &[LIST, ENTRY, "iam:GetRole"]),
    ("node-role-trust", "", &[CLUSTER, LIST, ENTRY, PROFILES]),
    ("node-role-not-cluster-role", "", &[LIST, ENTRY, PROFILES, "iam:GetRole"]),
    ("node-role-access-entry", "", &NODE_GROUPS),
    // Only the entries of EKS Auto Mode need a policy.
    ("node-role-access-entry", "Karpenter", &["eks:ListAssociatedAccessPolicies"]),
    ("queue-policy", "", &["events:ListRuleNamesByTarget"]),
    // Where all subnets are in one VPC and have room, the cluster decides nothing.
    ("subnets-zones", "", &[CLUSTER]),
    ("subnets-free-addresses", "", &[CLUSTER]),
    // The provider counts for roles of service accounts, not for Pod Identity.
    ("controller-trust", "", &["iam:GetOpenIDConnectProvider"]),
    // A role without a boundary needs no look at its policies.
    ("permissions-boundary", "", &POLICIES),
    ("permissions-boundary", "", &ASSOCIATIONS),
    ("permissions-boundary", "", &[CLUSTER, LIST, ENTRY, PROFILES]),
    ("controller-pass-role", "", &[CLUSTER, LIST, ENTRY, PROFILES]),
    ("controller-pass-role", "", &NODE_GROUPS),
    // These roles have inline policies only, or none.
    ("controller-pass-role", "eksctl", &POLICIES),
    ("controller-pass-role", "KarpenterController", &POLICIES),
    ("controller-permissions", "eksctl", &POLICIES),
    ("controller-permissions", "KarpenterController", &POLICIES),
    ("node-role-permissions", "", &["iam:GetRolePolicy"]),
    ("node-role-permissions", "", &[CLUSTER, LIST, ENTRY, PROFILES]),
    // A queue that was named is there for the controller whether it can be read or not.
    ("controller-permissions", "demo-karpenter", &["sqs:GetQueueUrl"]),
    // The nodes of Auto Mode have the agent built in, and roles of service accounts need none.
    ("pod-identity-agent", "", &["eks:DescribeAddon"]),
    // What the CNI has of its own counts where the node role has it not.
    ("node-role-permissions", "", &["eks:DescribeAddon"]),
    ("node-role-permissions", "", &ASSOCIATIONS),
    // These accounts have no endpoints, and nothing is blocked.
    ("vpc-endpoints", "", &["ec2:DescribeSecurityGroups", "ec2:DescribeVpcs"]),
    ("vpc-block-public-access", "", &WAY_OUT),
    // The endpoint admits all, or is private.
    ("cluster-endpoint-access", "", &["ec2:DescribeSubnets"]),
    ("cluster-endpoint-access", "", &WAY_OUT),
    // Volumes are under AWS's own key, and the queue under SQS's.
    ("volume-keys", "", &[CLUSTER, "iam:GetRole"]),
    ("volume-keys", "", &POLICIES),
    ("volume-keys", "", &ASSOCIATIONS),
    ("queue-encryption", "", &["iam:GetRole"]),
    ("queue-encryption", "", &POLICIES),
    ("queue-encryption", "", &ASSOCIATIONS),
    // Built-in node pools need no other entry.
    ("auto-mode-settings", "", &[LIST, ENTRY]),
    // Nodes of Auto Mode take prefixes whatever an add-on says.
    ("subnet-prefixes", "", &["eks:DescribeAddon"]),
];
const WAY_OUT: [&str; 2] = ["ec2:DescribeNatGateways", "ec2:DescribeRouteTables"];
/// Also decides which product, and so which checks and which roles, are judged at all.
const CLUSTER: &str = "eks:DescribeCluster";
const LIST: &str = "eks:ListAccessEntries";
const ENTRY: &str = "eks:DescribeAccessEntry";
const PROFILES: &str = "iam:ListInstanceProfiles";
const ASSOCIATIONS: [&str; 2] =
    ["eks:DescribePodIdentityAssociation", "eks:ListPodIdentityAssociations"];
const POLICIES: [&str; 6] = [
    "iam:ListPolicies",
    "iam:GetPolicy",
    "iam:GetPolicyVersion",
    "iam:GetRolePolicy",
    "iam:ListAttachedRolePolicies",
    "iam:ListRolePolicies",
];
/// Node groups only exempt: without them, a role of theirs is judged too, and a note says so.
const NODE_GROUPS: [&str; 2] = ["eks:DescribeNodegroup", "eks:ListNodegroups"];

/// A fault, and where it is.
pub struct Case<'a> {
    pub at: At,
    pub fault: Fault,
    /// What each check says it needs.
    pub needs: &'a BTreeMap<String, Vec<String>>,
}

impl Case<'_> {
    /// What is wrong with a run that had the fault, each in a line.
    pub fn wrong(&self, baseline: &Report, ran: &Ran) -> Vec<String> {
        let mut wrong = Vec::new();
        if ran.stderr.is_empty() && [0, 1, 3].contains(&ran.code) {
            let report = ran.report();
            self.statuses(baseline, &report, &mut wrong);
            self.lost(baseline, &report, &mut wrong);
            self.unknowns(baseline, &report, &mut wrong);
            exit_code(&report, &mut wrong);
        } else {
            wrong.push(format!("exit code {}, {}{}", ran.code, ran.stdout, ran.stderr));
        }
        let case = format!("{} {:?}", self.place(), self.fault);
        wrong.into_iter().map(|wrong| format!("{case}: {wrong}")).collect()
    }

    /// What a message must name: the IAM action, or the service's part of it.
    fn place(&self) -> String {
        match &self.at {
            At::One(operation) => operation.to_string(),
            At::Service(service) => format!("{service}:"),
            At::All => String::new(),
        }
    }

    /// A verdict stays or becomes unknown; a new subject is unknown or skipped.
    fn statuses(&self, baseline: &Report, report: &Report, wrong: &mut Vec<String>) {
        let before = baseline.by_key();
        let no_node_groups = NODE_GROUPS.iter().any(|action| *action == self.place());
        for (key, outcome) in report.by_key() {
            let status = text(outcome, "status");
            let was = before.get(&key).map(|was| text(was, "status"));
            let fine = match &was {
                Some(was) => status == "unknown" || status == *was,
                None if no_node_groups => says_so(report) && status != "fail",
                None => ["unknown", "skipped"].contains(&status.as_str()),
            };
            if !fine {
                let (check, subject) = key;
                let seen = &outcome["seen"];
                wrong.push(format!("{check} of {subject} was {was:?} and is {status}: {seen}"));
            }
        }
    }

    /// A check that lost a verdict, or needs the operation, has an unknown instead; one that
    /// does not need it says exactly what it said.
    fn lost(&self, baseline: &Report, report: &Report, wrong: &mut Vec<String>) {
        let (before, after, place) = (baseline.by_key(), report.by_key(), self.place());
        let unknown = report.checks("unknown");
        let mut checks = BTreeSet::new();
        for ((check, subject), was) in &before {
            let judged = !["skipped", "unknown"].contains(&text(was, "status").as_str());
            if !judged || !checks.insert(check) {
                continue;
            }
            let needed = self.needs[check].iter().any(|need| need.starts_with(&place));
            let rests = self.needs[check]
                .iter()
                .any(|need| need.starts_with(&place) && !finds(check, subject, need));
            let changed = before.iter().any(|(key, was)| {
                key.0 == *check && after.get(key).is_none_or(|is| is["status"] != was["status"])
            });
            if (rests || changed) && !unknown.contains(check) {
                wrong.push(format!("{check} of {subject} is not unknown"));
            }
            if changed && !needed && !CLUSTER.starts_with(&place) {
                wrong.push(format!("{check} of {subject} changes and says no need of it"));
            }
        }
    }

    /// A new unknown names the IAM action, and says that it is missing if it was denied.
    fn unknowns(&self, baseline: &Report, report: &Report, wrong: &mut Vec<String>) {
        let (before, place) = (baseline.by_key(), self.place());
        for (key, outcome) in report.by_key() {
            let was = before.get(&key).map(|was| &was["status"]);
            if outcome["status"] != "unknown" || was == Some(&Value::from("unknown")) {
                continue;
            }
            let seen = text(outcome, "seen");
            if !seen.contains(&place) {
                wrong.push(format!("{} of {} does not name it: {seen}", key.0, key.1));
            }
            let missing = outcome.get("missing_action").and_then(Value::as_str);
            let right = match missing {
                Some(action) => self.fault == Fault::AccessDenied && action.starts_with(&place),
                None => self.fault != Fault::AccessDenied,
            };
            if !right {
                wrong.push(format!("{} of {} misses {missing:?}: {seen}", key.0, key.1));
            }
        }
    }
}

/// Whether a note says that node groups are not known.
fn says_so(report: &Report) -> bool {
    let notes = report.value["target"]["notes"].as_array().unwrap();
    notes.iter().any(|note| note.as_str().unwrap().contains("node groups are not known"))
}

fn finds(check: &str, subject: &str, need: &str) -> bool {
    let fits = |(id, prefix, actions): &(&str, &str, &[&str])| {
        *id == check && subject.starts_with(prefix) && actions.contains(&need)
    };
    FINDS.iter().any(fits)
}

/// The exit code that `docs/exit-codes.md` gives these counts.
fn exit_code(report: &Report, wrong: &mut Vec<String>) {
    let expected = match (report.count("fail"), report.count("unknown")) {
        (0, 0) => 0,
        (0, _) => 3,
        _ => 1,
    };
    if report.code != expected {
        wrong.push(format!("exit code {} where {expected} is right", report.code));
    }
}

/// Shows everything that is wrong at once.
#[track_caller]
pub fn assert_none(mut wrong: Vec<String>) {
    wrong.sort();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
