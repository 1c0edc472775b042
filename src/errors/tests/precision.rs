//! A log without a fault shows nothing.

use std::fmt::Write as _;

use super::explained;

/// What a controller prints when all is well, with places for what varies.
const HEALTHY: &[&str] = &[
    r#""logger":"controller","message":"Starting workers","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","worker count":1000"#,
    r#""logger":"controller.controller-runtime.metrics","message":"Starting metrics server""#,
    r#""logger":"controller","message":"webhook disabled","commit":"901a5dc""#,
    r#""logger":"controller","message":"discovered karpenter version","commit":"901a5dc","version":"1.0.7""#,
    r#""logger":"controller","message":"found provisionable pod(s)","controller":"provisioner","Pods":"default/inflate-{}","duration":"9.3ms""#,
    r#""logger":"controller","message":"computed new nodeclaim(s) to fit pod(s)","controller":"provisioner","nodeclaims":1,"pods":{}"#,
    r#""logger":"controller","message":"created nodeclaim","controller":"provisioner","NodePool":{"name":"default"},"NodeClaim":{"name":"default-{}"},"requests":{"cpu":"4150m","pods":"9"},"instance-types":"c6i.xlarge, m5.large and 55 other(s)""#,
    r#""logger":"controller","message":"launched nodeclaim","controller":"nodeclaim.lifecycle","NodeClaim":{"name":"default-{}"},"provider-id":"aws:///us-east-1a/i-0f1e2d3c4b5a{}","instance-type":"c6i.xlarge","zone":"us-east-1a","capacity-type":"spot","allocatable":{"cpu":"3920m"}"#,
    r#""logger":"controller","message":"registered nodeclaim","controller":"nodeclaim.lifecycle","NodeClaim":{"name":"default-{}"},"Node":{"name":"ip-10-0-{}-7.ec2.internal"}"#,
    r#""logger":"controller","message":"initialized nodeclaim","controller":"nodeclaim.lifecycle","NodeClaim":{"name":"default-{}"},"allocatable":{"cpu":"3920m","memory":"6584Mi"}"#,
    r#""logger":"controller","message":"disrupting node(s)","controller":"disruption","command-id":"{}","reason":"underutilized","decision":"delete","disrupted-node-count":1,"replacement-node-count":0,"pod-count":4"#,
    r#""logger":"controller","message":"tainted node","controller":"node.termination","Node":{"name":"ip-10-0-{}-7.ec2.internal"},"taint.Key":"karpenter.sh/disrupted","taint.Value":"","taint.Effect":"NoSchedule""#,
    r#""logger":"controller","message":"deleted node","controller":"node.termination","Node":{"name":"ip-10-0-{}-7.ec2.internal"}"#,
    r#""logger":"controller","message":"deleted nodeclaim","controller":"nodeclaim.lifecycle","NodeClaim":{"name":"default-{}"}"#,
    r#""logger":"controller","message":"created launch template","controller":"nodeclaim.lifecycle","launch-template-name":"karpenter.k8s.aws/{}","id":"lt-0f1e2d3c4b5a{}""#,
    r#""logger":"controller","message":"deleted launch template","id":"lt-0f1e2d3c4b5a{}","name":"karpenter.k8s.aws/{}""#,
    r#""logger":"controller","message":"discovered ssm parameter","controller":"nodeclass.status","parameter":"/aws/service/eks/optimized-ami/1.31/amazon-linux-2023/x86_64/standard/recommended/image_id","value":"ami-0f1e{}""#,
    r#""logger":"controller","message":"updated spot pricing with instance types and offerings","controller":"providers.pricing","instance-type-count":{},"offering-count":2102"#,
    r#""logger":"controller","message":"updated on-demand pricing","controller":"providers.pricing","instance-type-count":{}"#,
    r#""logger":"controller","message":"discovered kubernetes version","controller":"providers.version","version":"1.31""#,
    r#""logger":"controller","message":"initiating delete from interruption message","controller":"interruption","queue":"demo","messageKind":"spot_interrupted","NodeClaim":{"name":"default-{}"},"action":"CordonAndDrain""#,
    r#""logger":"controller","message":"garbage collected cloudprovider instance","controller":"instance.garbagecollection","provider-id":"aws:///us-east-1a/i-0f1e2d3c4b5a{}""#,
    r#""logger":"controller","message":"waiting on cluster sync","controller":"provisioner""#,
    r#""logger":"controller","message":"annotated nodeclaim","controller":"nodeclaim.hash","NodeClaim":{"name":"default-{}"}"#,
];

#[test]
fn five_megabytes_of_a_healthy_log_show_nothing() {
    let mut log = String::new();
    let mut second = 0;
    while log.len() < 5_000_000 {
        for line in HEALTHY {
            second += 1;
            let (minute, hour) = (second / 60, second / 3600);
            let line = line.replace("{}", &format!("{:05x}", second * 7919 % 0xfffff));
            writeln!(
                log,
                r#"{{"level":"INFO","time":"2025-05-01T{:02}:{:02}:{:02}.123Z",{line}}}"#,
                hour % 24,
                minute % 60,
                second % 60,
            )
            .unwrap();
        }
    }
    let explanation = explained(&log);
    let found: Vec<_> =
        explanation.groups.iter().map(|group| (&group.entry.id, &group.seen.sample)).collect();
    assert!(found.is_empty(), "{found:?}");
    assert!(explanation.denials.is_empty() && explanation.network.is_empty());
    assert_eq!(explanation.bytes, log.len() as u64);
    assert_eq!(explanation.lines, log.lines().count() as u64);
}

/// Faults of programs that have nothing to do with nodes.
const OF_OTHERS: &[&str] = &[
    r#"2024/03/05 10:00:00 [error] 31#31: *12 connect() failed (111: Connection refused) while connecting to upstream, client: 10.0.0.1, server: _, request: "GET / HTTP/1.1", upstream: "http://10.0.0.2:8080/""#,
    "2024/03/05 10:00:00 [error] 31#31: *9 upstream timed out (110: Connection timed out) while reading response header from upstream",
    "redis.exceptions.ConnectionError: Error 111 connecting to localhost:6379. Connection refused.",
    "fatal: unable to access 'https://github.com/x/y.git/': Could not resolve host: github.com",
    "ssh: connect to host 10.0.0.5 port 22: Connection timed out",
    "ssh: connect to host 10.0.0.5 port 22: No route to host",
    "curl: (56) Recv failure: Connection reset by peer",
    "psql: could not translate host name \"db\" to address: Name or service not known",
    "E0101 10:00:00.000000       1 leaderelection.go:330] error retrieving resource lock argocd/argocd-leader: Unauthorized",
    "E0101 10:00:00.000000       1 leaderelection.go:429] failed to renew lease cert-manager/cert-manager-controller: timed out waiting for the condition",
    "Warning  Unhealthy  kubelet  Readiness probe failed: HTTP probe failed with statuscode: 503",
    r#"Warning  Unhealthy  kubelet  Liveness probe failed: Get "http://10.0.0.9:8080/health": EOF"#,
    "Warning  BackOff  kubelet  Back-off restarting failed container web in pod web-1_default",
    "panic: assignment to entry in nil map",
    "java.lang.OutOfMemoryError: Java heap space",
    "Error: Error acquiring the state lock: ConditionalCheckFailedException: The conditional request failed",
    "An error occurred (NoSuchBucket) when calling the ListObjectsV2 operation: The specified bucket does not exist",
    "x509: certificate has expired or is not yet valid: current time 2024-03-05T10:00:00Z is after 2024-03-01T00:00:00Z",
    r#"deployment.apps "web" is invalid: spec.selector: Invalid value: field is immutable"#,
];

#[test]
fn faults_of_other_programs_show_nothing() {
    for text in OF_OTHERS {
        let explanation = explained(text);
        let found: Vec<_> = explanation.groups.iter().map(|group| &group.entry.id).collect();
        assert!(found.is_empty(), "{found:?}: {text}");
        assert!(explanation.network.is_empty() && explanation.denials.is_empty(), "{text}");
    }
}

#[test]
fn ordinary_prose_shows_nothing() {
    for text in [
        "Karpenter launches nodes for pods that cannot be scheduled.",
        "The quick brown fox jumps over the lazy dog",
        "NAME      READY   STATUS    RESTARTS   AGE\nkarpenter-db9c68466-h844g   1/1     Running   0   4m21s",
        "",
    ] {
        assert!(explained(text).groups.is_empty(), "{text}");
    }
}
