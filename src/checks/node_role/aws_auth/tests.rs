use serde_json::{Value, json};

use super::*;
use crate::{
    checks::testing::{Account, assert_rows},
    outcome::{Outcome, Status, Step},
};

const ROLE: &str = "KarpenterNodeRole-demo";
const ARN: &str = "arn:aws:iam::111122223333:role/KarpenterNodeRole-demo";
const SKIPPED: &[(Status, &str)] = &[(Status::Skipped, ROLE)];
const PASS: &[(Status, &str)] = &[(Status::Pass, ROLE)];
const WARN: &[(Status, &str)] = &[(Status::Warn, ROLE)];
const FAIL: &[(Status, &str)] = &[(Status::Fail, ROLE)];
const UNKNOWN: &[(Status, &str)] = &[(Status::Unknown, ROLE)];

fn and(mut patch: Value, more: &Value) -> Value {
    json_patch::merge(&mut patch, more);
    patch
}

fn mode(mode: &str) -> Value {
    json!({"facts": {"cluster": {"known": {"authentication_mode": mode}}}})
}

/// The role has no access entry, and is named so that it is known all the same.
fn no_entry() -> Value {
    json!({"scope": {"node_roles": [ROLE]}, "facts": {"access_entries": {"known": {ARN: null}}}})
}

/// No access entry, and this text of `mapRoles`.
fn roles(text: &str) -> Value {
    and(no_entry(), &json!({"facts": {"kubernetes": {"aws_auth": {"known": {"map_roles": text}}}}}))
}

fn mapping(arn: &str, username: &str, groups: &str) -> Value {
    roles(&format!("- rolearn: {arn}\n  username: {username}\n  groups: [{groups}]\n"))
}

const BOTH: &str = "system:bootstrappers, system:nodes";

fn judge(patch: &Value) -> Outcome {
    let outcomes = Account::KarpenterCluster.judge(&CHECK, patch);
    let [outcome] = <[Outcome; 1]>::try_from(outcomes).expect("one verdict");
    outcome
}

fn steps(patch: &Value) -> Vec<String> {
    let steps = judge(patch).remedy.into_iter().flat_map(|remedy| remedy.steps);
    steps
        .map(|step| match step {
            Step::Command { command } => command,
            Step::Document { file, .. } => file,
        })
        .collect()
}

#[test]
fn rows() {
    let path = "arn:aws:iam::111122223333:role/team/KarpenterNodeRole-demo";
    let with_path = json!({"facts": {"roles": {ROLE: {"known": {"arn": path}}}}});
    let denied = json!({"denied": {"action": "get configmaps", "message": "forbidden"}});
    let windows = json!({"facts": {"kubernetes": {"ec2_node_classes": {"known": [
        {"meta": {"name": "w"}, "role": ROLE, "ami_terms": [{"alias": "windows2022@latest"}]}]}}}});
    let good = mapping(ARN, USERNAME, BOTH);
    let users = json!({"facts": {"kubernetes": {"aws_auth": {"known": {
        "map_users": format!("- userarn: {ARN}\n  username: {USERNAME}\n  groups: [{BOTH}]\n")}}}}});
    assert_rows(
        Account::KarpenterCluster,
        &CHECK,
        &[
            ("an entry decides", json!({}), SKIPPED),
            ("the cluster does not read it", and(good.clone(), &mode("API")), SKIPPED),
            ("mapped", good.clone(), PASS),
            ("mapped, and nothing else counts", and(good.clone(), &mode("CONFIG_MAP")), PASS),
            ("in capitals", mapping(&ARN.to_uppercase(), USERNAME, BOTH), PASS),
            ("among the users", and(no_entry(), &users), PASS),
            ("a role with a path, mapped without", and(good.clone(), &with_path), PASS),
            ("with its path", and(mapping(path, USERNAME, BOTH), &with_path), FAIL),
            ("not mapped", no_entry(), FAIL),
            ("empty", roles(""), FAIL),
            ("no YAML", roles(&format!("- rolearn: {ARN}\n\tusername: x\n")), FAIL),
            ("YAML in YAML", roles(&format!("|\n  - rolearn: {ARN}\n")), FAIL),
            ("no dash", roles(&format!("rolearn: {ARN}\n")), FAIL),
            ("left out", roles(&format!("- role: {ARN}\n")), FAIL),
            ("no such groups", mapping(ARN, USERNAME, "system:masters"), FAIL),
            (
                "no list of groups",
                roles(&format!("- rolearn: {ARN}\n  groups: system:nodes\n")),
                FAIL,
            ),
            ("no bootstrappers", mapping(ARN, USERNAME, "system:nodes"), WARN),
            ("no user name", roles(&format!("- rolearn: {ARN}\n  groups: [{BOTH}]\n")), FAIL),
            ("another user name", mapping(ARN, "'{{EC2PrivateDNSName}}'", BOTH), FAIL),
            ("spelt otherwise", mapping(ARN, "system:node:{{ec2PrivateDnsName}}", BOTH), FAIL),
            ("the session's name", mapping(ARN, "system:node:{{SessionName}}", BOTH), WARN),
            ("Windows without its group", and(good.clone(), &windows), FAIL),
            (
                "Windows",
                and(mapping(ARN, USERNAME, &format!("{BOTH}, eks:kube-proxy-windows")), &windows),
                PASS,
            ),
            (
                "none",
                and(no_entry(), &json!({"facts": {"kubernetes": {"aws_auth": "absent"}}})),
                FAIL,
            ),
            (
                "not readable",
                and(no_entry(), &json!({"facts": {"kubernetes": {"aws_auth": denied}}})),
                UNKNOWN,
            ),
            ("not asked", and(no_entry(), &json!({"scope": {"no_kube": true}})), UNKNOWN),
            (
                "entries are not readable",
                json!({"scope": {"node_roles": [ROLE]}, "facts": {"access_entries": {"denied": {
                    "action": "eks:ListAccessEntries", "message": "no"}}}}),
                UNKNOWN,
            ),
        ],
    );
    let skipped = &[(Status::Skipped, "demo")];
    assert_rows(Account::AutoModeCluster, &CHECK, &[("Auto Mode", json!({}), skipped)]);
}

#[test]
fn the_entry_and_the_config_map_give_one_verdict() {
    use crate::checks::node_role::access_entry::CHECK as ENTRY;
    for patch in
        [json!({}), no_entry(), mapping(ARN, USERNAME, BOTH), and(no_entry(), &mode("API"))]
    {
        let mut both = Account::KarpenterCluster.judge(&CHECK, &patch);
        both.extend(Account::KarpenterCluster.judge(&ENTRY, &patch));
        let verdicts = both.iter().filter(|outcome| outcome.status != Status::Skipped).count();
        assert_eq!(verdicts, 1, "{both:#?}");
    }
}

#[test]
fn the_place_is_named() {
    let twice = roles(&format!(
        "- rolearn: {ARN}\n  username: {USERNAME}\n  groups: [{BOTH}]\n# again\n- rolearn: {ARN}\n  \
         username: admin\n  groups: [system:nodes]\n"
    ));
    let seen = judge(&twice).seen;
    assert!(seen.contains("line 5 of mapRoles, the last of 2 for it, as `admin`"), "{seen}");
    let seen = judge(&roles(&format!("- rolearn: {ARN}\n username: x\n"))).seen;
    assert!(seen.contains("cannot be read at line 2"), "{seen}");
    let other = "arn:aws:iam::444455556666:role/KarpenterNodeRole-demo";
    let seen = judge(&mapping(other, USERNAME, BOTH)).seen;
    assert!(seen.contains("another account") && seen.contains("Line 1"), "{seen}");
}

#[test]
fn an_entry_is_preferred() {
    let entry = format!(
        "aws eks create-access-entry --cluster-name demo --principal-arn {ARN} --type EC2_LINUX \
         --region us-west-2"
    );
    assert_eq!(steps(&no_entry()), std::slice::from_ref(&entry));
    assert_eq!(steps(&roles("- a: b: c"))[0], entry);
    let eksctl = format!(
        "eksctl create iamidentitymapping --cluster demo --region us-west-2 --arn {ARN} --username \
         'system:node:{{{{EC2PrivateDNSName}}}}' --group system:bootstrappers --group system:nodes"
    );
    assert_eq!(steps(&and(no_entry(), &mode("CONFIG_MAP"))), [eksctl]);
    let broken = steps(&and(roles("- a: b: c"), &mode("CONFIG_MAP")));
    assert!(broken[1].starts_with("kubectl -n kube-system edit"), "{broken:?}");
}

#[test]
fn looks_into_it_where_it_was_not_read() {
    let unread = json!({"scope": {"no_kube": true}});
    let look = "kubectl -n kube-system get configmap aws-auth -o yaml";
    let mapping = "eksctl get iamidentitymapping --cluster demo --region us-west-2";
    assert_eq!(steps(&and(mode("CONFIG_MAP"), &unread)), [look, mapping]);
    assert_eq!(&steps(&and(no_entry(), &unread))[..2], [look, mapping]);
    let words = judge(&and(mode("CONFIG_MAP"), &unread)).remedy.expect("a way to look").words;
    assert!(words.contains("system:node:{{EC2PrivateDNSName}}") && words.contains(ARN), "{words}");
    let group =
        json!({"facts": {"node_groups": {"known": [{"name": "system", "node_role_arn": ARN}]}}});
    let seen = judge(&and(and(no_entry(), &unread), &group)).seen;
    assert!(seen.contains("managed node group system"), "{seen}");
}

#[test]
fn a_mapping_that_does_not_help_is_pointed_out() {
    use crate::checks::node_role::access_entry::CHECK as ENTRY;
    let text = format!("- rolearn: {ARN}\n  username: {USERNAME}\n  groups: [{BOTH}]\n");
    let mapped = json!({"facts": {"kubernetes": {"aws_auth": {"known": {"map_roles": text}}}}});
    let standard = json!({"facts": {"access_entries": {"known": {ARN: {"known": {"entry_type": "STANDARD"}}}}}});
    for (patch, why) in [
        (and(no_entry(), &mode("API")), "the cluster does not read it"),
        (standard, "the entry wins over it"),
    ] {
        let outcomes = Account::KarpenterCluster.judge(&ENTRY, &and(patch, &mapped));
        assert!(outcomes[0].seen.contains("line 1 of mapRoles"), "{outcomes:#?}");
        assert!(outcomes[0].seen.contains(why), "{outcomes:#?}");
    }
}
