//! Rows for the checks' tests: a patch over a healthy account, and what must come out.

use serde_json::{Value, json};

use super::{Check, Context, run};
use crate::{
    outcome::{Outcome, Status},
    target::{resolve::resolve, saved::Saved},
};

/// A healthy account to patch.
#[derive(Debug, Clone, Copy)]
pub enum Account {
    /// Karpenter 1.14.1 on Kubernetes 1.35, as the getting-started guide installs it.
    Karpenter,
    /// EKS Auto Mode on Kubernetes 1.35 with the built-in node pools.
    AutoMode,
    /// The first one, with the cluster read too: two replicas on a node group, one NodePool.
    KarpenterCluster,
    /// The second one, with the cluster read too: the built-in and one custom NodeClass.
    AutoModeCluster,
}

impl Account {
    fn text(self) -> &'static str {
        match self {
            Self::Karpenter | Self::KarpenterCluster => {
                include_str!("../../tests/data/accounts/karpenter.json")
            }
            Self::AutoMode | Self::AutoModeCluster => {
                include_str!("../../tests/data/accounts/auto-mode.json")
            }
        }
    }

    /// What the cluster says, as a patch over the account.
    fn cluster(self) -> Option<&'static str> {
        match self {
            Self::Karpenter | Self::AutoMode => None,
            Self::KarpenterCluster => {
                Some(include_str!("../../tests/data/accounts/karpenter-cluster.json"))
            }
            Self::AutoModeCluster => {
                Some(include_str!("../../tests/data/accounts/auto-mode-cluster.json"))
            }
        }
    }

    /// The saved facts with a JSON merge patch (RFC 7396) applied to `{scope, facts}`.
    pub fn patched(self, patch: &Value) -> Saved {
        let mut account: Value = serde_json::from_str(self.text()).expect("the account is JSON");
        if let Some(cluster) = self.cluster() {
            let cluster = serde_json::from_str(cluster).expect("the cluster is JSON");
            json_patch::merge(&mut account, &cluster);
        }
        clear_replaced_facts(&mut account, patch);
        json_patch::merge(&mut account, patch);
        serde_json::from_value(account).expect("the patched account holds facts")
    }

    /// What a check says of the patched account.
    pub fn judge(self, check: &'static Check, patch: &Value) -> Vec<Outcome> {
        let saved = self.patched(patch);
        let target = resolve(&saved.scope, &saved.facts);
        run::run(&[check], &Context::new(&target, &saved))
    }
}

/// A merge patch adds to an object, and a fact is an object with one key: where the patch
/// makes a known fact another kind, the old kind goes first.
fn clear_replaced_facts(account: &mut Value, patch: &Value) {
    let (Value::Object(fields), Value::Object(changes)) = (&mut *account, patch) else { return };
    let kinds = ["denied", "failed", "not_asked"];
    if changes.keys().any(|key| kinds.contains(&key.as_str())) {
        *account = Value::Null;
        return;
    }
    if changes.contains_key("known") {
        fields.retain(|key, _| !kinds.contains(&key.as_str()));
    }
    for (key, change) in changes {
        if let Some(field) = fields.get_mut(key) {
            clear_replaced_facts(field, change);
        }
    }
}

/// The controller's role with these statements and nothing else.
pub fn controller_may(statements: &Value) -> Value {
    let document = json!({"Version": "2012-10-17", "Statement": statements});
    controller_has(&document.to_string())
}

/// The controller's role with this policy document and no other.
pub fn controller_has(document: &str) -> Value {
    json!({"facts": {"role_policies": {"demo-karpenter": {
        "attached": {"known": []}, "inline": {"known": {"controller": {"known": document}}}}}}})
}

/// The cluster with these workloads and no others.
pub fn workloads(workloads: &[Value]) -> Value {
    json!({"facts": {"kubernetes": {"workloads": {"pods": {"known": {"workloads": workloads}}}}}})
}

/// Name, patch, and the expected `(status, subject)` pairs.
pub type Row<'a> = (&'a str, Value, &'a [(Status, &'a str)]);

/// Judges each row and holds the outcomes against what is expected. Every warn and fail must
/// say what will happen and how to mend it.
pub fn assert_rows(account: Account, check: &'static Check, rows: &[Row<'_>]) {
    for (name, patch, expected) in rows {
        let outcomes = account.judge(check, patch);
        let found: Vec<_> = outcomes.iter().map(|o| (o.status, o.subject.as_str())).collect();
        assert_eq!(&found, expected, "{name}: {outcomes:#?}");
        for outcome in &outcomes {
            if matches!(outcome.status, Status::Warn | Status::Fail) {
                assert!(!outcome.seen.is_empty(), "{name}: nothing seen: {outcome:#?}");
                assert!(!outcome.effect.is_empty(), "{name}: no effect: {outcome:#?}");
                assert_errors(check, outcome, name);
                assert!(outcome.remedy.is_some(), "{name}: no remedy: {outcome:#?}");
            }
        }
    }
}

/// Checks that have findings of which no component prints a word; every other finding quotes
/// an error, so that whoever searches for that error finds the check.
const SILENT: &[(&str, &str)] = &[
    ("ami-alias", "with one architecture missing, Karpenter takes the other without a word"),
    ("cluster-role-trust", "what the control plane cannot do is written in no log of yours"),
    ("cluster-subnets-free-addresses", "how EKS words a subnet that is gone is not documented"),
    ("controller-health", "a controller that is scaled to nothing prints nothing"),
    ("pods-without-owner", "Karpenter evicts such a pod like any other, and nobody misses it"),
    ("queue-encryption", "EventBridge drops what it may not encrypt and tells nobody"),
    ("queue-exists", "EventBridge drops what a FIFO queue does not take and tells nobody"),
    ("queue-policy", "EventBridge drops what it may not send and tells nobody"),
    ("queue-rules", "an event that no rule forwards is missed by nobody"),
    ("target-contradiction", "no component knows what was said with flags"),
];

/// Checks that read what was printed already. They quote whatever the catalogue knows of it.
const READERS: &[&str] =
    &["controller-health", "nodeclaim-status", "nodeclass-status", "nodepool-status"];

/// The middle part of *seen*, *you would see*, *mend*.
fn assert_errors(check: &Check, outcome: &Outcome, name: &str) {
    for error in &outcome.errors {
        let id = error.id.as_str();
        let may = check.errors.contains(&id) || READERS.contains(&check.id);
        assert!(may, "{name}: {id} is not among the check's errors");
        assert!(!error.quote.is_empty(), "{name}: {id} is not in the catalogue");
    }
    let silent = SILENT.iter().any(|(id, _)| *id == check.id);
    assert!(silent || !outcome.errors.is_empty(), "{name}: it quotes no error: {outcome:#?}");
}
