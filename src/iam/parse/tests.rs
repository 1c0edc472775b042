//! Documents that AWS accepts and documents that it does not.

use super::*;

#[test]
fn accepted_forms() {
    let rows = [
        r#"{"Statement": []}"#,
        r#"{"Version":"2012-10-17","Id":"x","Statement":[{"Sid":"a","Effect":"Allow","Action":"*","Resource":"*"}]}"#,
        r#"{"Statement": {"Effect": "Deny", "NotAction": ["iam:*", "sts:*"], "NotResource": ["arn:aws:s3:::a"]}}"#,
        r#"{"Statement": {"Effect": "Allow", "Principal": "*", "Action": "s3:Get*", "Resource": "*"}}"#,
        r#"{"Statement": {"Effect": "Allow", "Action": "sts:AssumeRole",
            "Principal": {"AWS": ["111122223333", "*"], "Service": "ec2.amazonaws.com", "Federated": "x", "CanonicalUser": "y"}}}"#,
        r#"{"Statement": {"Effect": "Deny", "NotPrincipal": {"AWS": "111122223333"}, "Action": "*", "Resource": "*"}}"#,
        r#"{"Statement": {"Effect": "Allow", "Action": "a:*", "Resource": "*",
            "Condition": {"Bool": {"a": true}, "NumericLessThan": {"b": [10, 1.5, "7"]}, "StringEquals": {"c": []}}}}"#,
        "\u{feff} {\"Statement\": []}\n",
        "%7B%22Version%22%3A%222012-10-17%22%2C%22Statement%22%3A%5B%5D%7D",
        "%0A%20%7B%22Statement%22%3A%20%5B%5D%7D%0A",
    ];
    for text in rows {
        if let Err(error) = Policy::parse(text) {
            panic!("{error} in {text}");
        }
    }
}

#[test]
fn what_was_read() {
    let policy = Policy::parse(
        r#"{"Version": "2012-10-17", "Statement": [
            {"Sid": "", "Effect": "Allow", "Action": "a:B", "Resource": "*"},
            {"Sid": "Two", "Effect": "Deny", "NotAction": ["a:B", "c:D*"], "Resource": ["x", "y"],
             "Condition": {"NumericEquals": {"k": [1, 2.5]}, "Bool": {"b": false}}}]}"#,
    )
    .unwrap();
    assert_eq!(policy.version, Version::V2012);
    let [first, second] = &policy.statements[..] else { panic!("two statements") };
    assert_eq!((first.index, first.sid.as_deref()), (0, None));
    assert_eq!((second.index, second.sid.as_deref()), (1, Some("Two")));
    assert!(second.action.negated && second.effect == Effect::Deny);
    let texts: Vec<&str> = second.action.items.iter().map(|i| i.text.as_str()).collect();
    assert_eq!(texts, ["a:B", "c:D*"]);
    assert_eq!(second.conditions[0].values, ["1", "2.5"]);
    assert_eq!(second.conditions[1].values, ["false"]);
}

#[test]
fn errors_point_at_the_place() {
    let statement = |body: &str| {
        format!(r#"{{"Statement": [{{}}, {{{body}}}]}}"#)
            .replace("[{}", r#"[{"Effect": "Allow", "Action": "a:b", "Resource": "*"}"#)
    };
    let rows = [
        ("", "not JSON: EOF while parsing a value at line 1 column 0"),
        ("[]", "must be an object, is a list"),
        ("{}", "Statement is missing"),
        ("%FF", "not JSON: URL-encoded, but invalid utf-8 sequence of 1 bytes from index 0"),
        (
            r#"{"Version": "2012-10-18", "Statement": []}"#,
            r#"Version: "2012-10-18" is no version; those are 2012-10-17 and 2008-10-17"#,
        ),
        (r#"{"Statement": [], "Statement": []}"#, "Statement: is given twice"),
        (
            r#"{"Statement": [], "Statements": []}"#,
            "Statements: is no element of a policy; those are Version, Id and Statement",
        ),
        (r#"{"Statement": "x"}"#, "Statement[0]: must be an object, is a string"),
        (&statement(""), "Statement[1]: Effect is missing"),
        (
            &statement(r#""Effect": "allow""#),
            "Statement[1].Effect: must be Allow or Deny, is \"allow\"",
        ),
        (&statement(r#""Effect": "Allow""#), "Statement[1]: Action is missing"),
        (
            &statement(r#""Effect": "Allow", "Effect": "Deny""#),
            "Statement[1].Effect: is given twice",
        ),
        (
            &statement(r#""Action": ["a:b", 1]"#),
            "Statement[1].Action[1]: must be a string, is a number",
        ),
        (&statement(r#""Action": []"#), "Statement[1].Action: must not be an empty list"),
        (
            &statement(r#""Action": "RunInstances""#),
            "Statement[1].Action: \"RunInstances\" names no service: an action reads service:Name, such as ec2:RunInstances",
        ),
        (
            &statement(r#""Action": "a:b", "NotAction": "a:b""#),
            "Statement[1]: Action and NotAction exclude each other",
        ),
        (&statement(r#""Resource": null"#), "Statement[1].Resource: must be a string, is null"),
        (&statement(r#""Resources": "*""#), "Statement[1].Resources: is no element of a statement"),
        (
            &statement(r#""Principal": "me""#),
            "Statement[1].Principal: \"me\" needs its kind around it, such as {\"AWS\": \"me\"}",
        ),
        (
            &statement(r#""Principal": {"aws": "*"}"#),
            "Statement[1].Principal.aws: is no kind of principal; those are AWS, Service, Federated, CanonicalUser",
        ),
        (&statement(r#""Principal": {}"#), "Statement[1].Principal: names nobody"),
        (&statement(r#""Condition": []"#), "Statement[1].Condition: must be an object, is a list"),
        (
            &statement(r#""Condition": {"StringEqual": {"k": "v"}}"#),
            "Statement[1].Condition.StringEqual.k: \"StringEqual\" is no condition operator",
        ),
        (
            &statement(r#""Condition": {"StringEquals": "k"}"#),
            "Statement[1].Condition.StringEquals: must be an object, is a string",
        ),
        (
            &statement(r#""Condition": {"StringEquals": {"k": ["v", {}]}}"#),
            "Statement[1].Condition.StringEquals.k[1]: must be a string, number or boolean, is an object",
        ),
        (
            &statement(r#""Condition": {"StringEquals": {"k": "v", "k": "w"}}"#),
            "Statement[1].Condition.StringEquals.k: is given twice",
        ),
    ];
    for (text, want) in rows {
        let error = Policy::parse(text).expect_err(text);
        assert_eq!(error.to_string(), want, "{text}");
    }
}

#[test]
fn kinds_of_documents() {
    let with =
        |extra: &str| format!(r#"{{"Statement": {{"Effect": "Allow", "Action": "a:b"{extra}}}}}"#);
    let (bare, resource) = (with(""), with(r#", "Resource": "*""#));
    let trust = with(r#", "Principal": "*""#);
    let both = with(r#", "Principal": "*", "Resource": "*""#);
    use PolicyKind::{Identity, Resource, Trust};
    let rows = [
        (Identity, &resource, ""),
        (Identity, &bare, "Statement[0]: Resource is missing"),
        (Identity, &both, "Statement[0]: Principal has no place in an identity policy"),
        (Resource, &both, ""),
        (Resource, &resource, "Statement[0]: Principal is missing"),
        (Resource, &trust, "Statement[0]: Resource is missing"),
        (Trust, &trust, ""),
        (Trust, &bare, "Statement[0]: Principal is missing"),
        (Trust, &both, "Statement[0]: Resource has no place in a trust policy"),
    ];
    for (kind, text, want) in rows {
        let got = Policy::parse_as(kind, text).map_or_else(|e| e.to_string(), |_| String::new());
        assert_eq!(got, want, "{kind:?} {text}");
    }
}

#[test]
fn depth_is_bounded() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(Policy::parse(&deep).is_err());
}
