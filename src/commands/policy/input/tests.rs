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
    assert_eq!(role.boundary.as_ref().map(|b| b.named.name.as_str()), Some("own"));
    assert_eq!(role.trust.as_ref().map(Document::purpose), Some(Purpose::Trust));
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
    assert_eq!(
        role.unseen,
        ["`policy` of module.k.aws_iam_policy.q is known after the apply only"]
    );
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
