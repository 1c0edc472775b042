//! Conditions on rows: operator, wanted values, what is sent, whether it is met.

use super::*;

fn holds(operator: &str, wanted: &[&str], sent: Option<Entry>) -> Truth {
    let values = wanted.iter().map(|&w| w.to_owned()).collect();
    let condition = Condition::new(operator, "K", values, true).unwrap();
    let mut context = Context::new();
    context.set("own", "v1".into());
    context.set("some", Entry::Unknown);
    if let Some(entry) = sent {
        context.set("k", entry);
    }
    condition.holds(&context)
}

#[test]
fn one_value() {
    let rows: &[(&str, &[&str], &str, bool)] = &[
        ("StringEquals", &["a"], "a", true),
        ("StringEquals", &["a"], "A", false),
        ("StringEquals", &["a", "b"], "b", true),
        ("StringEquals", &["*"], "a", false),
        ("StringEquals", &["*"], "*", true),
        ("StringEquals", &["a?"], "ab", false),
        ("StringEquals", &["${*}"], "*", true),
        ("StringEquals", &[], "a", false),
        ("StringNotEquals", &["a", "b"], "b", false),
        ("StringNotEquals", &["a", "b"], "c", true),
        ("StringNotEquals", &[], "c", true),
        ("StringEqualsIgnoreCase", &["ÄB"], "äb", true),
        ("StringNotEqualsIgnoreCase", &["AB"], "ab", false),
        ("StringLike", &["*"], "", true),
        ("StringLike", &["a*c?"], "abcd", true),
        ("StringLike", &["a*"], "Ab", false),
        ("StringLike", &["${*}"], "a", false),
        ("StringNotLike", &["a*", "b*"], "bc", false),
        ("StringNotLike", &["a*", "b*"], "c", true),
        ("ArnLike", &["arn:aws:iam::*:role/R"], "arn:aws:iam::1:role/R", true),
        ("ArnEquals", &["arn:aws:iam::*:role/*"], "arn:aws:iam::1:role/p/R", true),
        ("ArnLike", &["arn:aws:iam::1*"], "arn:aws:iam::1:role/R", false),
        ("ArnLike", &["*"], "arn:aws:iam::1:role/R", false),
        ("ArnNotLike", &["arn:*:role/R"], "arn:aws:iam::1:role/R", true),
        ("ArnNotLike", &["arn:aws:iam::1:*"], "arn:aws:iam::2:role/R", true),
        ("ArnNotEquals", &["arn:aws:iam::1:*"], "arn:aws:iam::1:role/R", false),
        ("NumericEquals", &["10"], "10.0", true),
        ("NumericEquals", &["x"], "10", false),
        ("NumericNotEquals", &["10"], "11", true),
        ("NumericLessThan", &["10"], "9", true),
        ("NumericLessThan", &["10"], "10", false),
        ("NumericLessThanEquals", &["10"], "10", true),
        ("NumericGreaterThan", &["10"], "9", false),
        ("NumericGreaterThanEquals", &["9", "100"], "10", true),
        ("NumericGreaterThan", &["9"], "ten", false),
        ("DateLessThan", &["2030-01-01T00:00:00Z"], "2029-12-31", true),
        ("DateGreaterThan", &["2030-01-01"], "1893456001", true),
        ("DateEquals", &["2030-01-01"], "1893456000", true),
        ("DateNotEquals", &["2030-01-01"], "2030-01-02", true),
        ("DateLessThanEquals", &["1767225600"], "2026-01-01T00:00:00Z", true),
        ("Bool", &["true"], "TRUE", true),
        ("Bool", &["false"], "true", false),
        ("Bool", &["yes"], "yes", false),
        ("BinaryEquals", &["QmluYXJ5"], "QmluYXJ5", true),
        // The text of the base64 is compared, byte by byte.
        ("BinaryEquals", &["QQ=="], "QQ==", true),
        ("BinaryEquals", &["QQ=="], "QQ", false),
        ("BinaryEquals", &["QQ=="], "qq==", false),
        ("IpAddress", &["10.0.0.0/8", "192.0.2.1"], "192.0.2.1", true),
        ("IpAddress", &["10.0.0.0/8"], "2001:db8::1", false),
        ("NotIpAddress", &["10.0.0.0/8"], "11.0.0.1", true),
        ("NotIpAddress", &["0.0.0.0/0"], "203.0.113.9", false),
        ("IpAddress", &["2001:DB8:1234:5678::/64"], "2001:db8:1234:5678:9::1", true),
        ("Null", &["false"], "", true),
        ("Null", &["true"], "a", false),
        ("StringEqualsIfExists", &["a"], "b", false),
        ("StringEquals", &["${own}"], "v1", true),
        ("StringEquals", &["v${missing, '1'}"], "v1", true),
        ("StringLike", &["*${own}"], "xv1", true),
        // A variable without a value equals nothing, which meets a negated operator.
        ("StringEquals", &["${missing}", "a"], "a", true),
        ("StringEquals", &["${missing}"], "", false),
        ("StringNotEquals", &["${missing}"], "a", true),
        ("StringNotLike", &["${missing}*"], "a", true),
        ("StringNotEquals", &["${missing}", "a"], "a", false),
        ("ArnLike", &["arn:aws:iam::${missing}:role/R"], "arn:aws:iam:::role/R", false),
        // A value of another type meets nothing, negated or not.
        ("NumericNotEquals", &["10"], "ten", false),
        ("NumericNotEquals", &["10"], "", false),
        ("NumericNotEqualsIfExists", &["10"], "ten", false),
        ("DateNotEquals", &["2025-01-01"], "soon", false),
        ("NotIpAddress", &["10.0.0.0/8"], "host", false),
        ("ArnNotEquals", &["arn:aws:iam::1:role/R"], "role/R", false),
        ("ArnNotLike", &["arn:aws:iam::1:role/*"], "*", false),
        ("ForAllValues:ArnNotLike", &["arn:aws:iam::1:role/*"], "role/R", false),
        ("ForAnyValue:NumericNotEquals", &["10"], "ten", false),
        ("NumericEquals", &["-2.5"], "-2.50", true),
        ("NumericEquals", &["10"], "+10", true),
        ("NumericEquals", &["10"], "0x0A", false),
        ("NumericLessThan", &["10"], "NaN", false),
        ("NumericGreaterThan", &["10"], "infinity", false),
        ("NumericLessThan", &["-1"], "-1.0000001", true),
        ("DateEquals", &["2025-01-01T00:00:00Z"], "2025-01-01T01:00:00+01:00", true),
        ("DateLessThan", &["2025-01-01T00:00:00Z"], "2024-12-31T23:59:59.999Z", true),
        ("DateGreaterThanEquals", &["2025-01-01T00:00:00Z"], "1735689600", true),
        ("DateLessThan", &["2025-01-01T00:00:00Z"], "1735689599", true),
        ("IpAddress", &["2001:db8::/32"], "2001:db9::1", false),
        ("IpAddress", &["10.0.0.0/8"], "::ffff:10.1.2.3", false),
        ("NotIpAddress", &["10.0.0.0/8", "2001:db8::/32"], "2001:db8::1", false),
        ("NotIpAddress", &["10.0.0.0/8"], "2001:db8::1", true),
        ("IpAddress", &["10.1.2.3/0"], "203.0.113.9", true),
        ("BoolIfExists", &["true"], "false", false),
        ("ArnEquals", &["arn:aws:iam::*:role/t?am/*"], "arn:aws:iam::1:role/team/a/b", true),
        ("ArnLike", &["arn:aws:iam::*:role/*"], "arn:aws:iam:us-east-1:1:role/R", false),
        ("ArnLike", &["arn:*:*:*:*:*"], "arn:aws:s3:::bucket/a:b", true),
        ("StringLike", &["${*}${?}${$}"], "*?$", true),
        ("StringLike", &["a${*}*"], "a*b", true),
        ("StringLike", &["a${*}*"], "ab", false),
        ("StringEqualsIgnoreCase", &["${own}"], "V1", true),
        ("StringNotEqualsIfExists", &["a"], "a", false),
        ("StringNotEqualsIfExists", &["a"], "", true),
        ("Null", &["true", "false"], "a", true),
    ];
    for (operator, wanted, sent, want) in rows {
        let got = holds(operator, wanted, Some((*sent).into()));
        assert_eq!(got, Truth::from(*want), "{operator} {wanted:?} on {sent:?}");
    }
}

#[test]
fn no_value() {
    let rows = [
        ("StringEquals", false),
        ("StringLike", false),
        ("StringNotEquals", true),
        ("StringNotLike", true),
        ("ArnNotEquals", true),
        ("NumericNotEquals", true),
        ("NumericLessThan", false),
        ("DateNotEquals", true),
        ("NotIpAddress", true),
        ("IpAddress", false),
        ("Bool", false),
        ("BinaryEquals", false),
        ("StringEqualsIfExists", true),
        ("BoolIfExists", true),
        ("StringNotEqualsIfExists", true),
        ("ForAllValues:StringEquals", true),
        ("ForAllValues:StringNotEquals", true),
        ("ForAnyValue:StringEquals", false),
        ("ForAnyValue:StringNotEquals", false),
        ("ForAnyValue:StringEqualsIfExists", false),
    ];
    for (operator, want) in rows {
        for sent in [None, Some(Entry::Absent), Some(Entry::List(Vec::new()))] {
            assert_eq!(holds(operator, &["1"], sent), Truth::from(want), "{operator}");
        }
    }
    assert_eq!(holds("Null", &["true"], None), Truth::Yes);
    assert_eq!(holds("Null", &["false"], None), Truth::No);
}

#[test]
fn several_values() {
    let rows: &[(&str, &[&str], &[&str], bool)] = &[
        ("ForAllValues:StringEquals", &["a", "b"], &["a", "b"], true),
        ("ForAllValues:StringEquals", &["a", "b"], &["a", "c"], false),
        ("ForAllValues:StringLike", &["k8s/*", "Name"], &["k8s/x", "Name"], true),
        ("ForAllValues:StringNotEquals", &["a", "b"], &["c", "d"], true),
        ("ForAllValues:StringNotEquals", &["a", "b"], &["c", "a"], false),
        ("ForAnyValue:StringEquals", &["a", "b"], &["c", "b"], true),
        ("ForAnyValue:StringEquals", &["a", "b"], &["c", "d"], false),
        ("ForAnyValue:StringNotEquals", &["a", "b"], &["a", "c"], true),
        ("ForAnyValue:StringNotEquals", &["a", "b"], &["a", "b"], false),
        ("ForAllValues:StringEquals", &["a"], &[""], true),
        ("ForAllValues:StringEquals", &["a"], &["", "b"], false),
        ("ForAllValues:StringLike", &["a*"], &["a", ""], false),
        ("ForAnyValue:StringNotLike", &["*"], &["a", ""], false),
        ("ForAnyValue:StringEqualsIfExists", &["a"], &["b", "a"], true),
        ("ForAllValues:NumericLessThan", &["10"], &["1", "ten"], false),
        ("ForAnyValue:NumericLessThan", &["10"], &["ten", "1"], true),
        ("ForAllValues:ArnNotLike", &["arn:aws:iam::1:*"], &["arn:aws:iam::2:role/R", "x"], false),
        ("ForAnyValue:NotIpAddress", &["10.0.0.0/8"], &["10.0.0.1", "x"], false),
        ("ForAllValues:Bool", &["true"], &["true", "TRUE"], true),
        ("ForAllValues:Null", &["false"], &["a"], true),
        ("ForAnyValue:StringLike", &["*"], &[""], false),
        ("StringEquals", &["a"], &["a"], true),
        ("StringNotEquals", &["a"], &["a"], false),
    ];
    for (operator, wanted, sent, want) in rows {
        let entry = Entry::List(sent.iter().map(|&s| s.to_owned()).collect());
        let got = holds(operator, wanted, Some(entry));
        assert_eq!(got, Truth::from(*want), "{operator} {wanted:?} on {sent:?}");
    }
}

#[test]
fn unknown_values() {
    let rows: &[(&str, &[&str], Entry, Truth)] = &[
        ("StringEquals", &["a"], Entry::Unknown, Truth::Unknown),
        ("StringNotEqualsIfExists", &["a"], Entry::Unknown, Truth::Unknown),
        ("ForAllValues:StringEquals", &["a"], Entry::Unknown, Truth::Unknown),
        ("Null", &["true"], Entry::Unknown, Truth::Unknown),
        ("StringEquals", &["a"], ["a", "b"].into(), Truth::Unknown),
        ("StringNotLike", &["c"], ["a", "b"].into(), Truth::Unknown),
        ("StringEquals", &["${some}"], "a".into(), Truth::Unknown),
        ("StringEquals", &["${some}", "a"], "a".into(), Truth::Yes),
        ("StringNotEquals", &["${some}", "a"], "a".into(), Truth::No),
        ("StringEquals", &["${some}${missing}"], "a".into(), Truth::No),
    ];
    for (operator, wanted, sent, want) in rows {
        assert_eq!(holds(operator, wanted, Some(sent.clone())), *want, "{operator} {wanted:?}");
    }
}

#[test]
fn old_documents_have_no_variables() {
    let condition = Condition::new("StringEquals", "K", vec!["${own}".into()], false).unwrap();
    let mut context = Context::new();
    context.set("k", "${own}".into());
    context.set("own", "v1".into());
    assert_eq!(condition.holds(&context), Truth::Yes);
}
