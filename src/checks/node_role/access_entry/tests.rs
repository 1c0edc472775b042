use serde_json::{Value, json};

use super::*;
use crate::{
    checks::testing::{Account, assert_rows},
    outcome::{Status, Step},
};

const ROLE: &str = "KarpenterNodeRole-demo";
const ARN: &str = "arn:aws:iam::111122223333:role/KarpenterNodeRole-demo";
const AUTO: &str = "demo-auto-node";
const AUTO_ARN: &str = "arn:aws:iam::111122223333:role/demo-auto-node";

fn facts(facts: &Value) -> Value {
    json!({ "facts": facts })
}

/// A change to the entry of `arn`; `null` takes it away.
fn entry(arn: &str, change: &Value) -> Value {
    let entry = if change.is_null() { Value::Null } else { json!({ "known": change }) };
    facts(&json!({"access_entries": {"known": {arn: entry}}}))
}

fn and(mut patch: Value, more: &Value) -> Value {
    json_patch::merge(&mut patch, more);
    patch
}

fn mode(mode: &str) -> Value {
    facts(&json!({"cluster": {"known": {"authentication_mode": mode}}}))
}

/// The node role has no entry, and is named so that it is known all the same.
fn no_entry(more: &Value) -> Value {
    and(and(entry(ARN, &Value::Null), &json!({"scope": {"node_roles": [ROLE]}})), more)
}

fn denied(action: &str) -> Value {
    json!({"denied": {"action": action, "message": "not authorized"}})
}

fn steps(account: Account, patch: &Value) -> Vec<String> {
    let outcomes = account.judge(&CHECK, patch);
    let [outcome] = outcomes.as_slice() else { panic!("{outcomes:#?}") };
    let steps = outcome.remedy.iter().flat_map(|remedy| &remedy.steps);
    steps
        .map(|step| match step {
            Step::Command { command } => command.clone(),
            Step::Document { file, .. } => file.clone(),
        })
        .collect()
}

#[test]
fn rows_for_karpenter() {
    let pass: &[(Status, &str)] = &[(Status::Pass, ROLE)];
    let fail: &[(Status, &str)] = &[(Status::Fail, ROLE)];
    let unknown: &[(Status, &str)] = &[(Status::Unknown, ROLE)];
    let skipped: &[(Status, &str)] = &[(Status::Skipped, ROLE)];
    let named = json!({"scope": {"node_roles": [ROLE], "product": "karpenter"}});
    let path = "arn:aws:iam::111122223333:role/team/KarpenterNodeRole-demo";
    let with_path = facts(&json!({"roles": {ROLE: {"known": {"arn": path, "path": "/team/"}}}}));
    let elsewhere = facts(&json!({"access_entries": {"known": {
        "arn:aws:iam::444455556666:role/KarpenterNodeRole-demo": {"known": {
            "principal_arn": "arn:aws:iam::444455556666:role/KarpenterNodeRole-demo",
            "entry_type": "STANDARD", "groups": [], "policies": {"known": []}}}}}}));
    let own_role_of_group =
        facts(&json!({"node_groups": {"known": [{"name": "system", "node_role_arn": ARN}]}}));
    let no_role_read = facts(&json!({"roles": {ROLE: denied("iam:GetRole")}}));
    assert_rows(
        Account::Karpenter,
        &CHECK,
        &[
            ("EC2_LINUX", json!({}), pass),
            (
                "EC2_LINUX as some documents write it",
                entry(ARN, &json!({"entry_type": "EC2_Linux"})),
                pass,
            ),
            ("EC2_WINDOWS", entry(ARN, &json!({"entry_type": "EC2_WINDOWS"})), pass),
            ("STANDARD", entry(ARN, &json!({"entry_type": "STANDARD"})), fail),
            ("EC2", and(entry(ARN, &json!({"entry_type": "EC2"})), &named), fail),
            ("of an earlier role", entry(ARN, &json!({"created": "2026-01-10T08:59:00Z"})), fail),
            ("as old as the role", entry(ARN, &json!({"created": "2026-01-10T08:59:56Z"})), pass),
            ("without a date", entry(ARN, &json!({"created": null})), unknown),
            ("none, entries alone", no_entry(&mode("API")), fail),
            (
                "none, entries alone, before an install",
                no_entry(&and(mode("API"), &json!({"scope": {"stage": "before"}}))),
                fail,
            ),
            (
                "none, entries alone, a node group's role",
                no_entry(&and(mode("API"), &own_role_of_group)),
                fail,
            ),
            ("none, both", no_entry(&json!({})), skipped),
            (
                "aws-auth alone",
                and(
                    mode("CONFIG_MAP"),
                    &facts(&json!({"access_entries": {"not_asked": {"why": "aws-auth alone"}}})),
                ),
                skipped,
            ),
            ("of another account's role", no_entry(&and(mode("API"), &elsewhere)), fail),
            (
                "with the path of the role",
                and(
                    with_path.clone(),
                    &facts(&json!({"access_entries": {"known": {path: {"known": {
                "principal_arn": path, "entry_type": "EC2_LINUX", "groups": [], "created": "2026-01-10T09:05:00Z",
                "policies": {"known": []}}}}}})),
                ),
                pass,
            ),
            ("without the path of the role", and(with_path, &mode("API")), fail),
            (
                "the list is not readable",
                facts(&json!({"access_entries": denied("eks:ListAccessEntries")})),
                unknown,
            ),
            (
                "the entry is not readable",
                facts(
                    &json!({"access_entries": {"known": {ARN: denied("eks:DescribeAccessEntry")}}}),
                ),
                unknown,
            ),
            (
                "the cluster is not readable",
                and(named, &facts(&json!({"cluster": denied("eks:DescribeCluster")}))),
                unknown,
            ),
            ("the role is not readable", no_role_read.clone(), unknown),
            (
                "the role is not readable, the type is wrong",
                and(
                    no_role_read,
                    &and(
                        entry(ARN, &json!({"entry_type": "STANDARD"})),
                        &json!({"scope": {"node_roles": [ROLE]}}),
                    ),
                ),
                fail,
            ),
            (
                "no such role",
                json!({"scope": {"node_roles": ["other"]}, "facts": {"roles": {"other": "absent"}}}),
                &[(Status::Skipped, "other")],
            ),
            (
                "one in, one out",
                and(json!({"scope": {"node_roles": [ROLE, "demo-cluster"]}}), &mode("API")),
                &[(Status::Pass, ROLE), (Status::Fail, "demo-cluster")],
            ),
        ],
    );
}

#[test]
fn rows_for_auto_mode() {
    let pass: &[(Status, &str)] = &[(Status::Pass, AUTO)];
    let fail: &[(Status, &str)] = &[(Status::Fail, AUTO)];
    let unknown: &[(Status, &str)] = &[(Status::Unknown, AUTO)];
    let skipped: &[(Status, &str)] = &[(Status::Skipped, AUTO)];
    let china = "arn:aws-cn:eks::aws:cluster-access-policy/AmazonEKSAutoNodePolicy";
    let view = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy";
    let in_aws = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSAutoNodePolicy";
    let policy = |arn: &str, scope: &str| -> Value {
        json!({"policies": {"known": [{"arn": arn, "scope": scope}]}})
    };
    let no_role_read = facts(&json!({"roles": {AUTO: denied("iam:GetRole")}}));
    let off = facts(&json!({"cluster": {"known": {"auto_mode": {"compute": false}}}}));
    let off = and(off, &json!({"scope": {"product": "auto-mode", "node_roles": [AUTO]}}));
    assert_rows(
        Account::AutoMode,
        &CHECK,
        &[
            ("EC2 with its policy", json!({}), pass),
            ("in another partition", entry(AUTO_ARN, &policy(china, "cluster")), pass),
            ("without the policy", entry(AUTO_ARN, &policy(view, "cluster")), fail),
            ("for some namespaces", entry(AUTO_ARN, &policy(in_aws, "namespaces")), fail),
            (
                "without the policy, the role is not readable",
                and(entry(AUTO_ARN, &policy(view, "cluster")), &no_role_read),
                fail,
            ),
            (
                "without the policy, without a date",
                and(
                    entry(AUTO_ARN, &policy(view, "cluster")),
                    &entry(AUTO_ARN, &json!({"created": null})),
                ),
                fail,
            ),
            (
                "of an earlier role, policies not readable",
                and(
                    entry(AUTO_ARN, &json!({"created": "2026-01-09T09:05:00Z"})),
                    &entry(
                        AUTO_ARN,
                        &json!({"policies": denied("eks:ListAssociatedAccessPolicies")}),
                    ),
                ),
                fail,
            ),
            ("the role is not readable", no_role_read, unknown),
            (
                "policies not readable",
                entry(AUTO_ARN, &json!({"policies": denied("eks:ListAssociatedAccessPolicies")})),
                unknown,
            ),
            ("EC2_LINUX", entry(AUTO_ARN, &json!({"entry_type": "EC2_LINUX"})), fail),
            ("STANDARD", entry(AUTO_ARN, &json!({"entry_type": "STANDARD"})), fail),
            (
                "of an earlier role",
                entry(AUTO_ARN, &json!({"created": "2026-01-09T09:05:00Z"})),
                fail,
            ),
            ("none", entry(AUTO_ARN, &Value::Null), fail),
            ("none, both", and(entry(AUTO_ARN, &Value::Null), &mode("API_AND_CONFIG_MAP")), fail),
            (
                "none, before Auto Mode is switched on",
                and(entry(AUTO_ARN, &Value::Null), &off),
                skipped,
            ),
            ("aws-auth alone", mode("CONFIG_MAP"), skipped),
            (
                "entries not readable, which could show Karpenter too",
                facts(&json!({"access_entries": denied("eks:ListAccessEntries")})),
                &[(Status::Unknown, AUTO), (Status::Unknown, ROLE)],
            ),
        ],
    );
}

#[test]
fn mends_in_the_right_order() {
    let (tail, auto_tail) =
        (format!("--principal-arn {ARN}"), format!("--principal-arn {AUTO_ARN}"));
    let delete = |tail: &str| {
        format!("aws eks delete-access-entry --cluster-name demo {tail} --region us-west-2")
    };
    let create = |tail: &str, kind: &str| {
        format!(
            "aws eks create-access-entry --cluster-name demo {tail} --type {kind} --region us-west-2"
        )
    };
    let associate = format!(
        "aws eks associate-access-policy --cluster-name demo {auto_tail} --policy-arn \
         arn:aws:eks::aws:cluster-access-policy/AmazonEKSAutoNodePolicy --access-scope \
         type=cluster --region us-west-2"
    );
    let standard = json!({"entry_type": "STANDARD"});
    assert_eq!(
        steps(Account::Karpenter, &entry(ARN, &standard)),
        [delete(&tail), create(&tail, "EC2_LINUX")]
    );
    assert_eq!(steps(Account::Karpenter, &no_entry(&mode("API"))), [create(&tail, "EC2_LINUX")]);
    assert_eq!(
        steps(Account::AutoMode, &entry(AUTO_ARN, &standard)),
        [delete(&auto_tail), create(&auto_tail, "EC2"), associate.clone()]
    );
    assert_eq!(
        steps(Account::AutoMode, &entry(AUTO_ARN, &json!({"policies": {"known": []}}))),
        std::slice::from_ref(&associate)
    );
    let narrow = json!([{
        "arn": "arn:aws:eks::aws:cluster-access-policy/AmazonEKSAutoNodePolicy",
        "scope": "namespaces"}]);
    let disassociate = format!(
        "aws eks disassociate-access-policy --cluster-name demo {auto_tail} --policy-arn \
         arn:aws:eks::aws:cluster-access-policy/AmazonEKSAutoNodePolicy --region us-west-2"
    );
    assert_eq!(
        steps(Account::AutoMode, &entry(AUTO_ARN, &json!({"policies": {"known": narrow}}))),
        [disassociate, associate]
    );
    let old_windows = json!({"entry_type": "EC2_WINDOWS", "created": "2026-01-10T08:59:00Z"});
    assert_eq!(
        steps(Account::Karpenter, &entry(ARN, &old_windows)),
        [delete(&tail), create(&tail, "EC2_WINDOWS")]
    );
}

#[test]
fn never_breaks_another_user_of_the_role() {
    let group =
        facts(&json!({"node_groups": {"known": [{"name": "g", "node_role_arn": AUTO_ARN}]}}));
    let patch = and(entry(AUTO_ARN, &json!({"entry_type": "EC2_LINUX"})), &group);
    assert_eq!(steps(Account::AutoMode, &patch), [] as [String; 0]);
    let patch = json!({"scope": {"product": "karpenter", "node_roles": [AUTO]}});
    assert_eq!(steps(Account::AutoMode, &patch), [] as [String; 0]);
    // Karpenter is not judged, and runs nodes with the role all the same.
    let profile = json!({"instance_profiles": {"known": [{
        "name": "p", "arn": "arn:aws:iam::111122223333:instance-profile/karpenter/p",
        "path": "/karpenter/us-west-2/demo/u/", "roles": [AUTO]}]}});
    let linux = entry(AUTO_ARN, &json!({"entry_type": "EC2_LINUX"}));
    let alone = json!({"scope": {"product": "auto-mode"}});
    let patch = and(and(linux.clone(), &facts(&profile)), &alone);
    assert_eq!(steps(Account::AutoMode, &patch), [] as [String; 0]);
    // Whether anybody else does could not be seen.
    for hidden in [
        json!({"node_groups": denied("eks:ListNodegroups")}),
        json!({"instance_profiles": denied("iam:ListInstanceProfiles")}),
    ] {
        let patch = and(and(linux.clone(), &facts(&hidden)), &alone);
        let outcomes = Account::AutoMode.judge(&CHECK, &patch);
        assert_eq!(outcomes[0].status, Status::Fail, "{outcomes:#?}");
        let steps = steps(Account::AutoMode, &patch);
        assert!(!steps.is_empty() && !steps.concat().contains("delete"), "{steps:#?}");
    }
}

#[test]
fn windows_nodes_need_an_entry_of_their_own() {
    let class = |family: &str| {
        facts(&json!({"kubernetes": {"ec2_node_classes": {"known": [
            {"meta": {"name": "default"}, "role": ROLE, "ami_terms": [{"alias": family}]}]}}}))
    };
    let windows = json!({"entry_type": "EC2_WINDOWS"});
    let one = |status| [(status, ROLE)];
    assert_rows(
        Account::KarpenterCluster,
        &CHECK,
        &[
            ("Linux", class("al2023@latest"), &one(Status::Pass)),
            ("Windows", class("windows2022@latest"), &one(Status::Fail)),
            (
                "Windows, and an entry for it",
                and(class("windows2022@latest"), &entry(ARN, &windows)),
                &one(Status::Pass),
            ),
        ],
    );
}
