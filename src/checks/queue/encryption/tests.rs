use super::*;
use crate::{
    checks::testing::{Account, assert_rows},
    outcome::{Status, Step},
};

fn key(key: &str) -> Value {
    let attributes = json!({"known": {"kms_key": key, "sse_sqs": false}});
    json!({"facts": {"queues": {"demo": {"known": {"attributes": attributes}}}}})
}

#[test]
fn rows() {
    let aws_arn = "arn:aws:kms:us-west-2:111122223333:alias/aws/sqs";
    let plain = json!({"known": {"sse_sqs": false}});
    let plain = json!({"facts": {"queues": {"demo": {"known": {"attributes": plain}}}}});
    let denied = json!({"denied": {"action": API, "message": "no"}});
    let denied = json!({"facts": {"queues": {"demo": {"known": {"attributes": denied}}}}});
    assert_rows(
        Account::Karpenter,
        &CHECK,
        &[
            ("SSE-SQS", json!({}), &[(Status::Pass, "demo")]),
            ("none", plain, &[(Status::Pass, "demo")]),
            ("AWS's key", key("alias/aws/sqs"), &[(Status::Fail, "demo")]),
            ("AWS's key by ARN", key(aws_arn), &[(Status::Fail, "demo")]),
            ("a key of one's own", key("alias/team/sqs"), &[(Status::Unknown, "demo")]),
            ("a key by id", key("1234abcd-12ab-34cd"), &[(Status::Unknown, "demo")]),
            ("not readable", denied, &[(Status::Unknown, "demo")]),
            (
                "no queue",
                json!({"facts": {"queues": {"demo": "absent"}}}),
                &[(Status::Skipped, "demo")],
            ),
            (
                "the named one is missing",
                json!({"scope": {"interruption_queue": "jobs"}, "facts": {"queues": {"jobs": "absent"}}}),
                &[(Status::Skipped, "jobs")],
            ),
        ],
    );
    let skipped = &[(Status::Skipped, "demo")];
    assert_rows(Account::AutoMode, &CHECK, &[("EKS does it", json!({}), skipped)]);
}

#[test]
fn an_unknown_says_where_to_look() {
    for (id, command) in [
        ("1234abcd", "--key-id 1234abcd --policy-name default"),
        ("alias/team", "--key-id \"$(aws kms describe-key "),
    ] {
        let found = Account::Karpenter.judge(&CHECK, &key(id)).remove(0);
        assert!(found.seen.contains("aws kms get-key-policy"), "{}", found.seen);
        let steps = found.remedy.expect("it says how to look").steps;
        let Step::Command { command: looks } = &steps[1] else { panic!("{steps:?}") };
        assert!(looks.contains(command), "{looks}");
    }
}

const ARN: &str = "arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab";
const ROOT: &str = "arn:aws:iam::111122223333:root";
const ROLE: &str = "arn:aws:iam::111122223333:role/demo-karpenter";

/// The queue under a key with these statements.
fn under(statements: &Value) -> Value {
    let policy = json!({"Version": "2012-10-17", "Statement": statements}).to_string();
    changed(&json!({"policy": {"known": policy}}))
}

fn changed(change: &Value) -> Value {
    let policy = json!({"Version": "2012-10-17", "Statement": [of_events(), of(ROLE, "kms:*")]});
    let mut fact = json!({"known": {"arn": ARN, "manager": "CUSTOMER", "state": "Enabled",
        "spec": "SYMMETRIC_DEFAULT", "policy": {"known": policy.to_string()},
        "grants": {"known": []}}});
    json_patch::merge(&mut fact["known"], change);
    let mut patch = key(ARN);
    patch["facts"]["kms_keys"] = json!({ARN: fact});
    patch
}

fn of_events() -> Value {
    key_statement()
}

fn of(principal: &str, action: &str) -> Value {
    json!({"Effect": "Allow", "Principal": {"AWS": principal}, "Action": action, "Resource": "*"})
}

#[test]
fn a_key_of_ones_own() {
    use Status::{Fail, Pass, Unknown};
    let one = |status| [(status, "demo")];
    let mut of_rule = of_events();
    of_rule["Condition"] = json!({"ArnLike": {"aws:SourceArn": "arn:aws:events:*:*:rule/x"}});
    let mut of_account = of_events();
    of_account["Condition"] = json!({"StringEquals": {"aws:SourceAccount": "111122223333"}});
    let mut write_only = of_events();
    write_only["Action"] = json!("kms:GenerateDataKey");
    let unread = |action: &str| json!({"denied": {"action": action, "message": "no"}});
    let mut denied = key(ARN);
    denied["facts"]["kms_keys"] = json!({ARN: unread("kms:DescribeKey")});
    let mut gone = key(ARN);
    gone["facts"]["kms_keys"] = json!({ARN: "absent"});
    let mut no_policy = changed(&json!({}));
    no_policy["facts"]["kms_keys"][ARN]["known"]["policy"] = unread("kms:GetKeyPolicy");
    assert_rows(
        Account::Karpenter,
        &CHECK,
        &[
            ("both", under(&json!([of_events(), of(ROLE, "kms:Decrypt")])), &one(Pass)),
            ("of this account", under(&json!([of_account, of(ROLE, "kms:*")])), &one(Pass)),
            ("the account only", under(&json!([of(ROOT, "kms:*")])), &one(Fail)),
            ("not to decrypt", under(&json!([write_only, of(ROLE, "kms:*")])), &one(Fail)),
            ("not the controller", under(&json!([of_events(), of(ROOT, "kms:*")])), &one(Fail)),
            ("for one rule", under(&json!([of_rule, of(ROLE, "kms:*")])), &one(Unknown)),
            ("disabled", changed(&json!({"state": "Disabled"})), &one(Fail)),
            ("AWS's by id", changed(&json!({"manager": "AWS"})), &one(Fail)),
            ("gone", gone, &one(Fail)),
            ("denied", denied, &one(Unknown)),
            ("the policy denied", no_policy, &one(Unknown)),
        ],
    );
}

#[test]
fn the_remedy_lets_events_in() {
    let found = Account::Karpenter.judge(&CHECK, &under(&json!([of(ROLE, "kms:*")]))).remove(0);
    let steps = found.remedy.expect("it is mended").steps;
    let Step::Document { document, .. } = &steps[0] else { panic!("{steps:?}") };
    let document: Value = serde_json::from_str(document).unwrap();
    let mended = under(&document["Statement"]);
    assert_rows(Account::Karpenter, &CHECK, &[("mended", mended, &[(Status::Pass, "demo")])]);
}
