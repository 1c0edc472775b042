use serde_json::{Value, json};

use super::*;
use crate::{
    checks::{
        cluster_role, controller, node_role,
        testing::{Account, assert_rows},
    },
    outcome::{Remedy, Status, Step},
};

const CONTROLLER: &str = "demo-karpenter";
const NODE: &str = "KarpenterNodeRole-demo";
const ACCOUNT: &str = "111122223333";
const ALL: &str = r#"{"Statement": {"Effect": "Allow", "Action": "*", "Resource": "*"}}"#;

/// An organisation of a root, a unit and the account. `FullAWSAccess` is attached everywhere;
/// the unit has these statements beside it, in policies of these kinds.
fn organization(service: &Value, resource: &Value) -> Value {
    let allow_all = json!({"id": "p-FullAWSAccess", "name": "FullAWSAccess"});
    let level = |id: &str, own: bool| {
        let with = |own_id: &str, name: &str| match own {
            true => json!({"known": [allow_all, {"id": own_id, "name": name}]}),
            false => json!({"known": [allow_all]}),
        };
        json!({"id": id, "service_control": with("p-11111111", "Guardrails"),
            "resource_control": with("p-22222222", "Perimeter")})
    };
    let document = |statements: &Value| json!({"known": json!({"Version": "2012-10-17", "Statement": statements}).to_string()});
    json!({"facts": {"organization": {"known": {
        "id": "o-a1b2c3d4e5", "management_account": "999988887777", "account": ACCOUNT,
        "levels": {"known": [
            level("r-ab12", false), level("ou-ab12-c3d4e5f6", true), level(ACCOUNT, false)]},
        "policies": {"p-FullAWSAccess": {"known": ALL}, "p-11111111": document(service),
            "p-22222222": document(resource)},
    }}}})
}

fn service(statement: &Value) -> Value {
    organization(&json!([statement]), &json!([]))
}

fn resource(statement: &Value) -> Value {
    organization(&json!([]), &json!([statement]))
}

fn deny(action: &str, condition: &Value) -> Value {
    json!({"Sid": "No", "Effect": "Deny", "Action": action, "Resource": "*", "Condition": condition})
}

/// What the first finding of a check says and how to mend it, for the words of a test.
fn words(account: Account, check: &'static Check, patch: &Value) -> (String, Remedy) {
    let outcomes = account.judge(check, patch);
    let found = outcomes.into_iter().find(|o| matches!(o.status, Status::Fail | Status::Warn));
    let found = found.expect("a finding");
    (found.seen, found.remedy.expect("a remedy"))
}

#[test]
fn rows() {
    let not_here = json!({"StringNotEquals": {"aws:RequestedRegion": ["eu-west-1"]}});
    let not_usa = json!({"StringNotEquals": {"aws:RequestedRegion": ["us-west-2", "us-east-1"]}});
    let strangers = json!({"StringNotEquals": {"aws:PrincipalOrgID": "o-a1b2c3d4e5"}});
    let others = json!({"StringNotEquals": {"aws:PrincipalOrgID": "o-other"}});
    let mut no_imds = deny(
        "ec2:RunInstances",
        &json!({"StringNotEquals": {"ec2:MetadataHttpTokens": "required"}}),
    );
    no_imds["Resource"] = json!("arn:aws:ec2:*:*:instance/*");
    let not_root = json!({"ArnLike": {"aws:PrincipalArn": "arn:aws:iam::*:root"}});
    let exempt = json!({"ArnNotLike": {"aws:PrincipalArn": "arn:aws:iam::*:role/demo-karpenter"}});
    let of = |controller, node| [(controller, CONTROLLER), (node, NODE)];
    let pass = of(Status::Pass, Status::Pass);
    let launches = of(Status::Fail, Status::Pass);
    // The VPC CNI calls EC2 with the node role.
    let both = of(Status::Fail, Status::Fail);
    let skipped = [(Status::Skipped, "demo")];
    let mut allow_list = service(&json!({"Effect": "Allow", "Action": "ec2:*", "Resource": "*"}));
    allow_list["facts"]["organization"]["known"]["levels"]["known"][1]["service_control"] =
        json!({"known": [{"id": "p-11111111", "name": "Guardrails"}]});
    let state = |change: Value| {
        let mut patch = service(&deny("ec2:*", &json!({})));
        json_patch::merge(&mut patch["facts"]["organization"]["known"], &change);
        patch
    };
    let denied = json!({"denied": {"action": "organizations:DescribePolicy", "message": "no"}});
    let unread = json!({"known": null,
        "denied": {"action": "organizations:DescribePolicy", "message": "no"}});
    assert_rows(
        Account::Karpenter,
        &CHECK,
        &[
            ("not read", json!({}), &skipped),
            ("none", json!({"facts": {"organization": "absent"}}), &skipped),
            ("not to be read", json!({"facts": {"organization": denied}}), &skipped),
            ("the management account", state(json!({"management_account": ACCOUNT})), &skipped),
            (
                "levels not to be read",
                state(json!({"levels": {"known": null, "denied":
                {"action": "organizations:ListParents", "message": "no"}}})),
                &skipped,
            ),
            ("nothing of interest", service(&deny("organizations:*", &json!({}))), &pass),
            ("another region only", service(&deny("ec2:*", &not_here)), &both),
            ("these regions only", service(&deny("*", &not_usa)), &pass),
            ("the root user", service(&deny("*", &not_root)), &pass),
            (
                "all but the controller",
                service(&deny("ec2:*", &exempt)),
                &of(Status::Pass, Status::Fail),
            ),
            (
                "no launch templates",
                service(&deny("ec2:CreateLaunchTemplate", &json!({}))),
                &launches,
            ),
            ("no prices", service(&deny("pricing:*", &json!({}))), &of(Status::Warn, Status::Pass)),
            ("metadata not known", service(&no_imds), &of(Status::Unknown, Status::Pass)),
            ("an allow list", allow_list, &both),
            ("strangers", resource(&deny("*", &strangers)), &pass),
            (
                "a queue for others",
                resource(&deny("sqs:*", &others)),
                &of(Status::Warn, Status::Pass),
            ),
            ("not of a service that has them", resource(&deny("ec2:*", &json!({}))), &pass),
            (
                "a document is not read",
                state(json!({"policies": {"p-11111111": unread}})),
                &of(Status::Unknown, Status::Unknown),
            ),
        ],
    );
    assert_rows(
        Account::AutoMode,
        &CHECK,
        &[(
            "no launch templates",
            service(&deny("ec2:CreateLaunchTemplate", &json!({}))),
            &[(Status::Fail, "demo-cluster"), (Status::Pass, "demo-auto-node")],
        )],
    );
}

/// The finding quotes what AWS says of that kind of policy.
#[test]
fn each_layer_in_its_own_words() {
    let mut allow_list = service(&json!({"Effect": "Allow", "Action": "iam:*", "Resource": "*"}));
    allow_list["facts"]["organization"]["known"]["levels"]["known"][1]["service_control"] =
        json!({"known": [{"id": "p-11111111", "name": "Guardrails"}]});
    let others = json!({"StringNotEquals": {"aws:PrincipalOrgID": "o-other"}});
    for (patch, id, quote) in [
        (
            service(&deny("ec2:CreateFleet", &json!({}))),
            "denied-by-organization-policy",
            "with an explicit deny in a service control policy",
        ),
        (allow_list, "denied-by-organization-policy", "because no service control policy allows"),
        (
            resource(&deny("sqs:*", &others)),
            "denied-by-resource-control-policy",
            "with an explicit deny in a resource control policy",
        ),
    ] {
        let outcomes = Account::Karpenter.judge(&CHECK, &patch);
        let [error] = outcomes[0].errors.as_slice() else { panic!("{:#?}", outcomes[0]) };
        assert_eq!((error.id.as_str(), error.quote.as_str()), (id, quote));
    }
}

/// Statements that bind by tags of the role are certain once these were read.
#[test]
fn tags_of_the_role_count() {
    let condition = json!({"StringEquals": {"aws:PrincipalTag/perimeter": "in"}});
    let patch = |tags: Value| {
        let mut patch = resource(&deny("sqs:*", &condition));
        patch["facts"]["roles"] = json!({CONTROLLER: {"known": {"tags": tags}}});
        patch
    };
    let one = |status| [(status, CONTROLLER), (Status::Pass, NODE)];
    assert_rows(
        Account::Karpenter,
        &CHECK,
        &[
            ("not read", patch(Value::Null), &one(Status::Unknown)),
            ("none", patch(json!({})), &one(Status::Pass)),
            ("another", patch(json!({"perimeter": "out"})), &one(Status::Pass)),
            ("that", patch(json!({"perimeter": "in"})), &one(Status::Warn)),
        ],
    );
}

#[test]
fn the_permission_checks_name_the_cause() {
    let no_launch = service(&deny("ec2:CreateFleet", &json!({})));
    let no_pass = service(&deny("iam:PassRole", &json!({})));
    let no_pull = service(&deny("ecr:BatchGetImage", &json!({})));
    for (account, check, patch) in [
        (Account::Karpenter, &controller::permissions::CHECK, &no_launch),
        (Account::Karpenter, &controller::pass_role::CHECK, &no_pass),
        (Account::Karpenter, &node_role::permissions::CHECK, &no_pull),
        (Account::AutoMode, &cluster_role::permissions::CHECK, &no_launch),
    ] {
        let outcomes = account.judge(check, patch);
        let found = outcomes.iter().find(|outcome| outcome.status == Status::Fail);
        let found = found.unwrap_or_else(|| panic!("{}: {outcomes:#?}", check.id));
        let evidence = &found.evidence[0];
        assert_eq!(evidence.api, "organizations:DescribePolicy", "{found:#?}");
        let cause =
            "denied by statement No of policy Guardrails (p-11111111) (service control policy)";
        assert_eq!(evidence.value, cause);
        let remedy = found.remedy.as_ref().unwrap();
        assert!(remedy.words.contains("the organisation refuses it"), "{remedy:#?}");
        assert!(remedy.words.contains(cause), "{remedy:#?}");
    }
}

#[test]
fn the_owners_are_told_what_to_change() {
    let regions = json!({"StringNotEquals": {"aws:RequestedRegion": "eu-west-1"},
        "ArnNotLike": {"aws:PrincipalArn": "arn:aws:iam::*:role/admin"}});
    let (seen, remedy) = words(Account::Karpenter, &CHECK, &service(&deny("ec2:*", &regions)));
    assert!(
        seen.starts_with("The service control policy Guardrails (p-11111111) of the"),
        "{seen}"
    );
    assert!(remedy.words.contains("o-a1b2c3d4e5 (management account 999988887777)"), "{remedy:#?}");
    let Step::Document { document, file } = &remedy.steps[0] else { panic!("{remedy:#?}") };
    assert_eq!(file, "Guardrails.json");
    let document: Value = serde_json::from_str(document).unwrap();
    assert_eq!(
        document["Statement"][0]["Condition"]["ArnNotLike"]["aws:PrincipalArn"],
        json!(["arn:aws:iam::*:role/admin", "arn:aws:iam::111122223333:role/demo-karpenter"])
    );
    let Step::Command { command } = &remedy.steps[1] else { panic!("{remedy:#?}") };
    assert_eq!(
        command,
        "aws organizations update-policy --policy-id p-11111111 --content file://Guardrails.json"
    );
    // With the exemption all is well.
    let exempted = organization(&document["Statement"], &json!([]));
    let outcomes = Account::Karpenter.judge(&CHECK, &exempted);
    assert_eq!(outcomes[0].status, Status::Pass, "{outcomes:#?}");
}

#[test]
fn an_allow_is_asked_for_at_the_level_that_lacks_it() {
    let mut patch = service(&json!({"Effect": "Allow", "Action": "iam:*", "Resource": "*"}));
    patch["facts"]["organization"]["known"]["levels"]["known"][1]["service_control"] =
        json!({"known": [{"id": "p-11111111", "name": "Guardrails"}]});
    let (seen, remedy) = words(Account::Karpenter, &CHECK, &patch);
    assert!(seen.starts_with("The want of a service control policy"), "{seen}");
    let steps = serde_json::to_string(&remedy.steps).unwrap();
    assert!(steps.contains("--target-id ou-ab12-c3d4e5f6"), "{steps}");
    assert!(!steps.contains("--target-id r-ab12") && steps.contains("ec2:CreateFleet"), "{steps}");
}

/// What a NodeClass says of its launches is known, where the cluster is read.
#[test]
fn launches_are_judged_by_what_they_ask_for() {
    use Status::{Fail, Pass};
    let on = |kind: &str, condition: &Value| {
        let mut statement = deny("ec2:RunInstances", condition);
        statement["Resource"] = json!(format!("arn:aws:ec2:*:*:{kind}/*"));
        service(&statement)
    };
    let no_imdsv1 =
        on("instance", &json!({"StringNotEquals": {"ec2:MetadataHttpTokens": "required"}}));
    let of_templates =
        on("launch-template", &json!({"StringNotEquals": {"ec2:MetadataHttpTokens": "required"}}));
    let two_hops = on(
        "instance",
        &json!({"NumericGreaterThan": {"ec2:MetadataHttpPutResponseHopLimit": "1"}}),
    );
    let no_clear = on("volume", &json!({"Bool": {"ec2:Encrypted": "false"}}));
    let with = |patch: &Value, class: &Value| {
        let mut patch = patch.clone();
        let mut all = json!({"meta": {"name": "default"}, "role": NODE,
            "metadata_options": {"http_tokens": "required", "http_put_response_hop_limit": 1}});
        json_patch::merge(&mut all, class);
        patch["facts"]["kubernetes"] = json!({"ec2_node_classes": {"known": [all]}});
        patch
    };
    // Launches go by way of EC2 Fleet, and the trial of 1.3 and later does not.
    let services =
        service(&deny("ec2:RunInstances", &json!({"Bool": {"aws:ViaAWSService": "false"}})));
    let plain = json!({});
    let optional = json!({"metadata_options": {"http_tokens": "optional"}});
    let hops = json!({"metadata_options": {"http_put_response_hop_limit": 2}});
    let clear = json!({"volumes": [{"device": "/dev/xvda", "encrypted": false}]});
    let of = |controller| [(controller, CONTROLLER), (Pass, NODE)];
    assert_rows(
        Account::KarpenterCluster,
        &CHECK,
        &[
            ("services only", with(&services, &plain), &of(Fail)),
            ("IMDSv2", with(&no_imdsv1, &plain), &of(Pass)),
            // https://github.com/aws/karpenter-provider-aws/issues/9018: a template bears no such key.
            ("IMDSv2 of launch templates", with(&of_templates, &plain), &of(Fail)),
            ("IMDSv1", with(&no_imdsv1, &optional), &of(Fail)),
            ("one hop", with(&two_hops, &plain), &of(Pass)),
            ("two hops", with(&two_hops, &hops), &of(Fail)),
            ("Karpenter's volumes", with(&no_clear, &plain), &of(Pass)),
            ("volumes in clear text", with(&no_clear, &clear), &of(Fail)),
        ],
    );
}
