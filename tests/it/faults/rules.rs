//! What a fault may change in a report, and what it must.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::{
    cli::Ran,
    proxy::{Fault, Operation},
    report::{Report, text},
};

/// Decides which product, and so which checks and which roles, are judged at all.
const DECIDES: &str = "eks:DescribeCluster";

/// Needs by which a check only finds more to judge, or exempts some of it: what these accounts
/// have is found by its usual name as well, and its verdict rests on other answers.
const FINDS: &[(&str, &[&str])] = &[
    (
        "node-role-exists",
        &[
            "eks:DescribeAccessEntry",
            "eks:DescribeCluster",
            "eks:ListAccessEntries",
            "iam:ListInstanceProfiles",
        ],
    ),
    (
        "node-role-access-entry",
        &["eks:DescribeNodegroup", "eks:ListAssociatedAccessPolicies", "eks:ListNodegroups"],
    ),
    ("queue-policy", &["events:ListRuleNamesByTarget"]),
    // The provider counts for roles of service accounts, not for Pod Identity.
    ("controller-trust", &["iam:GetOpenIDConnectProvider"]),
    // A role without a boundary needs no look at its policies.
    (
        "permissions-boundary",
        &[
            "iam:GetPolicy",
            "iam:GetPolicyVersion",
            "iam:GetRolePolicy",
            "iam:ListAttachedRolePolicies",
            "iam:ListRolePolicies",
        ],
    ),
    // What the CNI has of its own counts where the node role has it not.
    (
        "node-role-permissions",
        &[
            "eks:DescribeAddon",
            "eks:DescribePodIdentityAssociation",
            "eks:ListPodIdentityAssociations",
        ],
    ),
];

/// One fault at one operation.
pub struct Case<'a> {
    pub operation: &'a Operation,
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
        let case = format!("{} {:?}", self.operation, self.fault);
        wrong.into_iter().map(|wrong| format!("{case}: {wrong}")).collect()
    }

    /// A verdict stays or becomes unknown; a new subject is unknown or skipped.
    fn statuses(&self, baseline: &Report, report: &Report, wrong: &mut Vec<String>) {
        let before = baseline.by_key();
        for ((check, subject), outcome) in report.by_key() {
            let status = text(outcome, "status");
            let was = before.get(&(check.clone(), subject.clone())).map(|was| text(was, "status"));
            let fine = match &was {
                Some(was) => status == "unknown" || status == *was,
                None => ["unknown", "skipped"].contains(&status.as_str()),
            };
            if !fine {
                wrong.push(format!(
                    "{check} of {subject} was {was:?} and is {status}: {}",
                    outcome["seen"]
                ));
            }
        }
    }

    /// A check that lost a verdict, or needs the operation, has an unknown instead; one that
    /// does not need it says exactly what it said.
    fn lost(&self, baseline: &Report, report: &Report, wrong: &mut Vec<String>) {
        let (before, after) = (baseline.by_key(), report.by_key());
        let judged = |status: &str| !["skipped", "unknown"].contains(&status);
        let unknown = report.checks("unknown");
        let mut checks = BTreeSet::new();
        for ((check, subject), was) in &before {
            if !judged(&text(was, "status")) || !checks.insert(check) {
                continue;
            }
            let named = self.operation.to_string();
            let finds = FINDS.iter().any(|(id, actions)| id == check && actions.contains(&&*named));
            let needed = self.needs[check].contains(&named);
            let changed = before.iter().any(|(key, was)| {
                key.0 == *check && after.get(key).is_none_or(|is| is["status"] != was["status"])
            });
            if needed && !finds && !unknown.contains(check) {
                wrong.push(format!("{check} of {subject} needs it and is not unknown"));
            }
            if changed && !unknown.contains(check) {
                wrong.push(format!("{check} of {subject} is lost without an unknown"));
            }
            if changed && !needed && named != DECIDES {
                wrong.push(format!(
                    "{check} of {subject} changes and does not say that it needs it"
                ));
            }
        }
    }

    /// A new unknown names the IAM action, and says that it is missing if it was denied.
    fn unknowns(&self, baseline: &Report, report: &Report, wrong: &mut Vec<String>) {
        let before = baseline.by_key();
        for (key, outcome) in report.by_key() {
            let was = before.get(&key).map(|was| &was["status"]);
            if outcome["status"] != "unknown" || was == Some(&Value::from("unknown")) {
                continue;
            }
            let (action, seen) = (self.operation.to_string(), text(outcome, "seen"));
            if !seen.contains(&action) {
                wrong.push(format!("{} of {} does not name it: {seen}", key.0, key.1));
            }
            let missing = outcome.get("missing_action").and_then(Value::as_str);
            let expected = (self.fault == Fault::AccessDenied).then_some(action.as_str());
            if missing != expected {
                wrong.push(format!("{} of {} misses {missing:?}: {seen}", key.0, key.1));
            }
        }
    }
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
