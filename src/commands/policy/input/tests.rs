mod merging;

use serde_json::json;

use super::*;

fn found(text: &str) -> Result<Found, String> {
    let mut found = Found::default();
    add(&mut found, "dir/file.json", text)?;
    Ok(found)
}

fn names(documents: &[Document]) -> Vec<&str> {
    documents.iter().map(|document| document.named.name.as_str()).collect()
}

fn allow(action: &str) -> Value {
    json!({"Version": "2012-10-17",
        "Statement": [{"Effect": "Allow", "Action": action, "Resource": "*"}]})
}

#[test]
fn documents_in_every_wrapping() {
    let document = allow("ec2:*");
    let encoded: String = document.to_string().bytes().map(|b| format!("%{b:02X}")).collect();
    for text in [
        document.to_string(),
        format!("\u{feff}{document}"),
        encoded.clone(),
        json!({"PolicyDocument": document}).to_string(),
        json!({"PolicyVersion": {"Document": document}}).to_string(),
        json!({"PolicyVersion": {"Document": encoded}}).to_string(),
        json!({"managed_policy_arns": [], "policies": [{"document": document}]}).to_string(),
    ] {
        let found = found(&text).unwrap();
        assert_eq!(names(&found.loose), ["file.json"], "{text}");
        assert_eq!(found.loose[0].purpose(), Purpose::Identity);
    }
    for (text, why) in [
        ("{", "not JSON"),
        ("{}", "neither a policy document"),
        ("", "it is empty"),
        ("{}\n{}", "one JSON value after another"),
        ("{\"@level\": 1}\n{\"@level\": 2}", "log of a run of Terraform"),
        ("{\"@level\": 1}", "log of a run of Terraform"),
        ("Version: \"2012-10-17\"\nStatement:\n- Effect: Allow", "it is YAML"),
        ("Resources:\n  R:\n    Type: AWS::IAM::Role", "a CloudFormation template"),
        (r#"{"Resources": {}}"#, "a CloudFormation template"),
        (r#"{"version": 4, "terraform_version": "1.9.0", "lineage": "x"}"#, "as Terraform stores"),
        (r#"[{"Effect": "Allow"}]"#, "without the document around them"),
        ("resource \"aws_iam_role\" \"r\" {\n}", "Terraform's configuration"),
        ("hello", "`terraform show -json`"),
        (r#"{"Statement": [], "Statement": []}"#, "given twice"),
        (r#"{"Statement": [{"Effect": "Allow"}]}"#, "file.json is no policy"),
    ] {
        let error = found(text).unwrap_err();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn an_account_gives_roles_with_all_they_have() {
    let own = "arn:aws:iam::111122223333:policy/own";
    let account = json!({
        "RoleDetailList": [{
            "RoleName": "R", "Arn": "arn:aws:iam::111122223333:role/R",
            "AssumeRolePolicyDocument": {"Statement": [{"Effect": "Allow",
                "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}]},
            "RolePolicyList": [{"PolicyName": "inline", "PolicyDocument": allow("a:*")}],
            "AttachedManagedPolicies": [{"PolicyArn": own},
                {"PolicyArn": "arn:aws:iam::aws:policy/X"}],
            "PermissionsBoundary": {"PermissionsBoundaryArn": own},
        }],
        "Policies": [{"PolicyName": "own", "Arn": own, "DefaultVersionId": "v2",
            "PolicyVersionList": [{"VersionId": "v1", "Document": {}},
                {"VersionId": "v2", "Document": allow("b:*")}]}],
    });
    let found = found(&account.to_string()).unwrap();
    let [role] = found.roles.as_slice() else { panic!("{found:?}") };
    assert_eq!(names(&role.identity), ["inline", "own"]);
    assert_eq!(role.attached, ["arn:aws:iam::aws:policy/X"]);
    let boundary = role.boundary.as_ref().and_then(|boundary| boundary.as_ref().ok()).unwrap();
    assert_eq!(boundary.named.name, "own");
    let trust = role.trust.as_ref().and_then(|trust| trust.as_ref().ok()).unwrap();
    assert_eq!(trust.purpose(), Purpose::Trust);
}

/// A plan before the first apply: ARNs are not known, and the configuration tells what belongs
/// together.
#[test]
fn a_plan_is_put_together_by_its_references() {
    let resource = |address: &str, kind: &str, values: Value| json!({"address": address, "mode": "managed", "type": kind, "values": values});
    let refers =
        |address: &str, expressions: Value| json!({"address": address, "expressions": expressions});
    let plan = json!({
        "format_version": "1.2",
        "planned_values": {"root_module": {"child_modules": [{"resources": [
            resource("module.k.aws_iam_role.c[0]", "aws_iam_role",
                json!({"assume_role_policy": allow("x:y").to_string()})),
            resource("module.k.aws_iam_policy.p[0]", "aws_iam_policy",
                json!({"name": "p", "policy": allow("a:*").to_string()})),
            resource("module.k.aws_iam_policy.q", "aws_iam_policy", json!({"name": "q"})),
            resource("module.k.aws_iam_policy.other", "aws_iam_policy",
                json!({"name": "other", "policy": allow("o:*").to_string()})),
            resource("module.k.aws_iam_role_policy_attachment.p[0]",
                "aws_iam_role_policy_attachment", json!({})),
            resource("module.k.aws_iam_role_policy_attachment.q",
                "aws_iam_role_policy_attachment", json!({})),
            resource("module.k.aws_iam_role_policy_attachment.m[\"a.b\"]",
                "aws_iam_role_policy_attachment",
                json!({"policy_arn": "arn:aws:iam::aws:policy/M"})),
        ]}]}},
        "configuration": {"root_module": {"module_calls": {"k": {"module": {"resources": [
            refers("aws_iam_role_policy_attachment.p", json!({
                "role": {"references": ["aws_iam_role.c[0].name", "aws_iam_role.c[0]"]},
                "policy_arn": {"references": ["aws_iam_policy.p[0].arn", "aws_iam_policy.p[0]"]}})),
            refers("aws_iam_role_policy_attachment.q", json!({
                "role": {"references": ["aws_iam_role.c[0].name"]},
                "policy_arn": {"references": ["aws_iam_policy.q.arn"]}})),
            refers("aws_iam_role_policy_attachment.m", json!({
                "role": {"references": ["aws_iam_role.c[0].name"]},
                "policy_arn": {"references": ["each.value"]}})),
        ]}}}}},
    });
    let found = found(&plan.to_string()).unwrap();
    let [role] = found.roles.as_slice() else { panic!("{found:?}") };
    assert_eq!(role.name, "module.k.aws_iam_role.c[0]");
    assert_eq!(names(&role.identity), ["p"]);
    assert_eq!(role.attached, ["arn:aws:iam::aws:policy/M"]);
    let unseen: Vec<_> = role.unseen.iter().map(|unseen| unseen.what.as_str()).collect();
    assert_eq!(unseen, ["`policy` of module.k.aws_iam_policy.q"]);
}

#[test]
fn a_plan_without_a_role_gives_its_policies() {
    let state = json!({"format_version": "1.0", "values": {"root_module": {"resources": [
        {"address": "data.aws_iam_policy_document.d", "mode": "data",
            "type": "aws_iam_policy_document", "values": {"json": allow("d:*").to_string()}},
        {"address": "aws_iam_policy.p", "mode": "managed", "type": "aws_iam_policy",
            "values": {"name": "p", "policy": allow("p:*").to_string()}},
    ]}}});
    assert_eq!(names(&found(&state.to_string()).unwrap().loose), ["p"]);
    let empty = json!({"format_version": "1.0", "values": {}});
    assert!(found(&empty.to_string()).unwrap_err().contains("no aws_iam_role"));
}

fn resource(address: &str, values: Value) -> Value {
    let kind = address.trim_start_matches("data.").split('.').next().unwrap_or_default();
    let mode = if address.starts_with("data.") { "data" } else { "managed" };
    json!({"address": address, "mode": mode, "type": kind, "values": values})
}

fn role_of(resources: &[Value], configuration: &[(&str, Value)]) -> Role {
    let blocks: Vec<_> = configuration
        .iter()
        .map(|(address, expressions)| json!({"address": address, "expressions": expressions}))
        .collect();
    let plan = json!({"format_version": "1.2",
        "planned_values": {"root_module": {"resources": resources}},
        "configuration": {"root_module": {"resources": blocks}}});
    found(&plan.to_string()).unwrap().roles.remove(0)
}

fn unseen(role: &Role) -> Vec<&str> {
    role.unseen.iter().map(|unseen| unseen.what.as_str()).collect()
}

#[test]
fn attachments_of_every_kind() {
    let trust = allow("x:y").to_string();
    let role = || resource("aws_iam_role.r", json!({"name": "R", "assume_role_policy": trust}));
    let policy = resource(
        "aws_iam_policy.p",
        json!({"name": "p", "arn": "arn:aws:iam::1:policy/p", "policy": allow("a:*").to_string()}),
    );
    let inline = |name: &str| {
        let values = json!({"name": name, "role": "R", "policy": allow("b:*").to_string()});
        resource(&format!("aws_iam_role_policy.{name}"), values)
    };
    let arns = json!(["arn:aws:iam::1:policy/p", "arn:aws:iam::aws:policy/M"]);
    let found = role_of(
        &[
            role(),
            policy.clone(),
            resource(
                "aws_iam_policy_attachment.a",
                json!({"roles": ["Q", "R"], "policy_arn": "arn:aws:iam::1:policy/p"}),
            ),
            resource(
                "aws_iam_policy_attachment.users",
                json!({"roles": null, "policy_arn": "arn:aws:iam::1:policy/other"}),
            ),
            inline("stays"),
            inline("goes"),
            resource(
                "aws_iam_role_policies_exclusive.e",
                json!({"role_name": "R", "policy_names": ["stays"]}),
            ),
        ],
        &[],
    );
    assert_eq!(names(&found.identity), ["stays", "p"]);
    assert!(found.attached.is_empty() && found.unseen.is_empty(), "{found:?}");
    let exclusive = json!({"role_name": "R", "policy_arns": arns});
    let found = role_of(
        &[role(), policy, resource("aws_iam_role_policy_attachments_exclusive.e", exclusive)],
        &[],
    );
    assert_eq!(names(&found.identity), ["p"]);
    assert_eq!(found.attached, ["arn:aws:iam::aws:policy/M"]);
}

/// Whatever is not known yet is unseen, and never taken for not there.
#[test]
fn what_a_plan_does_not_know_is_unseen() {
    let role = |values: Value| {
        let mut role = json!({"name": "R", "assume_role_policy": allow("x:y").to_string()});
        json_patch::merge(&mut role, &values);
        resource("aws_iam_role.r", role)
    };
    let refers = |to: &str| json!({"references": [to]});
    let attachment = resource("aws_iam_role_policy_attachment.a", json!({"role": "R"}));
    let elsewhere = resource("aws_iam_role_policy.i", json!({"policy": allow("a:*").to_string()}));
    for (resources, configuration, wanted) in [
        (vec![role(json!({"inline_policy": [{"name": "i"}]}))], vec![], "i of aws_iam_role.r"),
        (
            vec![role(json!({}))],
            vec![("aws_iam_role.r", json!({"inline_policy": [{"policy": refers("local.x")}]}))],
            "inline_policy of aws_iam_role.r",
        ),
        (
            vec![role(json!({}))],
            vec![("aws_iam_role.r", json!({"managed_policy_arns": refers("local.x")}))],
            "aws_iam_role.r",
        ),
        (vec![role(json!({})), attachment], vec![], "aws_iam_role_policy_attachment.a"),
        (
            vec![role(json!({})), elsewhere.clone()],
            vec![("aws_iam_role_policy.i", json!({"role": refers("local.role")}))],
            "aws_iam_role_policy.i",
        ),
    ] {
        assert_eq!(unseen(&role_of(&resources, &configuration)), [wanted]);
    }
    let other = resource("aws_iam_role.q", json!({"name": "Q"}));
    let found = role_of(
        &[role(json!({})), other, elsewhere],
        &[("aws_iam_role_policy.i", json!({"role": refers("aws_iam_role.q.name")}))],
    );
    assert!(found.identity.is_empty() && found.unseen.is_empty(), "{found:?}");
}

/// Through a variable of a module and an output of another.
#[test]
fn references_are_followed_through_modules() {
    let refers = |to: &str| json!({"references": [to]});
    let plan = json!({"format_version": "1.2",
        "planned_values": {"root_module": {"child_modules": [
            {"resources": [{"address": "module.policies.aws_iam_policy.p", "mode": "managed",
                "type": "aws_iam_policy", "values": {"name": "p", "policy": allow("a:*").to_string()}}]},
            {"resources": [
                {"address": "module.k[0].aws_iam_role.r", "mode": "managed", "type": "aws_iam_role",
                    "values": {"assume_role_policy": allow("x:y").to_string()}},
                {"address": "module.k[0].aws_iam_role_policy_attachment.a", "mode": "managed",
                    "type": "aws_iam_role_policy_attachment", "values": {}}]}]}},
        "configuration": {"root_module": {"module_calls": {
            "policies": {"module": {
                "outputs": {"arn": {"expression": refers("aws_iam_policy.p.arn")}}}},
            "k": {"expressions": {"policy_arn": refers("module.policies.arn")},
                "module": {"resources": [{"address": "aws_iam_role_policy_attachment.a",
                    "expressions": {"role": refers("aws_iam_role.r.name"),
                        "policy_arn": refers("var.policy_arn")}}]}}}}}});
    let found = found(&plan.to_string()).unwrap();
    assert_eq!(names(&found.roles[0].identity), ["p"], "{found:?}");
    assert!(found.roles[0].unseen.is_empty(), "{found:?}");
}

#[test]
fn one_sid_twice_is_no_policy() {
    let twice = r#"{"Statement": [
        {"Sid": "A", "Effect": "Allow", "Action": "a:B", "Resource": "*"},
        {"Sid": "A", "Effect": "Allow", "Action": "a:C", "Resource": "*"}]}"#;
    let error = found(twice).unwrap_err();
    assert!(error.contains("Statement[1].Sid: another statement has the Sid A too"), "{error}");
}

/// A plan as Terraform 1.11 writes it: sources that are not known are null in their list, and a
/// deprecated argument that is not known is left out.
#[test]
fn what_a_plan_leaves_out_is_told() {
    let plan = |field: &str, value: bool| {
        let resources = [resource(
            "aws_iam_role.r",
            json!({"name": "R", "assume_role_policy": allow("x:y").to_string(),
                "tags_all": {"team": "a"}}),
        )];
        json!({"format_version": "1.2", field: value,
            "planned_values": {"root_module": {"resources": resources}}})
        .to_string()
    };
    let whole = found(&plan("complete", true)).unwrap();
    assert!(whole.unseen.is_empty() && whole.notes.is_empty(), "{whole:?}");
    assert_eq!(whole.roles[0].tags.as_ref().unwrap()["team"], "a");
    let errored = found(&plan("errored", true)).unwrap();
    assert_eq!(errored.unseen[0].why, "the plan ended with an error");
    let targeted = found(&plan("complete", false)).unwrap();
    assert!(targeted.unseen.is_empty(), "{targeted:?}");
    assert!(targeted.notes[0].contains("is not complete"), "{targeted:?}");
}
