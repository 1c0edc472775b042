use serde_json::{Value, json};

use super::*;
use crate::{
    checks::testing::{Account, assert_rows},
    outcome::Status,
};

const NO_CLASS: &str = "claims without a class";

fn storage(part: &Value) -> Value {
    json!({"facts": {"kubernetes": {"storage": part}}})
}

/// One claim of a class that has waited for long, beside this class.
fn waiting(claim: &Value, class: &Value) -> Value {
    storage(&json!({
        "classes": {"known": [class]},
        "claims": {"known": {"by_class": {"gp2": 1}, "waiting": [{
            "class": claim,
            "claims": {"count": 1, "names": ["shop/data-0"]},
            "oldest": "2026-10-01T00:00:00Z",
        }]}},
    }))
}

fn class(provisioner: &str, immediate: bool) -> Value {
    json!({"name": "gp2", "provisioner": provisioner, "immediate": immediate})
}

#[test]
fn claims_that_wait() {
    use Status::{Pass, Warn};
    let late = class("ebs.csi.aws.com", false);
    let default = json!({"name": "gp2", "provisioner": "ebs.csi.aws.com", "is_default": true});
    assert_rows(
        Account::KarpenterCluster,
        &CHECK,
        &[
            ("healthy", json!({}), &[(Pass, "demo")]),
            ("no class", waiting(&json!(null), &late), &[(Warn, NO_CLASS)]),
            ("a default too late", waiting(&json!(null), &default), &[(Warn, NO_CLASS)]),
            ("of no class", waiting(&json!(""), &late), &[(Warn, NO_CLASS)]),
            ("of another class", waiting(&json!("gp3"), &late), &[(Warn, "gp3")]),
            ("for its pod", waiting(&json!("gp2"), &late), &[(Pass, "gp2")]),
            ("at once, in vain", waiting(&json!("gp2"), &class(EBS, true)), &[(Warn, "gp2")]),
            (
                "of Auto Mode's driver",
                waiting(&json!("gp2"), &class(AUTO_MODE, false)),
                &[(Warn, "gp2")],
            ),
            ("of EFS", waiting(&json!("gp2"), &class(EFS, true)), &[(Warn, "gp2")]),
            ("of another maker", waiting(&json!("gp2"), &class("nfs", false)), &[(Pass, "gp2")]),
            ("left alone", json!({"scope": {"no_kube": true}}), &[(Status::Skipped, "demo")]),
        ],
    );
    assert_rows(
        Account::AutoModeCluster,
        &CHECK,
        &[
            ("healthy", json!({}), &[(Pass, "demo")]),
            ("EKS's own gp2", waiting(&json!("gp2"), &class(IN_TREE, false)), &[(Warn, "gp2")]),
            (
                "Auto Mode's driver",
                waiting(&json!("gp2"), &class(AUTO_MODE, false)),
                &[(Pass, "gp2")],
            ),
        ],
    );
}

#[test]
fn claims_that_have_just_been_made() {
    let mut patch = waiting(&json!(null), &class(EBS, false));
    let claims = &mut patch["facts"]["kubernetes"]["storage"]["claims"];
    claims["known"]["waiting"][0]["oldest"] = json!("2999-01-01T00:00:00Z");
    let rows = [("just made", patch, &[(Status::Pass, NO_CLASS)][..])];
    assert_rows(Account::KarpenterCluster, &CHECK, &rows);
}

#[test]
fn volumes_that_are_there() {
    let of = |class: Value| {
        storage(&json!({"classes": {"known": [class]},
            "claims": {"known": {"by_class": {"gp2": 12}}}}))
    };
    let gone = json!({"claims": {"known": {"lost": {"count": 1, "names": ["shop/a"]}}}});
    let denied = json!({"denied": {"action": "list", "message": "forbidden"}});
    assert_rows(
        Account::KarpenterCluster,
        &CHECK,
        &[
            ("anywhere", of(class(EBS, true)), &[(Status::Warn, "gp2")]),
            ("with their pods", of(class(EBS, false)), &[(Status::Pass, "demo")]),
            ("of no zone", of(class(EFS, true)), &[(Status::Pass, "demo")]),
            ("gone", storage(&gone), &[(Status::Warn, "claims without their volume")]),
            ("not readable", storage(&json!({"claims": denied})), &[(Status::Unknown, "demo")]),
            ("nor classes", storage(&json!({"classes": denied})), &[(Status::Unknown, "demo")]),
        ],
    );
}

#[test]
fn the_way_out_is_that_of_the_cluster() {
    let judged = |account: Account, patch: &Value| {
        let found = account.judge(&CHECK, patch).remove(0);
        serde_json::to_string(&found.remedy.unwrap().steps).unwrap()
    };
    let gp2 = waiting(&json!("gp2"), &class(IN_TREE, false));
    let auto = judged(Account::AutoModeCluster, &gp2);
    assert!(auto.contains("ebs.csi.eks.amazonaws.com") && auto.contains("kubectl apply"), "{auto}");
    let bare = json!({"facts": {"kubernetes": {"workloads": {"daemon_sets": {"known": []}}}}});
    let mut patch = gp2;
    json_patch::merge(&mut patch, &bare);
    let karpenter = judged(Account::KarpenterCluster, &patch);
    assert!(karpenter.contains("--addon-name aws-ebs-csi-driver"), "{karpenter}");
}
