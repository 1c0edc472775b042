use serde_json::{Value, json};

use super::*;
use crate::{
    checks::testing::{Account, assert_rows},
    facts::proof::Way,
    outcome::Status,
    target::resolve::resolve,
};

const ROLE: &str = "demo-karpenter";
const CLASS: &str = "EC2NodeClass/default";

fn answers(run_instances: &Value) -> Value {
    json!([
        {"action": "ec2:CreateLaunchTemplate", "subnet": null, "said": {"known": "allowed"}},
        {"action": "ec2:CreateFleet", "subnet": null, "said": {"known": "allowed"}},
        {"action": "ec2:RunInstances", "subnet": "subnet-01", "said": run_instances},
    ])
}

fn proved(session: &Value, run_instances: &Value) -> Value {
    answered(session, &["subnet-01"], &answers(run_instances))
}

fn answered(session: &Value, subnets: &[&str], answers: &Value) -> Value {
    let launch = json!({"subject": CLASS, "instance_type": "m5.large", "image": "ami-1",
        "subnets": subnets, "security_groups": ["sg-1"], "instance_profile": "p",
        "metadata": {}, "hides_tags": true, "volumes": [], "associate_public_ip": null,
        "tags": {}, "answers": answers});
    json!({"facts": {"proofs": {"known": [
        {"role": ROLE, "session": session, "launches": [launch]}]}}})
}

fn refused(code: &str, message: &str) -> Value {
    json!({"known": {"refused": {"code": code, "message": message}}})
}

fn denial(by: &str) -> Value {
    refused(
        "UnauthorizedOperation",
        &format!(
            "You are not authorized to perform this operation. User: \
             arn:aws:sts::111122223333:assumed-role/{ROLE}/karpenter-preflight-prove is not \
             authorized to perform: ec2:RunInstances on resource: \
             arn:aws:ec2:us-west-2:111122223333:instance/* {by}. Encoded authorization failure \
             message: AbCdEf0123456789"
        ),
    )
}

#[test]
fn rows() {
    let web = json!({"known": "web_identity"});
    let allowed = json!({"known": "allowed"});
    let denied =
        |action: &str, message: &str| json!({"denied": {"action": action, "message": message}});
    let failed =
        json!({"failed": {"action": "ec2:RunInstances", "message": "RequestLimitExceeded"}});
    let token = |message: &str| json!({"failed": {"action": "sts:AssumeRoleWithWebIdentity", "message": message}});
    let unread = json!({"facts": {"proofs": {"known": []}, "roles": {ROLE: {
        "denied": {"action": "iam:GetRole", "message": "no"}}}}});
    assert_rows(
        Account::KarpenterCluster,
        &CHECK,
        &[
            ("not asked for", json!({}), &[(Status::Skipped, "demo")]),
            ("all allowed", proved(&web, &allowed), &[(Status::Pass, CLASS)]),
            (
                "a service control policy",
                proved(&web, &denial("with an explicit deny in a service control policy")),
                &[(Status::Fail, CLASS)],
            ),
            (
                "a profile that is not there",
                proved(
                    &web,
                    &refused(
                        "InvalidParameterValue",
                        "Value (p) for parameter \
                    iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name",
                    ),
                ),
                &[(Status::Fail, CLASS)],
            ),
            (
                "an answer that nobody knows",
                proved(&web, &refused("MissingParameter", "The request must contain it")),
                &[(Status::Unknown, CLASS)],
            ),
            ("no answer", proved(&web, &failed), &[(Status::Unknown, CLASS)]),
            (
                "the trust policy refuses the token",
                proved(
                    &denied(
                        "sts:AssumeRoleWithWebIdentity",
                        "AccessDenied: Not authorized to perform sts:AssumeRoleWithWebIdentity",
                    ),
                    &allowed,
                ),
                &[(Status::Fail, ROLE)],
            ),
            (
                "there is no provider for the token",
                proved(
                    &token(
                        "InvalidIdentityToken: No OpenIDConnect provider found in your account \
                         for https://oidc.eks.us-west-2.amazonaws.com/id/A",
                    ),
                    &allowed,
                ),
                &[(Status::Fail, ROLE)],
            ),
            (
                "STS has too much to do",
                proved(&token("Throttling: Rate exceeded"), &allowed),
                &[(Status::Unknown, ROLE)],
            ),
            (
                "STS has no address from here",
                proved(
                    &token(
                        "dispatch failure: dial tcp: lookup sts.us-west-2.amazonaws.com: no such \
                         host",
                    ),
                    &allowed,
                ),
                &[(Status::Unknown, ROLE)],
            ),
            (
                "no token may be asked for",
                proved(&denied("create serviceaccounts/token (Kubernetes)", "forbidden"), &allowed),
                &[(Status::Unknown, ROLE)],
            ),
            (
                "the role trusts pods only",
                proved(&denied("sts:AssumeRole", "AccessDenied"), &allowed),
                &[(Status::Unknown, ROLE)],
            ),
            (
                "a role that was not tried",
                json!({"facts": {"proofs": {"known": []}}}),
                &[(Status::Unknown, ROLE)],
            ),
            ("a role that may not be read", unread, &[(Status::Unknown, ROLE)]),
        ],
    );
}

/// The finding of a refused RunInstances.
fn finding(said: &Value) -> Finding {
    let saved = Account::KarpenterCluster.patched(&proved(&json!({"known": "web_identity"}), said));
    let target = resolve(&saved.scope, &saved.facts);
    let judged = run(&Context::new(&target, &saved)).unwrap();
    judged.into_iter().next().unwrap().verdict.unwrap()
}

/// Answers to a fleet, and to a launch in each of two subnets.
fn of_zones(fleet: &Value, runs: [&Value; 2]) -> Value {
    let mut all = answers(runs[0]);
    all[1]["said"] = fleet.clone();
    all.as_array_mut()
        .unwrap()
        .push(json!({"action": "ec2:RunInstances", "subnet": "subnet-02", "said": runs[1]}));
    answered(&json!({"known": "web_identity"}), &["subnet-01", "subnet-02"], &all)
}

/// What says nothing of permissions is never held against the role, and never for it.
#[test]
fn only_permissions_are_judged() {
    let yes = json!({"known": "allowed"});
    let zone = refused(
        "Unsupported",
        "Your requested instance type (m5.large) is not supported in your requested Availability \
         Zone (us-west-2d).",
    );
    let full = refused(
        "InsufficientFreeAddressesInSubnet",
        "There are not enough free addresses in subnet 'subnet-02' to satisfy the requested \
         number of instances.",
    );
    let quota = refused(
        "VcpuLimitExceeded",
        "You have requested more vCPU capacity than your current vCPU limit of 0 allows",
    );
    let no_template = refused(
        "InvalidLaunchTemplateId.NotFound",
        "The specified launch template, with template ID lt-1234567890abcdef0, does not exist.",
    );
    let no_name = refused(
        "InvalidLaunchTemplateName.NotFoundException",
        "The specified launch template, with template name x, does not exist.",
    );
    let foreign = refused(
        "InvalidParameter",
        "Security group sg-1 and subnet subnet-01 belong to different networks.",
    );
    let arm = refused(
        "InvalidParameterValue",
        "The architecture 'x86_64' of the specified instance type does not match the architecture \
         'arm64' of the specified AMI",
    );
    let no = denial("because no identity-based policy allows the ec2:RunInstances action");
    let late = json!({"failed": {"action": "ec2:RunInstances", "message": "it timed out"}});
    let web = json!({"known": "web_identity"});
    let is = |status| [(status, CLASS)];
    let (pass, warn, fail, unknown) =
        (&is(Status::Pass), &is(Status::Warn), &is(Status::Fail), &is(Status::Unknown));
    let mut no_run = answers(&yes);
    no_run.as_array_mut().unwrap().pop();
    assert_rows(
        Account::KarpenterCluster,
        &CHECK,
        &[
            ("its own template is not there", of_zones(&no_template, [&yes, &yes]), pass),
            ("nor one of that name", of_zones(&no_name, [&yes, &yes]), pass),
            ("no such type in one zone", of_zones(&yes, [&yes, &zone]), pass),
            ("a full subnet", of_zones(&yes, [&full, &yes]), pass),
            ("no quota anywhere", of_zones(&yes, [&quota, &quota]), unknown),
            ("no such type anywhere", of_zones(&yes, [&zone, &zone]), unknown),
            ("a fleet that is not supported", of_zones(&zone, [&yes, &yes]), unknown),
            ("a type of the trial only", of_zones(&yes, [&arm, &arm]), unknown),
            ("full, and refused in the other", of_zones(&yes, [&full, &no]), fail),
            ("refused in one of them", of_zones(&yes, [&yes, &no]), warn),
            ("two VPCs", of_zones(&yes, [&foreign, &foreign]), fail),
            ("refused, and no answer", of_zones(&yes, [&no, &late]), fail),
            ("one without an answer", of_zones(&yes, [&yes, &late]), unknown),
            ("no answers", answered(&web, &["subnet-01"], &json!([])), unknown),
            ("no launch tried", answered(&web, &["subnet-01"], &no_run), unknown),
            (
                "one subnet not tried",
                answered(&web, &["subnet-01", "subnet-02"], &answers(&yes)),
                unknown,
            ),
        ],
    );
}

#[test]
fn what_was_not_proved_is_said() {
    let seen = |runs: [&Value; 2]| {
        let saved =
            Account::KarpenterCluster.patched(&of_zones(&json!({"known": "allowed"}), runs));
        let target = resolve(&saved.scope, &saved.facts);
        let judged = run(&Context::new(&target, &saved)).unwrap();
        judged.into_iter().next().unwrap().verdict.unwrap().seen
    };
    let yes = json!({"known": "allowed"});
    let both = seen([&yes, &yes]);
    assert!(both.ends_with("for a m5.large in 2 subnets."), "{both}");
    let full = refused("InsufficientFreeAddressesInSubnet", "There are not enough free addresses.");
    let one = seen([&yes, &full]);
    assert!(one.contains("in 1 subnet. Not for reasons of permissions"), "{one}");
    assert!(one.contains("in subnet-02: InsufficientFreeAddressesInSubnet"), "{one}");
    assert_eq!(tried::not_tried(0), "");
    assert_eq!(tried::not_tried(1), " 1 subnet more that the selector matches was not tried.");
    let all: Vec<_> = (0..20)
        .map(|n| {
            let id = format!("subnet-{n:02}");
            json!({"arn": format!("arn:aws:ec2:us-west-2:111122223333:subnet/{id}"), "id": id,
                "vpc_id": "vpc-01", "zone": "us-west-2a", "zone_id": "usw2-az1",
                "cidr": "10.0.16.0/20", "free_addresses": 200, "owner": "111122223333",
                "tags": {"karpenter.sh/discovery": "demo"}})
        })
        .collect();
    let saved = Account::KarpenterCluster
        .patched(&json!({"facts": {"discovered_subnets": {"known": all}}}));
    let target = resolve(&saved.scope, &saved.facts);
    let planned = plan::launches(&Context::new(&target, &saved)).unwrap();
    let left_out: Vec<_> = planned.iter().map(|planned| planned.left_out).collect();
    assert_eq!(left_out, [4]);
}

#[test]
fn the_layer_that_refuses_is_named() {
    for (by, error, words) in [
        (
            "with an explicit deny in a service control policy: \
             arn:aws:organizations::1:policy/o-1/service_control_policy/p-1",
            "denied-by-organization-policy",
            "a service control policy of the organisation, \
             arn:aws:organizations::1:policy/o-1/service_control_policy/p-1, denies it",
        ),
        (
            "because no permissions boundary allows the ec2:RunInstances action",
            "denied-by-permissions-boundary",
            "its permissions boundary does not allow it",
        ),
        (
            "because no identity-based policy allows the ec2:RunInstances action",
            "unauthorized-operation",
            "a policy of the role does not allow it",
        ),
        ("", "unauthorized-operation", "AWS does not say which policy refuses it"),
    ] {
        let finding = finding(&denial(by));
        assert_eq!(finding.errors[0], error, "{by}: {finding:#?}");
        assert_eq!(finding.errors[1], "run-instances-auth-check-failed");
        assert!(finding.seen.contains(words), "{by}: {}", finding.seen);
        assert!(!finding.seen.contains("AbCdEf"), "{}", finding.seen);
    }
}

#[test]
fn a_launch_has_what_the_node_class_says() {
    let class = json!([{"meta": {"name": "default"}, "role": "KarpenterNodeRole-demo",
        "subnet_terms": [{"tags": {"karpenter.sh/discovery": "demo"}}],
        "security_group_terms": [{"tags": {"karpenter.sh/discovery": "demo"}}],
        "ami_terms": [{"alias": "al2023@v20261015"}], "tags": {"team": "a"},
        "metadata_options": {"http_tokens": "optional"},
        "volumes": [{"device": "/dev/xvda", "encrypted": true, "kms_key": "alias/nodes"}],
        "status": {"instance_profile": "demo_1"}}]);
    let patch = json!({"facts": {"kubernetes": {"ec2_node_classes": {"known": class}}}});
    let saved = Account::KarpenterCluster.patched(&patch);
    let target = resolve(&saved.scope, &saved.facts);
    let questions = questions(&Context::new(&target, &saved)).unwrap();
    let [question] = questions.as_slice() else { panic!("{questions:#?}") };
    let [launch] = question.launches.as_slice() else { panic!("{question:#?}") };
    assert_eq!(launch.image, "ami-0aa00000000000001");
    assert_eq!(launch.instance_type, "m5.large");
    assert_eq!(launch.instance_profile.as_deref(), Some("demo_1"));
    assert_eq!(launch.metadata.http_tokens.as_deref(), Some("optional"));
    assert_eq!(launch.metadata.http_put_response_hop_limit, Some(1));
    assert_eq!(launch.volumes[0].kms_key.as_deref(), Some("alias/nodes"));
    assert_eq!(launch.tags["team"], "a");
    assert_eq!(launch.tags["karpenter.sh/nodepool"], "", "as Karpenter tries it");
    assert_eq!(launch.tags["kubernetes.io/cluster/demo"], "owned");
    assert!(launch.hides_tags && launch.subnets.len() > 1 && !launch.security_groups.is_empty());
}

#[test]
fn a_launch_takes_a_named_type_that_the_image_runs_on() {
    for (named, expected) in [
        (json!(["c6g.large", "m5.xlarge"]), "m5.xlarge"),
        (json!(["a1.large", "c7gn.large", "g5g.xlarge", "g4dn.xlarge"]), "g4dn.xlarge"),
        (json!(["c6g.large"]), "m5.large"),
    ] {
        let pool = json!([{"meta": {"name": "default"}, "node_class": {"group":
            "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}, "requirements":
            [{"key": "node.kubernetes.io/instance-type", "operator": "In", "values": named}]}]);
        let patch = json!({"facts": {"kubernetes": {"node_pools": {"known": pool}}}});
        let saved = Account::KarpenterCluster.patched(&patch);
        let target = resolve(&saved.scope, &saved.facts);
        let questions = questions(&Context::new(&target, &saved)).unwrap();
        assert_eq!(questions[0].launches[0].instance_type, expected, "{named}");
    }
}

#[test]
fn credentials_come_on_the_way_that_is_open() {
    let arn = "arn:aws:iam::111122223333:role/demo-karpenter";
    let annotations = json!({"eks.amazonaws.com/role-arn": arn});
    let account = json!([{"meta": {"name": "karpenter", "namespace": "kube-system"},
        "annotations": annotations}]);
    let irsa = json!({"kubernetes": {"service_accounts": {"known": account}}});
    let session = "arn:aws:sts::111122223333:assumed-role/demo-karpenter/x";
    let denied = json!({"denied": {"action": "iam:GetRole", "message": "no"}});
    // The controller's role may not read itself.
    let own = json!({"caller": {"known": {"account": "111122223333", "arn": session}},
        "roles": {"demo-karpenter": denied}});
    let web = Way::WebIdentity {
        namespace: "kube-system".to_owned(),
        service_account: "karpenter".to_owned(),
        audience: "sts.amazonaws.com".to_owned(),
    };
    for (facts, way, expected) in
        [(json!({}), Way::AssumeRole, arn), (irsa, web, arn), (own, Way::Own, session)]
    {
        let saved = Account::KarpenterCluster.patched(&json!({"facts": facts}));
        let target = resolve(&saved.scope, &saved.facts);
        let questions = questions(&Context::new(&target, &saved)).unwrap();
        assert_eq!(questions[0].way, way, "{facts}");
        assert_eq!(questions[0].arn, expected);
    }
}
