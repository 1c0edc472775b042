use serde_json::{Value, json};

use super::*;
use crate::{
    checks::testing::{Account, assert_rows},
    outcome::{Outcome, Status, Step},
};

const SUBJECT: &str = "kube-system/karpenter";
const ARN: &str = "arn:aws:iam::111122223333:role/demo-karpenter";
const ISSUER: &str = "oidc.eks.us-west-2.amazonaws.com/id/EXAMPLED539D4633E53DE1B71EXAMPLE";

fn and(mut patch: Value, more: &Value) -> Value {
    json_patch::merge(&mut patch, more);
    patch
}

fn no_association() -> Value {
    json!({"facts": {"pod_identity_associations": {"known": []}}})
}

fn account(annotations: &Value) -> Value {
    json!({"facts": {"kubernetes": {"service_accounts": {"known": [
        {"meta": {"name": "karpenter", "namespace": "kube-system"}, "annotations": annotations}]}}}})
}

fn annotated(arn: &str) -> Value {
    account(&json!({ROLE_ANNOTATION: arn}))
}

fn pods(env: &Value, ready: bool) -> Value {
    json!({"facts": {"kubernetes": {"controller_pods": {"known": [
        {"meta": {"name": "karpenter-1", "namespace": "kube-system",
            "created": "2026-10-20T08:00:00Z"}, "service_account": "karpenter",
         "ready": ready, "env": env}]}}}})
}

/// Bound by the annotation alone, with pods that know it, and a role that trusts it.
fn irsa(arn: &str) -> Value {
    let trust = json!({"Version": "2012-10-17", "Statement": [{"Effect": "Allow",
        "Principal": {"Federated": format!("arn:aws:iam::111122223333:oidc-provider/{ISSUER}")},
        "Action": "sts:AssumeRoleWithWebIdentity",
        "Condition": {"StringEquals": {format!("{ISSUER}:sub"): "system:serviceaccount:kube-system:karpenter"}}}]});
    let role = json!({"facts": {"roles": {"demo-karpenter": {"known": {"trust": trust.to_string()}}},
        "oidc_provider": {"known": {"arn": "a", "client_ids": ["sts.amazonaws.com"]}}}});
    let known = pods(&json!({ROLE_ARN: ARN, "AWS_WEB_IDENTITY_TOKEN_FILE": "f"}), true);
    and(and(and(no_association(), &role), &annotated(arn)), &known)
}

fn judge(patch: &Value) -> Outcome {
    Account::KarpenterCluster.judge(&CHECK, patch).remove(0)
}

#[test]
fn rows() {
    let (pass, warn) = (&[(Status::Pass, SUBJECT)][..], &[(Status::Warn, SUBJECT)][..]);
    let (fail, unknown) = (&[(Status::Fail, SUBJECT)][..], &[(Status::Unknown, SUBJECT)][..]);
    let (none, nothing) = (account(&json!({})), pods(&json!({}), false));
    let unbound = and(and(no_association(), &none), &nothing);
    let from = json!({"facts": {"kubernetes": {"controllers": {"known": [
        {"meta": {"name": "karpenter", "namespace": "kube-system"},
         "service_account": "karpenter", "env_from": ["Secret aws"]}]}}}});
    let role = |fact: Value| json!({"facts": {"roles": {"demo-karpenter": fact}}});
    let denied = json!({"denied": {"action": "iam:GetRole", "message": "no"}});
    let path = "arn:aws:iam::111122223333:role/team/demo-karpenter";
    let other_trust = json!({"scope": {"controller_role": "other"}, "facts": {"roles": {
        "other": "absent",
        "demo-karpenter": {"known": {"trust": "{\"Version\":\"2012-10-17\",\"Statement\":[]}"}}}}});
    assert_rows(
        Account::KarpenterCluster,
        &CHECK,
        &[
            ("the guide's", json!({}), pass),
            ("neither", unbound.clone(), fail),
            ("neither, and it works", and(unbound.clone(), &pods(&json!({}), true)), warn),
            ("neither, and more is set than is read", and(unbound.clone(), &from), unknown),
            ("empty", and(unbound.clone(), &annotated("")), fail),
            ("empty, and associated", annotated(" "), pass),
            (
                "no service account",
                json!({"facts": {"kubernetes": {"service_accounts": {"known": []}}}}),
                fail,
            ),
            ("annotated", irsa(ARN), pass),
            ("a name", irsa("demo-karpenter"), fail),
            ("a placeholder", irsa("arn:aws:iam::${ACCOUNT}:role/x"), fail),
            ("an instance profile", irsa("arn:aws:iam::111122223333:instance-profile/x"), fail),
            ("another account", irsa("arn:aws:iam::444455556666:role/demo-karpenter"), fail),
            ("another partition", irsa("arn:aws-cn:iam::111122223333:role/demo-karpenter"), fail),
            ("without its path", and(irsa(ARN), &role(json!({"known": {"arn": path}}))), fail),
            ("no such role", and(and(irsa(ARN), &role(Value::Null)), &role(json!("absent"))), fail),
            (
                "a role that is not readable",
                and(and(irsa(ARN), &role(Value::Null)), &role(denied)),
                unknown,
            ),
            (
                "a role that nobody judges, and does not trust it",
                and(irsa(ARN), &other_trust),
                fail,
            ),
            ("pods older than the annotation", and(irsa(ARN), &nothing), fail),
            (
                "pods with an older role",
                and(irsa(ARN), &pods(&json!({ROLE_ARN: "old"}), true)),
                warn,
            ),
            ("pods older than the association", nothing.clone(), fail),
            ("both, of one role", annotated(ARN), pass),
            ("both, of two roles", annotated("arn:aws:iam::111122223333:role/other"), warn),
            (
                "associations are not readable",
                json!({"facts": {"pod_identity_associations": {"denied": {
                    "action": "eks:ListPodIdentityAssociations", "message": "no"}}}}),
                unknown,
            ),
            (
                "no controller",
                json!({"facts": {"kubernetes": {"controllers": {"known": []}}}}),
                &[(Status::Skipped, "demo")],
            ),
        ],
    );
}

#[test]
fn quotes_what_the_version_prints() {
    let unbound = and(and(no_association(), &annotated("")), &pods(&json!({}), false));
    for (version, expected) in [
        ("0.32.0", ["no-credential-providers", "ec2-connectivity-check-failed"].as_slice()),
        (
            "1.0.6",
            &["non-existent-queue", "no-credential-providers", "ec2-connectivity-check-failed"],
        ),
        (
            "1.3.0",
            &["non-existent-queue", "ec2-metadata-no-credentials", "ec2-connectivity-check-failed"],
        ),
        ("1.14.1", &["ec2-metadata-no-credentials", "ec2-connectivity-check-failed"]),
    ] {
        let patch = and(unbound.clone(), &json!({"scope": {"karpenter_version": version}}));
        let found = judge(&patch);
        let ids: Vec<_> = found.errors.iter().map(|error| error.id.as_str()).collect();
        assert_eq!(ids, expected, "{version}");
        assert!(found.seen.contains("is empty"), "{}", found.seen);
    }
}

#[test]
fn is_bound_with_real_names() {
    let commands = |patch: &Value| -> Vec<String> {
        let steps = judge(patch).remedy.expect("it is mended").steps;
        steps
            .into_iter()
            .map(|step| match step {
                Step::Command { command } => command,
                Step::Document { file, .. } => file,
            })
            .collect()
    };
    let unbound = and(and(no_association(), &account(&json!({}))), &pods(&json!({}), false));
    let restart = "kubectl rollout restart deployment karpenter --namespace kube-system";
    assert_eq!(
        commands(&unbound),
        [
            &format!(
                "aws eks create-pod-identity-association --cluster-name demo --region us-west-2 \
                 --namespace kube-system --service-account karpenter --role-arn {ARN}"
            ),
            restart
        ]
    );
    let fargate = json!({"facts": {"kubernetes": {"controller_pods": {"known": [
        {"meta": {"name": "p", "namespace": "kube-system"}, "service_account": "karpenter",
         "node": "fargate-ip-10-0-1-2.us-west-2.compute.internal"}]}}}});
    assert_eq!(
        commands(&and(unbound, &fargate)),
        [
            &format!(
                "kubectl annotate serviceaccount karpenter --namespace kube-system --overwrite \
                 eks.amazonaws.com/role-arn={ARN}"
            ),
            restart
        ]
    );
}

#[test]
fn nobody_else_reports_that_it_is_unbound() {
    use crate::checks::controller::trust::CHECK as TRUST;
    let elsewhere = json!({"facts": {"pod_identity_associations": {"known": [{"known": {
        "id": "a-1", "namespace": "karpenter", "service_account": "karpenter", "role_arn": ARN,
        "target_role_arn": null}}]}}});
    let unbound = and(and(elsewhere, &account(&json!({}))), &pods(&json!({}), false));
    let found = judge(&unbound);
    assert_eq!(found.status, Status::Fail);
    assert!(found.seen.contains("associated with karpenter/karpenter"), "{}", found.seen);
    let trust = Account::KarpenterCluster.judge(&TRUST, &unbound).remove(0);
    assert_eq!(trust.status, Status::Skipped, "{trust:#?}");
    // A role that is annotated and trusts nobody is still that check's.
    let annotated = and(unbound, &annotated(ARN));
    let trust = Account::KarpenterCluster.judge(&TRUST, &annotated).remove(0);
    assert_eq!(trust.status, Status::Fail, "{trust:#?}");
}
