//! Lines in, lines out.

use super::*;

fn line(rest: &str) -> Answer {
    let text = format!(
        r#"{{"id": 7, "request": {{"principal": "arn:aws:iam::111122223333:role/R",
        "action": "ec2:CreateTags", "resource": "*",
        "context": {{"aws:TagKeys": ["a"], "aws:RequestedRegion": "eu-west-1"}}}}, {rest}}}"#
    );
    serde_json::from_str(&simulate_line(&text)).unwrap()
}

#[test]
fn answers() {
    let when = r#"{"Statement": {"Sid": "W", "Effect": "Allow", "Action": "ec2:*", "Resource": "*",
        "Condition": {"StringEquals": {"K": "1"}}}}"#;
    let all = r#"{"Statement": {"Effect": "Allow", "Action": "*", "Resource": "*"}}"#;
    let deny = r#"{"Statement": {"Effect": "Deny", "Action": "*", "Resource": "*"}}"#;
    let rows = [
        (
            format!(r#""identityPolicies": [{{"name": "n", "policy": {all}}}]"#),
            Word::Allowed,
            "allowed by Statement[0] of policy n",
        ),
        (
            format!(r#""identityPolicies": [{when}]"#),
            Word::ImplicitDeny,
            "statement W of policy identityPolicies[0] wants K to be 1, but it is not sent",
        ),
        (
            format!(r#""identityPolicies": [{when}], "unknownKeys": ["k"]"#),
            Word::Unknown,
            "depends on statement W of policy identityPolicies[0] (identity policy), which turns on K",
        ),
        (
            format!(r#""identityPolicies": [{all}], "scps": [[{all}], [{all}, {deny}]]"#),
            Word::ExplicitDeny,
            "denied by Statement[0] of policy scps[1][1] (service control policy)",
        ),
        (
            r#""identityPolicies": ["%7B%22Statement%22%3A[]%7D"]"#.to_owned(),
            Word::ImplicitDeny,
            "no identity policy has a statement for it",
        ),
        (
            r#""boundary": {"Statement": [], "Statement": []}"#.to_owned(),
            Word::Error,
            "boundary: Statement: is given twice",
        ),
    ];
    for (rest, word, message) in rows {
        let answer = line(&rest);
        assert_eq!((answer.decision, answer.message.as_str()), (word, message), "{rest}");
    }
    assert!(simulate_line("{").starts_with(r#"{"id":null,"decision":"error""#));
    assert!(simulate_line(r#"{"request": {}}"#).contains("missing field `principal`"));
}

#[test]
fn a_document_that_comes_again_is_kept_and_the_answer_is_the_same() {
    let rows = include_str!("../../../tests/data/iam/decisions.jsonl").lines();
    let mut simulator = Simulator::default();
    for row in rows {
        let row: serde_json::Value = serde_json::from_str(row).unwrap();
        let line = row["case"].to_string();
        let as_it_is: Case<'_> = serde_json::from_str(&line).unwrap();
        let mut known = Known::default();
        let mut none = Documents { line: &line, places: &[], known: &mut known };
        let whole = Answer::from(decide(as_it_is, &mut none).unwrap());
        assert_eq!(known.kept(), 0);
        for time in ["new", "kept", "known"] {
            let cut: Answer = serde_json::from_str(&simulator.line(&line)).unwrap();
            assert_eq!(cut, whole, "{time}: {line}");
        }
    }
    let before = simulator.known.kept();
    assert!(before > 50, "{before}");
    let all = r#"{"Statement": {"Effect": "Allow", "Action": "*", "Resource": "*"}}"#;
    let request = r#"{"principal": "*", "action": "a:B", "resource": "*"}"#;
    for name in ["a", "b", "c"] {
        let line = format!(
            r#"{{"request": {request}, "boundary": {{"name": "{name}", "policy": {all}}}}}"#
        );
        simulator.line(&line);
    }
    assert_eq!(simulator.known.kept(), before + 1);
}

/// Brackets that do not fit are an error, and no line without end.
#[test]
fn brackets_that_do_not_fit() {
    for policies in [
        r#""identityPolicies": [}"#,
        r#""scps": [[}]]"#,
        r#""rcps": [}]"#,
        r#""vpcePolicies": [{"name": "a", ]}]"#,
        r#""boundary": {"policy": [}]}"#,
    ] {
        for line in [format!("{{{policies}"), format!("{{{policies}}}")] {
            assert!(simulate_line(&line).contains(r#""decision":"error""#), "{line}");
        }
    }
}

#[test]
fn a_mark_in_the_input_is_only_text() {
    let answer = line(r#""boundary": "\u00010""#);
    assert_eq!(answer.decision, Word::Error, "{answer:?}");
}

/// Where the policy of the resource has to allow, and what is no policy of its kind.
#[test]
fn resources_and_kinds() {
    let ask = |principal: &str, action: &str, resource: &str, rest: &str| -> Answer {
        let text = format!(
            r#"{{"request": {{"principal": "{principal}", "action": "{action}",
            "resource": "{resource}", "accountId": "111122223333",
            "context": {{"n": 5, "b": true, "l": ["a", 1]}}}}, {rest}}}"#
        );
        serde_json::from_str(&simulate_line(&text)).unwrap()
    };
    let role = "arn:aws:iam::111122223333:role/R";
    let (key, other) =
        ("arn:aws:kms:eu-west-1:111122223333:key/k", "arn:aws:iam::111122223333:role/T");
    let all = r#""identityPolicies": [{"Statement": {"Effect": "Allow", "Action": "*", "Resource": "*"}}]"#;
    let of_resource = |action: &str, who: &str| {
        format!(
            r#"{all}, "resourcePolicy": {{"Statement": {{"Effect": "Allow", "Action": "{action}",
            "Principal": {{"AWS": "{who}"}}}}}}"#
        )
    };
    let rows = [
        ("kms:Decrypt", key, all.to_owned(), Word::ImplicitDeny),
        ("kms:ListKeys", "*", all.to_owned(), Word::Allowed),
        ("kms:Decrypt", key, of_resource("kms:*", "444455556666"), Word::ImplicitDeny),
        ("kms:Decrypt", key, of_resource("kms:*", "111122223333"), Word::Allowed),
        ("sts:AssumeRole", other, all.to_owned(), Word::Allowed),
        ("sts:AssumeRole", other, of_resource("sts:*", "444455556666"), Word::ImplicitDeny),
        ("sts:AssumeRole", other, of_resource("sts:*", "111122223333"), Word::Allowed),
        ("sqs:SendMessage", "*", of_resource("sqs:*", "444455556666"), Word::Allowed),
    ];
    for (action, resource, rest, word) in rows {
        let answer = ask(role, action, resource, &rest);
        assert_eq!(answer.decision, word, "{action} {rest}: {}", answer.message);
    }
    let everyone =
        r#"{"Statement": {"Effect": "Allow", "Action": "*", "Resource": "*", "Principal": "*"}}"#;
    let bare = r#"{"Statement": {"Effect": "Allow", "Action": "*"}}"#;
    for (rest, message) in [
        (
            format!(r#""identityPolicies": [{everyone}]"#),
            "identityPolicies[0]: Statement[0]: Principal",
        ),
        (format!(r#""boundary": {bare}"#), "boundary: Statement[0]: Resource is missing"),
        (format!(r#""scps": [[], [{bare}]]"#), "scps[1][0]: Statement[0]: Resource is missing"),
        (r#""vpcePolicies": [null]"#.to_owned(), "vpcePolicies[0]: must be an object, is null"),
    ] {
        let answer = ask(role, "ec2:RunInstances", "*", &rest);
        assert_eq!(answer.decision, Word::Error, "{rest}");
        assert!(answer.message.starts_with(message), "{rest}: {}", answer.message);
    }
    let context = r#"{"request": {"principal": "*", "action": "a:B", "resource": "*", "context": {"k": null}}}"#;
    assert!(simulate_line(context).contains("request.context.k: must be a string"));
    let deep =
        format!(r#"{{"id": 1, "identityPolicies": {}{}}}"#, "[".repeat(9000), "]".repeat(9000));
    assert!(simulate_line(&deep).contains(r#""decision":"error""#));
}

/// Another account's resource has to let the caller in, whether or not the line names the account.
#[test]
fn the_account_of_a_resource_is_the_one_of_its_arn() {
    let decided = |resource: &str, account: &str| {
        let text = format!(
            r#"{{"request": {{"principal": "arn:aws:iam::111122223333:role/R",
            "action": "sqs:SendMessage", "resource": "{resource}"{account}, "context": {{}}}},
            "identityPolicies": [{{"Statement": {{"Effect": "Allow", "Action": "*", "Resource": "*"}}}}]}}"#
        );
        let answer: Answer = serde_json::from_str(&simulate_line(&text)).unwrap();
        answer.decision
    };
    let own = "arn:aws:sqs:eu-west-1:111122223333:q";
    let another = "arn:aws:sqs:eu-west-1:444455556666:q";
    for (resource, account, word) in [
        (own, "", Word::Allowed),
        (another, "", Word::ImplicitDeny),
        (another, r#", "accountId": "111122223333""#, Word::Allowed),
        ("arn:aws:s3:::bucket", "", Word::Allowed),
        ("arn:aws:s3:::bucket", r#", "accountId": "444455556666""#, Word::ImplicitDeny),
        ("arn:aws:ec2:eu-west-1:*:instance/*", "", Word::Allowed),
        ("*", "", Word::Allowed),
    ] {
        assert_eq!(decided(resource, account), word, "{resource} {account}");
    }
}

/// The id comes back to the letter, whatever the line is worth otherwise.
#[test]
fn ids_come_back_as_they_are() {
    let request = r#""request": {"principal": "*", "action": "a:B", "resource": "*"}"#;
    let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    for (given, wanted) in [
        ("7", "7"),
        ("12345678901234567890123", "12345678901234567890123"),
        ("-0.10", "-0.10"),
        ("1e400", "1e400"),
        ("null", "null"),
        (r#""a\u0001\"}""#, r#""a\u0001\"}""#),
        (r#"{"b": 1, "b": [2, {"id": 3}]}"#, r#"{"b": 1, "b": [2, {"id": 3}]}"#),
        ("[1,\r\n 2]", "[1,   2]"),
        (&deep, &deep),
    ] {
        let starts = format!(r#"{{"id":{wanted},"decision":"#);
        for line in [
            format!(r#"{{"id": {given}, {request}}}"#),
            format!(r#" {{{request}, "\u0069d" : {given} }} "#),
            format!(r#"{{"id": {given}, "request": 5}}"#),
            format!(r#"{{"id": 5, "id": {given}, {request}}}"#),
        ] {
            let answer = simulate_line(&line);
            assert!(answer.starts_with(&starts), "{line:.200} gave {answer:.200}");
        }
    }
    for line in ["", "{", r#"{"id": 1"#, r#"{"id": 01}"#, r#"["id", 5]"#, r#"{"ID": 5}"#] {
        assert!(simulate_line(line).starts_with(r#"{"id":null,"decision":"error""#), "{line}");
    }
}
