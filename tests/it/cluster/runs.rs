//! Runs over an account and its cluster together.

use serde_json::json;

use super::{ApiServer, Cluster, collected, kubeconfig};
use crate::{
    cli::Tool,
    emulator::{Account, CLUSTER},
    online::assert_all_well,
};

fn guide() -> std::sync::Arc<Account> {
    Account::seeded(&["getting-started"], "us-west-2")
}

#[test]
fn what_the_cluster_says_is_found() {
    let account = guide();
    let server = ApiServer::start(Cluster::karpenter(&account));
    let report = server.check(&account).report();
    let target = &report.value["target"];
    for (field, value, origin) in
        [("karpenter_version", "1.14.1", "deployment"), ("stage", "after", "deployment")]
    {
        assert_eq!(target[field], json!({"value": value, "origin": origin}), "{target:#}");
    }
    assert_eq!(target["queues"], json!([{"value": "demo", "origin": "deployment"}]));
    let role = json!([{"value": "KarpenterNodeRole-demo", "origin": "node-class"}]);
    assert_eq!(target["node_roles"], role);
    assert_eq!(target["products"], json!([{"value": "karpenter", "origin": "deployment"}]));
    let notes = target["notes"].to_string();
    assert!(notes.contains("read through http://127.0.0.1"), "{notes}");
}

#[test]
fn a_healthy_cluster_has_no_finding() {
    for (seed, cluster) in [
        (&["getting-started"], Cluster::karpenter as fn(&Account) -> Cluster),
        (&["auto-mode"], Cluster::auto_mode),
    ] {
        let account = Account::seeded(seed, "us-west-2");
        let server = ApiServer::start(cluster(&account));
        assert_all_well(&server.check(&account).report());
    }
}

#[test]
fn the_facts_are_those_of_the_objects() {
    let account = guide();
    let server = ApiServer::start(Cluster::karpenter(&account));
    let facts = collected(&server, &account, &[]);
    let access = &facts["access"]["known"];
    assert_eq!(access["via"], json!({"kubeconfig": {"context": "test"}}));
    assert_eq!(access["version"], "v1.35.2-eks-3abbec1");
    assert_eq!(facts["nodes"]["known"].as_array().unwrap().len(), 3);
    let controller = &facts["controllers"]["known"][0];
    assert_eq!(controller["env"]["SYSTEM_NAMESPACE"], "kube-system");
    assert_eq!(controller["one_replica_a_node"], true);
    assert_eq!(controller["one_replica_a_zone"], true);
    assert_eq!(facts["controllers"]["known"].as_array().unwrap().len(), 1);
    assert_eq!(facts["controller_pods"]["known"].as_array().unwrap().len(), 2);
    assert_eq!(facts["auto_node_classes"], "absent");
    assert_eq!(facts["ec2_node_classes"]["known"][0]["status"]["amis"][0], "ami-0aa00000000000001");
    assert_eq!(facts["node_pools"]["known"][0]["limits"]["cpu"], "1000");
    assert_eq!(facts["cni"]["known"]["custom_networking"], false);
    assert_eq!(facts["eni_configs"]["known"], json!([]));
    let crds = facts["crds"]["known"].as_array().unwrap();
    assert_eq!(crds.len(), 4, "{crds:#?}");
}

/// The version before v1, as clusters with Karpenter 0.32 to 0.37 have it.
#[test]
fn the_beta_version_is_read_where_there_is_no_other() {
    let account = guide();
    let beta = json!([{"name": "v1beta1", "served": true, "storage": true}]);
    let beta = json!({"spec": {"versions": beta}});
    let reference = json!({"group": null, "apiVersion": "karpenter.k8s.aws/v1beta1"});
    let cluster = Cluster::karpenter(&account)
        .patch("CustomResourceDefinition", "ec2nodeclasses.karpenter.k8s.aws", &beta)
        .patch("CustomResourceDefinition", "nodepools.karpenter.sh", &beta)
        .patch("CustomResourceDefinition", "nodeclaims.karpenter.sh", &beta)
        .patch(
            "NodePool",
            "default",
            &json!({"spec": {"template": {"spec": {"nodeClassRef": reference}}}}),
        );
    let facts = collected(&ApiServer::start(cluster), &account, &[]);
    assert_eq!(facts["ec2_node_classes"]["known"][0]["role"], "KarpenterNodeRole-demo");
    assert_eq!(facts["node_pools"]["known"][0]["node_class"]["group"], "karpenter.k8s.aws");
    assert_eq!(facts["node_claims"]["known"].as_array().unwrap().len(), 1);
}

#[test]
fn pages_are_put_together() {
    let account = guide();
    let node = |n: usize| format!(r#"{{"metadata":{{"name":"node-{n}"}}}}"#);
    let cluster = Cluster::karpenter(&account).with_items("Node", super::Items::Made(1234, node));
    let server = ApiServer::start(cluster);
    let facts = collected(&server, &account, &[]);
    let nodes = facts["nodes"]["known"].as_array().unwrap();
    assert_eq!(nodes.len(), 1234);
    assert_eq!(nodes[1233]["meta"]["name"], "node-1233");
    assert_eq!(server.log().iter().filter(|asked| asked.resource == "nodes").count(), 3);
}

#[test]
fn a_role_that_only_the_service_account_names_is_judged() {
    let account = guide();
    let role = format!("arn:aws:iam::{}:role/custom-controller", account.number);
    let annotated = json!({"metadata": {"name": "autoscaler",
        "annotations": {"eks.amazonaws.com/role-arn": role}}});
    let cluster =
        Cluster::karpenter(&account).patch("ServiceAccount", "karpenter", &annotated).patch(
            "Deployment",
            "karpenter",
            &json!({"spec": {"template": {"spec": {"serviceAccountName": "autoscaler"}}}}),
        );
    let report = ApiServer::start(cluster).check(&account).report();
    let roles = json!([{"value": "custom-controller", "origin": "service-account"}]);
    assert_eq!(report.value["target"]["controller_roles"], roles);
}

#[test]
fn a_kubeconfig_that_cannot_be_used_is_a_usage_error() {
    let folder = tempfile::tempdir().unwrap();
    let account = guide();
    let path = kubeconfig(&folder, "http://127.0.0.1:1");
    let check =
        || Tool::new(["check", "--cluster", CLUSTER]).account(&account, &account.endpoint());
    check()
        .args(["--kubeconfig", "/no/such/file"])
        .run()
        .exits(2)
        .says(&["kubeconfig", "/no/such/file"]);
    check()
        .args(["--context", "other", "--kubeconfig"])
        .args([&path])
        .run()
        .exits(2)
        .says(&["no context `other`", "test"]);
    check().args(["--no-kube", "--kubeconfig"]).args([&path]).run().exits(2).says(&["--no-kube"]);
}

#[test]
fn what_is_not_there_is_absent() {
    let account = guide();
    let cluster = Cluster::karpenter(&account)
        .without("ConfigMap", "aws-auth")
        .without("DaemonSet", "aws-node")
        .without("CustomResourceDefinition", "eniconfigs.crd.k8s.amazonaws.com");
    let facts = collected(&ApiServer::start(cluster), &account, &[]);
    for name in ["aws_auth", "cni", "eni_configs"] {
        assert_eq!(facts[name], "absent", "{name}");
    }
}

#[test]
fn requests_are_listed() {
    let account = guide();
    let server = ApiServer::start(Cluster::karpenter(&account));
    server.check(&account).args(["--verbose"]).run().says(&[
        "list nodes (Kubernetes)",
        "get configmaps (Kubernetes)",
        "eks:DescribeCluster",
    ]);
}
