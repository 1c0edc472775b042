use serde_json::{Value, json};

use super::*;
use crate::{
    checks::testing::{Account, assert_rows},
    outcome::Status,
};

const CLASS: &str = "EC2NodeClass/default";
const BY_ID: &str = "ami-0bb00000000000001";

fn terms(terms: &Value) -> Value {
    json!({"facts": {"kubernetes": {"ec2_node_classes": {"known": [
        {"meta": {"name": "default"}, "ami_family": "AL2023", "ami_terms": terms}]}}}})
}

fn and(mut patch: Value, more: &Value) -> Value {
    json_patch::merge(&mut patch, more);
    patch
}

/// The pinned release of an architecture and variant.
fn pinned(architecture: &str, variant: &str) -> String {
    format!(
        "/aws/service/eks/optimized-ami/1.35/amazon-linux-2023/{architecture}/{variant}/\
         amazon-eks-node-al2023-{architecture}-{variant}-1.35-v20261015/image_id"
    )
}

fn parameters(fact: &Value, of: &[(&str, &str)]) -> Value {
    let facts: serde_json::Map<_, _> =
        of.iter().map(|(arch, variant)| (pinned(arch, variant), fact.clone())).collect();
    json!({"facts": {"image_parameters": facts}})
}

fn image(image: &Value) -> Value {
    let mut known = json!({"id": BY_ID, "owner": "111122223333", "state": "available",
        "architecture": "x86_64", "created": "2026-01-01T00:00:00Z"});
    json_patch::merge(&mut known, image);
    json!({"facts": {"images": {BY_ID: {"known": known}}}})
}

const ALL: [(&str, &str); 5] = [
    ("x86_64", "standard"),
    ("x86_64", "nvidia"),
    ("x86_64", "neuron"),
    ("arm64", "standard"),
    ("arm64", "nvidia"),
];
const PASS: &[(Status, &str)] = &[(Status::Pass, CLASS)];
const FAIL: &[(Status, &str)] = &[(Status::Fail, CLASS)];
const UNKNOWN: &[(Status, &str)] = &[(Status::Unknown, CLASS)];

#[test]
fn aliases() {
    let absent = json!("absent");
    let denied = json!({"denied": {"action": "ssm:GetParameters", "message": "no"}});
    let old = |version: &str| json!({"facts": {"cluster": {"known": {"version": version}}}});
    let al2 = terms(&json!([{"alias": "al2@latest"}]));
    assert_rows(
        Account::KarpenterCluster,
        &CHECK,
        &[
            ("a pinned release", json!({}), PASS),
            ("one that is not published", parameters(&absent, &ALL), FAIL),
            ("one architecture is enough", parameters(&absent, &ALL[3..]), PASS),
            ("the wrong architecture alone", parameters(&absent, &ALL[..3]), FAIL),
            ("not readable", parameters(&denied, &ALL), UNKNOWN),
            ("AL2 from 1.33 on", al2.clone(), FAIL),
            ("AL2 before, not collected", and(al2, &old("1.32")), UNKNOWN),
            (
                "Windows 2025 too early",
                and(terms(&json!([{"alias": "windows2025@latest"}])), &old("1.34")),
                FAIL,
            ),
            (
                "the cluster is not readable",
                json!({"facts": {"cluster": {"denied": {"action": "eks:DescribeCluster", "message": "no"}}}}),
                UNKNOWN,
            ),
            (
                "the NodeClasses are not readable",
                json!({"facts": {"kubernetes": {"ec2_node_classes": {"denied": {"action": "list", "message": "no"}}}}}),
                &[(Status::Unknown, "EC2NodeClass")],
            ),
        ],
    );
    let skipped = &[(Status::Skipped, "demo")];
    assert_rows(Account::Karpenter, &CHECK, &[("without the cluster", json!({}), skipped)]);
    assert_rows(Account::AutoModeCluster, &CHECK, &[("EKS's own", json!({}), skipped)]);
}

#[test]
fn other_terms() {
    let by_id = terms(&json!([{"id": BY_ID}]));
    let by_parameter = terms(&json!([{"ssm_parameter": "/team/ami"}]));
    let named = json!({"name": "my-*"});
    let by_name = terms(&json!([named]));
    let found = |images: Value| json!({"facts": {"selected_images": [{"query": named, "found": {"known": images}}]}});
    let parameter = |value: Value| json!({"facts": {"image_parameters": {"/team/ami": value}}});
    let version = |version: &str| json!({"scope": {"karpenter_version": version}});
    let deprecated = json!({"owner": "999999999999", "deprecated": "2026-01-01T00:00:00Z"});
    assert_rows(
        Account::KarpenterCluster,
        &CHECK,
        &[
            ("by id", and(by_id.clone(), &image(&json!({}))), PASS),
            ("disabled", and(by_id.clone(), &image(&json!({"state": "disabled"}))), FAIL),
            (
                "gone or not shared",
                and(by_id.clone(), &json!({"facts": {"images": {BY_ID: "absent"}}})),
                FAIL,
            ),
            ("no id", terms(&json!([{"id": "ami-xyz"}])), FAIL),
            (
                "for arm64 alone",
                and(by_id.clone(), &image(&json!({"architecture": "arm64"}))),
                FAIL,
            ),
            ("for i386", and(by_id.clone(), &image(&json!({"architecture": "i386"}))), FAIL),
            ("deprecated by another", and(by_id.clone(), &image(&deprecated)), PASS),
            (
                "deprecated by another, before Karpenter saw those",
                and(and(by_id.clone(), &image(&deprecated)), &version("1.0.6")),
                FAIL,
            ),
            ("not collected", by_id, UNKNOWN),
            (
                "by a parameter",
                and(
                    and(by_parameter.clone(), &parameter(json!({"known": {"image_id": BY_ID}}))),
                    &image(&json!({})),
                ),
                PASS,
            ),
            (
                "by a parameter that is not there",
                and(by_parameter, &parameter(json!("absent"))),
                FAIL,
            ),
            (
                "by name",
                and(
                    by_name.clone(),
                    &found(json!([{"id": BY_ID, "state": "available", "architecture": "x86_64"}])),
                ),
                PASS,
            ),
            ("by a name that nothing has", and(by_name, &found(json!([]))), FAIL),
            (
                "one of two is enough",
                and(terms(&json!([{"id": "ami-xyz"}, {"id": BY_ID}])), &image(&json!({}))),
                PASS,
            ),
        ],
    );
}

#[test]
fn the_error_is_that_of_the_version() {
    let al2 = terms(&json!([{"alias": "al2@latest"}]));
    for (version, error) in
        [("1.5.0", "ami-alias-not-resolved"), ("1.6.0", "ami-alias-unsupported")]
    {
        let patch = and(al2.clone(), &json!({"scope": {"karpenter_version": version}}));
        let found = Account::KarpenterCluster.judge(&CHECK, &patch).remove(0);
        assert_eq!(found.errors[0].id, error, "{version}");
    }
}
