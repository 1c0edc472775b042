use serde_json::{Value, json};

use super::*;
use crate::{
    checks::testing::{Account, assert_rows, controller_has},
    outcome::{Outcome, Status, Step},
};

const ROLE: &str = "demo-karpenter";
const POLICY: &str = "arn:aws:iam::111122223333:policy/KarpenterControllerPolicy-demo";
const PASS: &[(Status, &str)] = &[(Status::Pass, ROLE)];
const UNKNOWN: &[(Status, &str)] = &[(Status::Unknown, ROLE)];
const STARTS: (Status, &str) = (Status::Fail, "demo-karpenter (stops-start)");
const LAUNCHES: (Status, &str) = (Status::Fail, "demo-karpenter (stops-launches)");
const DELETION: (Status, &str) = (Status::Fail, "demo-karpenter (stops-deletion)");
const DEGRADES: (Status, &str) = (Status::Warn, "demo-karpenter (degrades)");

const SINGLE_0_32: &str = include_str!("../../../../tests/data/policies/getting-started-0.32.json");
const MIGRATION: &str = include_str!("../../../../tests/data/policies/migration-guide-1.14.json");
const STAR: &str = include_str!("../../../../tests/data/policies/all-resources.json");

fn version(version: &str, mut patch: Value) -> Value {
    patch["scope"]["karpenter_version"] = json!(version);
    patch
}

/// The policy that we print for a version and a cluster, on the controller's role.
fn printed(of: &str, cluster: &str) -> Value {
    let mut setup = Setup::new("aws", "us-west-2", "111122223333", cluster);
    setup.features.insert(requirements::Feature::Queue);
    let policies = policy::controller(of.parse().unwrap(), &setup, Layout::One);
    controller_has(&policies[0].document.to_string())
}

fn seen(patch: &Value) -> String {
    let outcomes = Account::Karpenter.judge(&CHECK, patch);
    outcomes.iter().map(|outcome| format!("{}\n", outcome.seen)).collect()
}

#[test]
fn policies_of_installers() {
    assert_rows(
        Account::Karpenter,
        &CHECK,
        &[
            ("the guide's", json!({}), PASS),
            ("the 0.32 policy with 0.32", version("0.32.1", controller_has(SINGLE_0_32)), PASS),
            (
                "the 0.32 policy with 1.14",
                controller_has(SINGLE_0_32),
                &[LAUNCHES, DELETION, DEGRADES],
            ),
            ("the migration guide's inline policy", controller_has(MIGRATION), &[DEGRADES]),
            ("every resource", controller_has(STAR), PASS),
            (
                "another cluster's",
                printed("1.14.1", "other"),
                &[STARTS, LAUNCHES, DELETION, DEGRADES],
            ),
            ("1.14's with 0.37", version("0.37.0", printed("1.14.1", "demo")), &[LAUNCHES]),
        ],
    );
}

#[test]
fn looks_ahead() {
    let on_1_6 = printed("1.6.0", "demo");
    assert_rows(
        Account::Karpenter,
        &CHECK,
        &[
            ("1.6 as it runs", version("1.6.0", on_1_6.clone()), PASS),
            ("before 1.7", version("1.7.0", on_1_6.clone()), &[DELETION]),
            ("before 1.14", on_1_6, &[DELETION, DEGRADES]),
        ],
    );
}

#[test]
fn wording_names_the_mistake() {
    for (patch, hint) in [
        (printed("1.14.1", "other"), "written for the cluster other, not demo"),
        (version("0.37.0", printed("1.14.1", "demo")), "newer than the controller"),
        (
            version("1.7.0", printed("1.6.0", "demo")),
            "may not call iam:ListInstanceProfiles as Karpenter 1.7.0 does",
        ),
        (controller_has(MIGRATION), "sqs:"),
    ] {
        let seen = seen(&patch);
        assert!(seen.contains(hint), "{hint} is not in\n{seen}");
    }
}

#[test]
fn limits_and_unread_policies() {
    let boundary = "arn:aws:iam::111122223333:policy/boundary";
    let bounded = |statement: Value| {
        let document = json!({"Version": "2012-10-17", "Statement": statement}).to_string();
        json!({"facts": {"roles": {ROLE: {"known": {"boundary": boundary}}},
            "policies": {boundary: {"known": document}}}})
    };
    let no_prices = bounded(json!([
        {"Effect": "Allow", "Action": "*", "Resource": "*"},
        {"Effect": "Deny", "Action": "pricing:*", "Resource": "*"}]));
    let session = |actions: &str| {
        let policy = json!({"Version": "2012-10-17", "Statement": {
            "Effect": "Allow", "NotAction": actions, "Resource": "*"}});
        json!({"facts": {"pod_identity_associations": {"known": [{"known": {
            "id": "a-1", "namespace": "kube-system", "service_account": "karpenter",
            "role_arn": "arn:aws:iam::111122223333:role/demo-karpenter",
            "target_role_arn": null, "policy": policy.to_string()}}]}}})
    };
    let denied = json!({"denied": {"action": "iam:GetPolicyVersion", "message": "no"}});
    let unread = json!({"facts": {"policies": {POLICY: denied}}});
    let deny = json!({"Version": "2012-10-17", "Statement": {
        "Effect": "Deny", "Action": "ec2:CreateFleet", "Resource": "*"}})
    .to_string();
    let mut denied_for_certain = unread.clone();
    denied_for_certain["facts"]["role_policies"] =
        json!({ROLE: {"inline": {"known": {"no": {"known": deny}}}}});
    let elsewhere = json!({"facts": {"pod_identity_associations": {"known": [{"known": {
        "id": "a-1", "namespace": "kube-system", "service_account": "karpenter",
        "role_arn": "arn:aws:iam::111122223333:role/demo-karpenter",
        "target_role_arn": "arn:aws:iam::444455556666:role/there"}}]}}});
    assert_rows(
        Account::Karpenter,
        &CHECK,
        &[
            ("the boundary denies", no_prices, &[DEGRADES]),
            ("the association's policy leaves all", session("sts:*"), PASS),
            ("the association's policy takes", session("ec2:CreateFleet"), &[LAUNCHES]),
            ("a policy is not readable", unread, UNKNOWN),
            ("and another denies", denied_for_certain, &[LAUNCHES, UNKNOWN[0]]),
            ("a role in another account", elsewhere, UNKNOWN),
            ("facts without policies", json!({"facts": {"role_policies": {ROLE: null}}}), UNKNOWN),
            ("no role", json!({"facts": {"roles": {ROLE: "absent"}}}), &[(Status::Skipped, ROLE)]),
        ],
    );
}

#[test]
fn only_certain_resources() {
    let document: Value = serde_json::from_str(STAR).unwrap();
    let denied = |id: &str| {
        let mut document = document.clone();
        document["Statement"].as_array_mut().unwrap().push(json!({
            "Effect": "Deny", "Action": "ec2:*",
            "Resource": format!("arn:aws:ec2:us-west-2:111122223333:subnet/{id}")}));
        controller_has(&document.to_string())
    };
    // Which images will be used is not known; which subnets is.
    let allowed = |image: &str| {
        let launch = json!(["ec2:RunInstances", "ec2:CreateFleet"]);
        let kinds = json!([
            "arn:aws:ec2:*:*:fleet/*",
            "arn:aws:ec2:*:*:instance/*",
            "arn:aws:ec2:*:*:volume/*",
            "arn:aws:ec2:*:*:network-interface/*",
            "arn:aws:ec2:*:*:launch-template/*",
            "arn:aws:ec2:*:*:spot-instances-request/*",
            "arn:aws:ec2:*:*:subnet/*",
            "arn:aws:ec2:*:*:security-group/*"
        ]);
        let document = json!({"Version": "2012-10-17", "Statement": [
            {"Effect": "Allow", "NotAction": launch, "Resource": "*"},
            {"Effect": "Allow", "Action": launch, "Resource": kinds},
            {"Effect": "Allow", "Action": launch, "Resource": image}]});
        controller_has(&document.to_string())
    };
    assert_rows(
        Account::Karpenter,
        &CHECK,
        &[
            ("another subnet is denied", denied("subnet-99"), PASS),
            ("one of ours is denied", denied("subnet-01"), &[LAUNCHES]),
            ("some images", allowed("arn:aws:ec2:us-west-2::image/ami-1*"), UNKNOWN),
            ("another region's images", allowed("arn:aws:ec2:eu-west-1::image/*"), &[LAUNCHES]),
        ],
    );
}

#[test]
fn remedies_fit_what_is_there() {
    let command = |outcome: &Outcome| -> String {
        let remedy = outcome.remedy.clone().unwrap();
        let commands = remedy.steps.into_iter().filter_map(|step| match step {
            Step::Command { command } => Some(command),
            Step::Document { .. } => None,
        });
        commands.collect::<Vec<_>>().join("\n")
    };
    let old = printed("1.6.0", "demo");
    let inline = &Account::Karpenter.judge(&CHECK, &old)[0];
    assert!(command(inline).starts_with("aws iam put-role-policy --role-name demo-karpenter"));
    let document =
        old["facts"]["role_policies"][ROLE]["inline"]["known"]["controller"]["known"].clone();
    let attached = json!({"facts": {"policies": {POLICY: {"known": document}}}});
    let attached = &Account::Karpenter.judge(&CHECK, &attached)[0];
    assert!(
        command(attached).starts_with("aws iam create-policy-version --policy-arn"),
        "{attached:#?}"
    );
}

/// Both usual names exist, and nobody says which queue is Karpenter's.
#[test]
fn each_of_several_queues_must_be_readable() {
    let other = "arn:aws:sqs:us-west-2:111122223333:Karpenter-demo";
    let queue = json!({"known": {"name": "Karpenter-demo",
        "url": "https://sqs.us-west-2.amazonaws.com/111122223333/Karpenter-demo",
        "attributes": {"known": {"arn": other, "policy": null, "kms_key": null,
            "sse_sqs": true, "fifo": false}}}});
    let mut patch = json!({"facts": {"queues": {"Karpenter-demo": queue}}});
    let outcomes = Account::Karpenter.judge(&CHECK, &patch);
    let failed = outcomes.iter().find(|outcome| outcome.status == Status::Warn);
    let failed = failed.unwrap_or_else(|| panic!("{outcomes:#?}"));
    assert!(!failed.evidence.is_empty());
    assert!(failed.evidence.iter().all(|one| one.path.ends_with(other)), "{failed:#?}");
    let remedy = serde_json::to_string(&failed.remedy).unwrap();
    assert!(remedy.contains("Karpenter-demo"), "{remedy}");
    let document = json!({"Statement": {"Effect": "Allow", "Action": "sqs:*", "Resource": other}});
    patch["facts"]["role_policies"] = json!({"demo-karpenter": {"inline": {"known": {
        "queue": {"known": document.to_string()}}}}});
    let outcomes = Account::Karpenter.judge(&CHECK, &patch);
    assert!(outcomes.iter().all(|outcome| outcome.status == Status::Pass), "{outcomes:#?}");
}

/// Nobody is told that all is well for a version that nobody knows.
#[test]
fn a_guessed_version_is_no_plain_pass() {
    let guess = json!({"scope": {"karpenter_version": null}});
    let found = Account::Karpenter.judge(&CHECK, &guess);
    assert_eq!(found[0].status, Status::Pass);
    assert!(found[0].seen.contains("That is a guess"), "{found:#?}");
    let mut denied = guess;
    denied["facts"] = json!({"kubernetes": {"controllers":
        {"denied": {"action": "list deployments", "message": "no"}}}});
    let found = Account::KarpenterCluster.judge(&CHECK, &denied);
    assert_eq!(found[0].status, Status::Unknown, "{found:#?}");
}

/// Of a whole policy, the statements that are new are named.
#[test]
fn the_remedy_names_what_is_new() {
    let found = Account::Karpenter.judge(&CHECK, &version("1.7.0", printed("1.6.0", "demo")));
    let words = &found[0].remedy.as_ref().unwrap().words;
    let wanted = "What is refused here is allowed by AllowUnscopedInstanceProfileListAction.";
    assert!(words.ends_with(wanted), "{words}");
}
