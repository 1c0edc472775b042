//! How Terraform's data sources put documents together.

use super::*;

#[test]
fn documents_are_merged_as_terraform_merges_them() {
    let data = |name: &str, values: Value| {
        let mut data = json!({"source_json": null, "override_json": null, "policy_id": null,
            "source_policy_documents": null, "override_policy_documents": null,
            "statement": [], "version": null});
        json_patch::merge(&mut data, &values);
        for argument in ["source_json", "override_json"] {
            if values[argument] == "later" {
                data.as_object_mut().unwrap().remove(argument);
            }
        }
        resource(&format!("data.aws_iam_policy_document.{name}"), data)
    };
    let block = |sid: &str, effect: &str, resource: Value| {
        json!({"sid": sid, "effect": effect, "actions": ["a:B"], "resources": [resource],
            "not_actions": null, "not_resources": null, "principals": [],
            "not_principals": [], "condition": []})
    };
    let text = |sid: &str, effect: &str| {
        json!({"Version": "2012-10-17", "Statement": {"Sid": sid, "Effect": effect,
            "Action": "c:D", "Resource": "*"}})
        .to_string()
    };
    let refers = |to: &[&str]| {
        let parts = to.iter().flat_map(|name| {
            let address = format!("data.aws_iam_policy_document.{name}");
            [format!("{address}.json"), address]
        });
        json!({"references": parts.collect::<Vec<_>>()})
    };
    // What comes of each statement: its Sid, its effect, and `?` where it turns on what is later.
    let shown = |own: Value, expressions: Value| {
        let role = resource("aws_iam_role.r", json!({"name": "R"}));
        let policy = resource("aws_iam_role_policy.p", json!({"name": "p", "role": "R"}));
        let late = data("late", json!({"statement": [block("Late", "Allow", Value::Null)]}));
        let known = data("known", json!({"json": text("A", "Deny")}));
        let made_of = ("aws_iam_role_policy.p", json!({"policy": refers(&["own"])}));
        let own_address = "data.aws_iam_policy_document.own";
        let role = role_of(
            &[role, policy, late, known, data("own", own)],
            &[made_of, (own_address, expressions)],
        );
        let document: Value = serde_json::from_str(&role.identity[0].text).unwrap();
        let one = |statement: &Value| {
            let open = statement["Condition"].is_object();
            let sid = statement["Sid"].as_str().unwrap_or_default();
            format!(
                "{sid} {}{}",
                statement["Effect"].as_str().unwrap(),
                if open { "?" } else { "" }
            )
        };
        list(&document, "Statement").iter().map(one).collect::<Vec<_>>()
    };
    let own = |more: Value| {
        let mut own = json!({"statement": [block("A", "Allow", "x".into())]});
        json_patch::merge(&mut own, &more);
        own
    };
    let anything = [" Allow?", " Deny?"];
    for (name, given, expressions, wanted) in [
        ("nothing", own(json!({})), json!({}), vec!["A Allow"]),
        (
            "a source is replaced",
            own(json!({"source_policy_documents": [text("A", "Deny"), text("B", "Deny")]})),
            json!({}),
            vec!["A Allow", "B Deny"],
        ),
        (
            "an override replaces",
            own(json!({"override_policy_documents": [text("A", "Deny"), text("", "Deny"), ""]})),
            json!({}),
            vec!["A Deny", " Deny"],
        ),
        ("of old", own(json!({"override_json": text("A", "Deny")})), json!({}), vec!["A Deny"]),
        (
            "a source that is later",
            own(json!({"source_policy_documents": [text("B", "Deny"), null]})),
            json!({"source_policy_documents": refers(&["known", "late"])}),
            vec!["B Deny", "Late Allow?", "A Allow"],
        ),
        (
            "an override that is later",
            own(json!({"override_policy_documents": [null]})),
            json!({"override_policy_documents": refers(&["late"])}),
            vec!["A Allow", "Late Allow?"],
        ),
        (
            "of old, later",
            own(json!({"source_json": "later"})),
            json!({"source_json": refers(&["late"])}),
            vec!["Late Allow?", "A Allow"],
        ),
        (
            "no telling which",
            own(json!({"source_policy_documents": [null, null]})),
            json!({"source_policy_documents": refers(&["late"])}),
            [anything.as_slice(), &anything, &["A Allow"]].concat(),
        ),
        (
            "an override of which nothing is known",
            own(json!({"override_policy_documents": [null]})),
            json!({"override_policy_documents": {"references": ["local.x"]}}),
            [["A Allow?"].as_slice(), &anything].concat(),
        ),
    ] {
        assert_eq!(shown(given, expressions), wanted, "{name}");
    }
}

/// Where one of several is attached and nobody can tell which, nothing is taken for granted.
#[test]
fn one_of_several_is_unseen() {
    let trust = allow("x:y").to_string();
    let role = resource("aws_iam_role.r", json!({"name": "R", "assume_role_policy": trust}));
    let policy = |key: &str| {
        let values = json!({"name": format!("p-{key}"), "policy": allow("a:*").to_string()});
        let mut policy = resource("aws_iam_policy.p", values);
        policy["address"] = json!(format!("aws_iam_policy.p[{key:?}]"));
        policy
    };
    let attachment = |address: &str| resource(address, json!({"role": "R"}));
    let kind = "aws_iam_role_policy_attachment";
    let to = |reference: &str| json!({"policy_arn": {"references": [reference]}});
    let roles = |address: &str, expressions: Value, each: &str| {
        let mut attached = attachment(&format!("{kind}.a"));
        attached["address"] = json!(address);
        let block = json!({"address": format!("{kind}.a"), "expressions": expressions,
            "for_each_expression": {"references": [each]}});
        let plan = json!({"format_version": "1.2",
            "planned_values": {"root_module": {"resources":
                [role, policy("a.b[0]"), policy("c\"d"), attached]}},
            "configuration": {"root_module": {"resources": [block]}}});
        found(&plan.to_string()).unwrap().roles.remove(0)
    };
    let plain = format!("{kind}.a");
    let keyed = format!("{kind}.a[\"a.b[0]\"]");
    for (address, reference, each, wanted) in [
        (&plain, "aws_iam_policy.p[\"a.b[0]\"].arn", "local.x", Some("p-a.b[0]")),
        (&plain, "aws_iam_policy.p[\"c\\\"d\"].arn", "local.x", Some("p-c\"d")),
        (&plain, "aws_iam_policy.p", "local.x", None),
        (&keyed, "aws_iam_policy.p", "local.x", Some("p-a.b[0]")),
        (&keyed, "each.value.arn", "aws_iam_policy.p", Some("p-a.b[0]")),
        (&keyed, "each.value", "local.x", None),
    ] {
        let role = roles(address, to(reference), each);
        assert_eq!(names(&role.identity), Vec::from_iter(wanted), "{address} {reference}");
        assert_eq!(role.unseen.is_empty(), wanted.is_some(), "{address} {reference}");
    }
}
