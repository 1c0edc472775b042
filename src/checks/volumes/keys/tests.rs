use super::*;
use crate::{
    checks::testing::{Account, assert_rows},
    outcome::{Status, Step},
};

const ID: &str = "1234abcd-12ab-34cd-56ef-1234567890ab";
const ARN: &str = "arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab";
const ROLE: &str = "arn:aws:iam::111122223333:role/demo-karpenter";
const ROOT: &str = "arn:aws:iam::111122223333:root";

fn key(statements: &Value) -> Value {
    let policy = json!({"Version": "2012-10-17", "Statement": statements}).to_string();
    json!({"arn": ARN, "manager": "CUSTOMER", "state": "Enabled", "spec": "SYMMETRIC_DEFAULT",
           "policy": {"known": policy}, "grants": {"known": []}})
}

/// The account with this key as the default of its volumes.
fn default(key: &Value) -> Value {
    json!({"facts": {"ebs_default_key": {"known": ARN}, "kms_keys": {ARN: {"known": key}}}})
}

fn changed(patch: &Value) -> Value {
    let mut key = key(&json!([allow(ROLE, "kms:*", &json!({}))]));
    json_patch::merge(&mut key, patch);
    default(&key)
}

fn allow(principal: &str, action: &str, condition: &Value) -> Value {
    let principal = if principal == "*" { json!("*") } else { json!({"AWS": principal}) };
    json!({"Effect": "Allow", "Principal": principal, "Action": action, "Resource": "*",
           "Condition": condition})
}

/// The statement that Karpenter's documentation has for it.
fn documented() -> Value {
    allow(
        "*",
        "kms:*",
        &json!({"StringEquals": {
        "kms:ViaService": "ec2.us-west-2.amazonaws.com", "kms:CallerAccount": "111122223333"}}),
    )
}

#[test]
fn default_key() {
    use Status::{Fail, Pass, Unknown};
    let one = |status| [(status, ARN)];
    let with = |statements: &Value| default(&key(statements));
    let only_root = json!([allow(ROOT, "kms:*", &json!({}))]);
    let mut root_and_role = with(&only_root);
    let statement = json!([{"Effect": "Allow", "Action": "kms:*", "Resource": ARN}]);
    let document = json!({"Version": "2012-10-17", "Statement": statement}).to_string();
    root_and_role["facts"]["role_policies"] =
        json!({"demo-karpenter": {"inline": {"known": {"kms": {"known": document}}}}});
    let via = |service: &str| json!({"StringEquals": {"kms:ViaService": service}});
    let tag = json!({"StringEquals": {"aws:PrincipalOrgID": "o-1"}});
    let mut denied = json!([documented(), allow(ROLE, "kms:CreateGrant", &json!({}))]);
    denied[1]["Effect"] = json!("Deny");
    let grants = |operations: &[&str], constrained: bool| {
        let grant = json!({"grantee": ROLE, "operations": operations, "constrained": constrained});
        let mut key = key(&only_root);
        key["grants"] = json!({"known": [grant]});
        default(&key)
    };
    let all = ["GenerateDataKeyWithoutPlaintext", "CreateGrant", "Decrypt"];
    let unread = json!({"policy": {"denied": {"action": "kms:GetKeyPolicy", "message": "no"}}});
    let foreign = ARN.replace("111122223333", "999999999999");
    assert_rows(
        Account::Karpenter,
        &CHECK,
        &[
            ("AWS's own", json!({}), &[(Pass, "alias/aws/ebs")]),
            ("names the role", with(&json!([allow(ROLE, "kms:*", &json!({}))])), &one(Pass)),
            ("as documented", with(&json!([documented()])), &one(Pass)),
            ("only the account", with(&only_root), &one(Fail)),
            ("the account, and the role's policy", root_and_role, &one(Pass)),
            (
                "through EC2",
                with(&json!([allow(ROLE, "kms:*", &via("ec2.us-west-2.amazonaws.com"))])),
                &one(Pass),
            ),
            (
                "through another service",
                with(&json!([allow(ROLE, "kms:*", &via("rds.us-west-2.amazonaws.com"))])),
                &one(Fail),
            ),
            (
                "no grants",
                with(&json!([
                    allow(ROLE, "kms:Generate*", &json!({})),
                    allow(ROLE, "kms:Decrypt", &json!({}))
                ])),
                &one(Fail),
            ),
            ("a deny", with(&denied), &one(Fail)),
            ("of an organisation", with(&json!([allow(ROLE, "kms:*", &tag)])), &one(Unknown)),
            ("granted", grants(&all, false), &one(Pass)),
            ("granted in part", grants(&all[..2], false), &one(Fail)),
            ("granted for one volume", grants(&all, true), &one(Fail)),
            ("disabled", changed(&json!({"state": "Disabled"})), &one(Fail)),
            ("about to go", changed(&json!({"state": "PendingDeletion"})), &one(Fail)),
            ("asymmetric", changed(&json!({"spec": "RSA_2048"})), &one(Fail)),
            ("AWS manages it", changed(&json!({"manager": "AWS", "policy": null})), &one(Pass)),
            ("of another account", changed(&json!({"arn": foreign})), &one(Unknown)),
            (
                "policy unread",
                default(&{
                    let mut key = key(&only_root);
                    key["policy"] = unread["policy"].clone();
                    key
                }),
                &one(Unknown),
            ),
            (
                "gone",
                json!({"facts": {"ebs_default_key": {"known": ARN}, "kms_keys": {ARN: "absent"}}}),
                &one(Fail),
            ),
            (
                "default unread",
                json!({"facts": {"ebs_default_key": {"denied": {"action": DEFAULT, "message": "no"}}}}),
                &[(Unknown, "the account's default")],
            ),
        ],
    );
}

#[test]
fn auto_mode_launches_as_the_cluster() {
    use Status::{Pass, Warn};
    let one = |status| [(status, ARN)];
    let cluster = "arn:aws:iam::111122223333:role/demo-cluster";
    assert_rows(
        Account::AutoMode,
        &CHECK,
        &[
            (
                "the cluster's role",
                default(&key(&json!([allow(cluster, "kms:*", &json!({}))]))),
                &one(Pass),
            ),
            ("another role", default(&key(&json!([allow(ROLE, "kms:*", &json!({}))]))), &one(Warn)),
        ],
    );
}

#[test]
fn keys_of_node_classes() {
    use Status::{Fail, Pass, Unknown};
    let class = |key: &str, fact: &Value| {
        let classes = json!([{"meta": {"name": "default"}, "volumes": [{"kms_key": key}]}]);
        json!({"facts": {
            "kubernetes": {"ec2_node_classes": {"known": classes}},
            "kms_keys": {key: fact},
        }})
    };
    let usable = json!({"known": key(&json!([documented()]))});
    let shut = json!({"known": key(&json!([]))});
    let elsewhere = "arn:aws:kms:eu-west-1:111122223333:key/1234";
    let own = (Pass, "alias/aws/ebs");
    assert_rows(
        Account::KarpenterCluster,
        &CHECK,
        &[
            ("by id", class(ID, &usable), &[(Pass, ID), own]),
            ("by alias", class("alias/nodes", &shut), &[own, (Fail, "alias/nodes")]),
            ("of another region", class(elsewhere, &usable), &[own, (Fail, elsewhere)]),
            ("gone", class(ID, &json!("absent")), &[(Fail, ID), own]),
            ("not read", class(ID, &Value::Null), &[(Unknown, ID), own]),
        ],
    );
}

#[test]
fn the_remedy_keeps_what_is_there_and_works() {
    let only_root = json!([allow(ROOT, "kms:*", &json!({}))]);
    let found = Account::Karpenter.judge(&CHECK, &default(&key(&only_root))).remove(0);
    let steps = found.remedy.expect("it is mended").steps;
    let Step::Document { document, .. } = &steps[0] else { panic!("{steps:?}") };
    let Step::Command { command } = &steps[1] else { panic!("{steps:?}") };
    assert!(command.contains(&format!("put-key-policy --region us-west-2 --key-id {ID}")));
    let document: Value = serde_json::from_str(document).unwrap();
    assert_eq!(document["Statement"][0], only_root[0]);
    let mended = default(&key(&document["Statement"]));
    assert_rows(Account::Karpenter, &CHECK, &[("mended", mended, &[(Status::Pass, ARN)])]);
}
