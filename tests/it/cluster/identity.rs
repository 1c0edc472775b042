//! What a controller, a node role and Karpenter's objects look like when they are broken, over
//! an account and its cluster together.

use serde_json::{Value, json};

use super::{ApiServer, Cluster};
use crate::{emulator::Account, report::Report};

const PODS: [&str; 2] = ["karpenter-7d8f9c5b4-4kq2m", "karpenter-7d8f9c5b4-zx9wd"];
/// eksctl's own node role, which has no access entry.
const NODE_ROLE: &str = "eksctl-KarpenterNodeRole-demo";

fn eksctl() -> std::sync::Arc<Account> {
    Account::seeded(&["eksctl-irsa"], "us-west-2")
}

fn report(account: &Account, cluster: Cluster) -> Report {
    let server = ApiServer::start(cluster);
    server.check(account).args(["--discovery-tag", "Name"]).report()
}

/// The outcome of a check, if it has but one.
#[track_caller]
fn one<'a>(report: &'a Report, check: &str) -> &'a Value {
    let outcomes = report.value["outcomes"].as_array().unwrap();
    let mut found = outcomes.iter().filter(|outcome| outcome["check"] == check);
    let (Some(one), None) = (found.next(), found.next()) else {
        panic!("{check} has not one outcome:\n{}", report.table())
    };
    one
}

fn quotes(outcome: &Value, error: &str) -> bool {
    outcome["errors"].as_array().into_iter().flatten().any(|quoted| quoted["id"] == error)
}

/// Helm was run with an empty variable, as the blog among the sources tells it.
#[test]
fn an_empty_annotation_is_found_behind_the_queue_that_is_not_seen() {
    let account = eksctl();
    let annotated = json!({"metadata": {"annotations": {"eks.amazonaws.com/role-arn": ""}}});
    let container = json!([{"name": "controller",
        "image": "public.ecr.aws/karpenter/controller:1.0.6",
        "env": [{"name": "CLUSTER_NAME", "value": "demo"},
            {"name": "INTERRUPTION_QUEUE", "value": "demo"}]}]);
    let deployment = json!({"spec": {"template": {"spec": {"containers": container}}},
        "status": {"readyReplicas": 0}});
    let crashed = json!({
        "spec": {"containers": container},
        "status": {"conditions": [{"type": "Ready", "status": "False"}],
            "containerStatuses": [{"name": "controller", "ready": false, "restartCount": 6,
                "state": {"waiting": {"reason": "CrashLoopBackOff",
                    "message": "back-off 5m0s restarting failed container=controller"}},
                "lastState": {"terminated": {"reason": "Error", "exitCode": 2,
                    "message": "panic: AWS.SimpleQueueService.NonExistentQueue: The specified \
                                queue does not exist or you do not have access to it."}}}]}});
    let cluster = PODS.iter().fold(
        Cluster::karpenter(&account).patch("ServiceAccount", "karpenter", &annotated).patch(
            "Deployment",
            "karpenter",
            &deployment,
        ),
        |cluster, pod| cluster.patch("Pod", pod, &crashed),
    );
    let report = report(&account, cluster);
    let identity = one(&report, "controller-identity");
    assert_eq!(identity["status"], "fail", "{identity:#}");
    assert!(identity["seen"].as_str().unwrap().contains("is empty"), "{identity:#}");
    assert!(quotes(identity, "non-existent-queue"), "{identity:#}");
    let health = one(&report, "controller-health");
    assert_eq!(health["status"], "fail", "{health:#}");
    assert!(quotes(health, "non-existent-queue"), "{health:#}");
    assert_eq!(one(&report, "queue-exists")["status"], "pass");
}

fn aws_auth(roles: &str) -> Value {
    json!({"data": {"mapRoles": roles}})
}

#[test]
fn aws_auth_decides_where_there_is_no_entry() {
    let account = eksctl();
    let arn = format!("arn:aws:iam::{}:role/{NODE_ROLE}", account.number);
    let good = format!(
        "- rolearn: {arn}\n  username: system:node:{{{{EC2PrivateDNSName}}}}\n  groups:\n  - \
         system:bootstrappers\n  - system:nodes\n"
    );
    let class = json!({"spec": {"role": NODE_ROLE}});
    for (roles, status, words) in [
        (good.clone(), "pass", "line 1 of mapRoles"),
        (good.replace("  username", "\tusername"), "fail", "cannot be read at line 2"),
        (good.replace(":role/", ":instance-profile/"), "fail", "instance profile"),
        (good.replace("system:nodes", "system:masters"), "fail", "without `system:nodes`"),
        ("[]".to_owned(), "fail", "has no access entry, and aws-auth does not map it"),
    ] {
        let cluster = Cluster::karpenter(&account)
            .patch("ConfigMap", "aws-auth", &aws_auth(&roles))
            .patch("EC2NodeClass", "default", &class);
        let report = report(&account, cluster);
        let outcome = one(&report, "node-role-aws-auth");
        assert_eq!(outcome["status"], status, "{outcome:#}");
        assert!(outcome["seen"].as_str().unwrap().contains(words), "{words}: {outcome:#}");
        assert_eq!(one(&report, "node-role-access-entry")["status"], "skipped");
    }
}

#[test]
fn what_the_objects_say_is_named_with_its_cause() {
    let account = Account::seeded(&["getting-started"], "us-west-2");
    let condition = |kind: &str, reason: &str, message: &str| {
        json!({"type": kind, "status": "False", "reason": reason, "message": message,
            "lastTransitionTime": "2026-01-10T09:30:00Z"})
    };
    let class = json!({"status": {"conditions": [
        condition("SecurityGroupsReady", "SecurityGroupsNotFound",
            "SecurityGroupSelector did not match any SecurityGroups"),
        condition("Ready", "UnhealthyDependents", "SecurityGroupsReady=False")]}});
    let pool = json!({"status": {"conditions": [
        condition("NodeRegistrationHealthy", "RegistrationFailed", "Failed to register node")]}});
    let cluster = Cluster::karpenter(&account)
        .patch("EC2NodeClass", "default", &class)
        .patch("NodePool", "default", &pool);
    let report = ApiServer::start(cluster).check(&account).report();
    let class = one(&report, "nodeclass-status");
    assert!(class["status"] == "fail" && quotes(class, "security-groups-not-found"), "{class:#}");
    let pool = one(&report, "nodepool-status");
    assert!(pool["status"] == "fail" && quotes(pool, "node-not-registered"), "{pool:#}");
}
