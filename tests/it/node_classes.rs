//! What the NodeClasses of a cluster name, looked up in an emulated account.

use serde_json::{Value, json};

use crate::{
    cli::Tool,
    cluster::{ApiServer, Cluster},
    emulator::{Account, CLUSTER},
    proxy::{Plan, Proxy},
    report::Report,
};

fn guide() -> std::sync::Arc<Account> {
    Account::seeded(&["getting-started"], "us-west-2")
}

fn with_spec(account: &Account, spec: &Value) -> Report {
    let cluster = Cluster::karpenter(account);
    let cluster = cluster.patch("EC2NodeClass", "default", &json!({"spec": spec}));
    ApiServer::start(cluster).check(account).report()
}

/// The statuses of a check's outcomes, by subject.
fn statuses(report: &Report, check: &str) -> Vec<(String, String)> {
    let own = report.outcomes().iter().filter(|outcome| outcome["check"] == check);
    let text = |outcome: &Value, field: &str| outcome[field].as_str().unwrap().to_owned();
    own.map(|outcome| (text(outcome, "subject"), text(outcome, "status"))).collect()
}

#[track_caller]
fn assert_status(report: &Report, check: &str, subject: &str, status: &str) {
    let found = statuses(report, check);
    let expected = (subject.to_owned(), status.to_owned());
    assert!(found.contains(&expected), "{check}: {expected:?} not in {found:?}");
}

#[test]
fn a_healthy_node_class_is_judged_by_itself() {
    let report = with_spec(&guide(), &json!({}));
    let class = "EC2NodeClass/default";
    for check in ["subnets-discovered", "security-groups-discovered", "amis-discovered"] {
        assert_eq!(statuses(&report, check), [(class.to_owned(), "pass".to_owned())], "{check}");
    }
    assert_status(&report, "nodepool-nodeclass-ref", "NodePool/default", "pass");
    assert_status(&report, "nodepool-zones", "NodePool/default", "pass");
    assert_status(&report, "ami-alias", CLUSTER, "skipped");
}

#[test]
fn what_is_not_there_is_found_missing() {
    let account = guide();
    let report = with_spec(
        &account,
        &json!({
            "subnetSelectorTerms": [{"id": "subnet-0123456789abcdef0"}, {"tags": {"Name": "no-*"}}],
            "securityGroupSelectorTerms": [{"name": "no-such-group"}],
            "amiFamily": "AL2023",
            "amiSelectorTerms": [{"name": "no-such-image-*"}, {"id": "ami-0123456789abcdef0"}],
            "role": null,
            "instanceProfile": "no-such-profile",
            "placementGroupSelector": {"name": "no-such-group"},
            "capacityReservationSelectorTerms": [{"tags": {"team": "a"}}],
            "tags": {"karpenter.sh/nodepool": "a"},
        }),
    );
    for check in [
        "subnets-discovered",
        "security-groups-discovered",
        "amis-discovered",
        "nodeclass-instance-profile",
        "placement-group",
        "nodeclass-tags",
    ] {
        assert_status(&report, check, "EC2NodeClass/default", "fail");
    }
    assert_status(&report, "capacity-reservations", "EC2NodeClass/default", "warn");
}

#[test]
fn terms_are_resolved_as_karpenter_does() {
    let account = guide();
    let subnets = &account.made["privateSubnets"];
    let group = &account.made["clusterSecurityGroup"];
    let report = with_spec(
        &account,
        &json!({
            "subnetSelectorTerms": [
                {"id": subnets[0]}, {"tags": {"karpenter.sh/discovery": "dem*"}}],
            "securityGroupSelectorTerms": [
                {"id": group}, {"tags": {"karpenter.sh/discovery": "*"}}],
            "amiFamily": "AL2023",
            "amiSelectorTerms": [{"name": "amazon-eks-node-al2023-x86_64-standard-1.35-*"}],
        }),
    );
    for check in ["subnets-discovered", "security-groups-discovered", "amis-discovered"] {
        assert_status(&report, check, "EC2NodeClass/default", "pass");
    }
}

#[test]
fn a_release_that_is_not_published_and_al2_are_found() {
    let account = guide();
    for alias in ["al2023@v20200101", "al2@latest"] {
        let report = with_spec(&account, &json!({"amiSelectorTerms": [{"alias": alias}]}));
        assert_status(&report, "amis-discovered", "EC2NodeClass/default", "fail");
    }
}

/// Several NodeClasses that ask for the same are one question.
#[test]
fn each_question_is_asked_once() {
    let account = guide();
    let cluster = Cluster::karpenter(&account);
    let class = |name: &str, terms: &Value| {
        json!({"apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass",
        "metadata": {"name": name}, "spec": {
            "role": "KarpenterNodeRole-demo",
            "subnetSelectorTerms": terms,
            "securityGroupSelectorTerms": [{"tags": {"karpenter.sh/discovery": CLUSTER}}],
            "amiSelectorTerms": [{"alias": "al2023@v20261015"}],
        }})
    };
    let by_tag = json!([{"tags": {"karpenter.sh/discovery": CLUSTER}}]);
    let by_id = json!([{"id": account.made["privateSubnets"][0]}]);
    let cluster =
        cluster.with(class("a", &by_tag)).with(class("b", &by_id)).with(class("c", &by_id));
    let server = ApiServer::start(cluster);
    let proxy = Proxy::start(Plan::default());
    Tool::new(["check", "--cluster", CLUSTER, "--kubeconfig"])
        .args([server.kubeconfig()])
        .account(&account, &proxy.endpoint)
        .run();
    let log = proxy.log();
    let count = |operation: &str| {
        log.iter().filter(|logged| logged.operation.to_string() == operation).count()
    };
    // The VPC's, those with the tag, and one subnet by its id.
    assert_eq!(count("ec2:DescribeSubnets"), 3);
    assert_eq!(count("ec2:DescribeSecurityGroups"), 2);
    assert_eq!(count("ec2:DescribeImages"), 1);
}
