//! Nothing secret of a cluster reaches the facts, a report or an error.

use serde_json::{Value, json};

use super::{ApiServer, Cluster, Fault, tls};
use crate::{
    cli::{Ran, Tool},
    emulator::{Account, CLUSTER},
};

/// Stands wherever a secret could.
const CANARY: &str = "canary-5up3r-s3cr3t";

fn metadata() -> Value {
    json!({"metadata": {
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": CANARY, "note": CANARY},
        "managedFields": [{"manager": "kubectl", "fieldsV1": {"f:data": {CANARY: {}}}}],
    }})
}

/// The guide's cluster with secrets in every object, where people have them.
fn full_of_secrets(account: &Account) -> Cluster {
    let env = json!([
        {"name": "CLUSTER_NAME", "value": CLUSTER},
        {"name": "INTERRUPTION_QUEUE", "value": CLUSTER},
        {"name": "AWS_SECRET_ACCESS_KEY", "value": CANARY},
        {"name": "AWS_SESSION_TOKEN", "value": CANARY},
        {"name": "AWS_CONTAINER_AUTHORIZATION_TOKEN", "value": CANARY},
        {"name": "HTTPS_PROXY", "value": format!("http://u:{CANARY}@proxy:3128")},
        {"name": "DB_PASSWORD", "value": CANARY},
        {"name": "FROM", "valueFrom": {"secretKeyRef": {"name": "s", "key": CANARY}}},
    ]);
    let container = json!({"name": "controller",
        "image": "public.ecr.aws/karpenter/controller:1.14.1",
        "args": [format!("--token={CANARY}"), "--password", CANARY], "env": env,
        "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}});
    let sidecar = json!({"name": "sidecar", "image": "proxy", "args": [CANARY],
        "env": [{"name": "CLUSTER_NAME", "value": CANARY}]});
    let pod = json!({"spec": {"containers": [container, sidecar]}});
    let class = json!({"spec": {"userData": CANARY, "context": CANARY}});
    let pods = ["karpenter-7d8f9c5b4-4kq2m", "karpenter-7d8f9c5b4-zx9wd"];
    let cluster = Cluster::karpenter(account)
        .patch("Deployment", "karpenter", &json!({"spec": {"template": pod}}))
        .patch("Deployment", "karpenter", &metadata())
        .patch("ServiceAccount", "karpenter", &metadata())
        .patch("ConfigMap", "aws-auth", &metadata())
        .patch("ConfigMap", "aws-auth", &json!({"data": {"other": CANARY}}))
        .patch("EC2NodeClass", "default", &class)
        .patch("EC2NodeClass", "default", &metadata())
        .patch("NodePool", "default", &metadata());
    let cluster = pods.iter().fold(cluster, |cluster, name| {
        cluster.patch("Pod", name, &pod).patch("Pod", name, &metadata())
    });
    let mut other = json!({"kind": "Pod", "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"containers": [{"name": "web", "image": "web", "args": [CANARY],
            "env": [{"name": "PASSWORD", "value": CANARY}]}]}, "status": {"phase": "Running"}});
    json_patch::merge(&mut other, &metadata());
    cluster.with(other)
}

#[track_caller]
fn assert_clean(ran: &Ran, what: &str) {
    for secret in [CANARY, "secret-token", "k8s-aws-v1", "Bearer"] {
        assert!(!ran.stdout.contains(secret), "{what}: {secret} in the output");
        assert!(!ran.stderr.contains(secret), "{what}: {secret} in {}", ran.stderr);
    }
}

#[test]
fn no_output_holds_a_secret_of_the_cluster() {
    let account = Account::seeded(&["getting-started"], "us-west-2");
    let server = ApiServer::start(full_of_secrets(&account));
    let collect = Tool::new(["collect", "--verbose", "--cluster", CLUSTER, "--out", "-"])
        .args(["--kubeconfig"])
        .args([server.kubeconfig()])
        .account(&account, &account.endpoint());
    let ran = collect.run().exits(0);
    assert_clean(&ran, "collect");
    let facts = &ran.json()["facts"]["kubernetes"];
    let controller = &facts["controllers"]["known"][0];
    assert_eq!(controller["env"]["CLUSTER_NAME"], CLUSTER, "{controller:#}");
    assert_eq!(controller["args"], json!([]));
    for format in ["human", "json", "markdown", "html", "sarif", "junit", "prometheus"] {
        assert_clean(&server.check(&account).args(["--output", format]).run(), format);
    }
    let secrets = server.log().into_iter().filter(|asked| asked.resource.contains("secret"));
    assert_eq!(secrets.count(), 0);
}

/// What the parser says of an answer may repeat what stands in it.
#[test]
fn no_error_holds_a_secret_of_the_cluster() {
    let account = Account::seeded(&["getting-started"], "us-west-2");
    let wrong =
        json!({"spec": {"replicas": CANARY, "template": {"spec": {"hostNetwork": CANARY}}}});
    let cluster = Cluster::karpenter(&account).patch("Deployment", "karpenter", &wrong);
    let ran = ApiServer::start(cluster).check(&account).args(["--output", "json"]).run();
    assert_clean(&ran, "a field of another kind");
    assert!(ran.stdout.contains("was not understood"), "{}", ran.stdout);
    let refused = ApiServer::failing(full_of_secrets(&account), "/", Fault::Unauthorized);
    assert_clean(&refused.check(&account).args(["--output", "json"]).run(), "unauthorized");
}

/// Neither does the token that is made of the AWS credentials.
#[test]
fn no_output_holds_the_token_of_the_caller() {
    let mut account = Account::empty("us-west-2");
    account.seed("getting-started");
    for knows in [true, false] {
        let server =
            ApiServer::knowing(full_of_secrets(&account), if knows { |_| true } else { |_| false });
        let tls = tls::Tls::before(&server);
        super::access::leads_to(&account, &tls.url(), &tls::authority());
        for output in ["human", "json"] {
            let ran = Tool::new(["check", "--verbose", "--cluster", CLUSTER, "--output", output])
                .account(&account, &account.endpoint())
                .run();
            assert_clean(&ran, output);
        }
    }
}
