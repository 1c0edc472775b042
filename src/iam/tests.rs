//! The evaluator on rows of data.

use super::*;

const ROLE: &str = "arn:aws:iam::111122223333:role/Karpenter";
const SESSION: &str = "arn:aws:sts::111122223333:assumed-role/Karpenter/pod";

fn named(name: &str, text: &str) -> NamedPolicy {
    NamedPolicy::new(name, Policy::parse(text).unwrap_or_else(|e| panic!("{e} in {text}")))
}

/// A document of these statements, in the newest version of the language.
fn doc(name: &str, statements: &str) -> NamedPolicy {
    named(name, &format!(r#"{{"Version": "2012-10-17", "Statement": [{statements}]}}"#))
}

fn by(principal: &str, action: &str, resource: &str) -> Request {
    Request::new(Principal::aws(principal).unwrap(), action, resource)
}

fn word(decision: &Decision) -> String {
    match decision {
        Decision::Allowed { by } => format!("allowed {}", by.policy),
        Decision::Denied { layer, statement } => format!("denied {layer:?} {}", statement.policy),
        Decision::NotAllowed { layer, .. } => format!("not {layer:?}"),
        Decision::Unknown { keys, .. } => format!("unknown {}", keys.join(" ")),
    }
}

const ALL: &str = r#"{"Effect": "Allow", "Action": "*", "Resource": "*"}"#;
const READ: &str = r#"{"Effect": "Allow", "Action": "ec2:Describe*", "Resource": "*"}"#;
const NO_RUN: &str = r#"{"Effect": "Deny", "Action": "ec2:RunInstances", "Resource": "*"}"#;

#[test]
fn layers_of_one_account() {
    let for_principal = |principal: &str| {
        format!(
            r#"{{"Effect": "Allow", "Principal": {principal}, "Action": "sqs:*", "Resource": "*"}}"#
        )
    };
    let (everyone, account) =
        (for_principal(r#""*""#), for_principal(r#"{"AWS": "111122223333"}"#));
    let role = for_principal(&format!(r#"{{"AWS": "{ROLE}"}}"#));
    let session = for_principal(&format!(r#"{{"AWS": "{SESSION}"}}"#));
    let both = for_principal(&format!(r#"{{"AWS": ["111122223333", "{SESSION}"]}}"#));
    let sqs = r#"{"Effect": "Allow", "Action": "sqs:*", "Resource": "*"}"#;
    // identity, boundary, session, resource policy; action; as
    let rows: &[(&str, &str, &str, &str, &str, &str, &str)] = &[
        (ALL, "", "", "", "ec2:RunInstances", SESSION, "allowed id"),
        (READ, "", "", "", "ec2:RunInstances", SESSION, "not Identity"),
        (READ, "", "", "", "EC2:DescribeImages", SESSION, "allowed id"),
        (ALL, READ, "", "", "ec2:RunInstances", SESSION, "not Boundary"),
        (ALL, ALL, READ, "", "ec2:RunInstances", SESSION, "not Session"),
        (ALL, ALL, ALL, "", "ec2:RunInstances", SESSION, "allowed id"),
        (ALL, NO_RUN, "", "", "ec2:RunInstances", SESSION, "denied Boundary boundary"),
        (ALL, "", NO_RUN, "", "ec2:RunInstances", SESSION, "denied Session session"),
        (READ, "", "", &everyone, "sqs:SendMessage", SESSION, "allowed resource"),
        (READ, READ, READ, &everyone, "sqs:SendMessage", SESSION, "allowed resource"),
        (READ, READ, "", &session, "sqs:SendMessage", SESSION, "allowed resource"),
        (READ, READ, "", &session, "sqs:SendMessage", ROLE, "unknown sts:RoleSessionName"),
        (READ, "", "", &both, "sqs:SendMessage", ROLE, "unknown sts:RoleSessionName"),
        (sqs, "", "", &both, "sqs:SendMessage", ROLE, "allowed id"),
        (READ, "", "", &role, "sqs:SendMessage", SESSION, "allowed resource"),
        (READ, READ, "", &role, "sqs:SendMessage", SESSION, "not Boundary"),
        (READ, sqs, READ, &role, "sqs:SendMessage", SESSION, "not Session"),
        (READ, "", "", &account, "sqs:SendMessage", SESSION, "not Identity"),
        (sqs, "", "", &account, "sqs:SendMessage", SESSION, "allowed id"),
        (sqs, "", "", "", "sqs:SendMessage", SESSION, "allowed id"),
    ];
    for (identity, boundary, session, resource, action, principal, want) in rows {
        let one = |name, text: &str| (!text.is_empty()).then(|| doc(name, text));
        let set = PolicySet {
            identity: vec![doc("id", identity)],
            boundary: one("boundary", boundary),
            session: one("session", session).into_iter().collect(),
            resource: one("resource", resource),
            ..PolicySet::default()
        };
        let decision = set.decide(&by(principal, action, "*"));
        assert_eq!(word(&decision), *want, "{identity} / {boundary} / {session} / {resource}");
    }
}

#[test]
fn control_policies_and_accounts() {
    let any = |effect: &str, action: &str| {
        let text = format!(
            r#"{{"Effect": "{effect}", "Principal": "*", "Action": "{action}", "Resource": "*"}}"#
        );
        doc("any", &text)
    };
    let allowed = PolicySet { identity: vec![doc("id", ALL)], ..PolicySet::default() };
    let request = by(SESSION, "sqs:SendMessage", "*");
    let decide = |set: &PolicySet| word(&set.decide(&request));

    let mut scp = allowed.clone();
    scp.service_control = vec![vec![doc("full", ALL)], vec![doc("read", READ), doc("full", ALL)]];
    assert_eq!(decide(&scp), "allowed id");
    scp.service_control[1].pop();
    assert_eq!(decide(&scp), "not ServiceControl");
    scp.service_control.push(Vec::new());
    assert_eq!(decide(&scp), "not ServiceControl");

    let mut rcp = allowed.clone();
    rcp.resource_control = vec![vec![], vec![any("Deny", "s3:*")]];
    assert_eq!(decide(&rcp), "allowed id");
    rcp.resource_control.push(vec![any("Deny", "sqs:*")]);
    assert_eq!(decide(&rcp), "denied ResourceControl any");

    let mut endpoint = allowed.clone();
    endpoint.vpc_endpoint = vec![any("Allow", "s3:*")];
    assert_eq!(decide(&endpoint), "not VpcEndpoint");
    endpoint.vpc_endpoint.push(any("Allow", "sqs:Send*"));
    assert_eq!(decide(&endpoint), "allowed id");

    let key = PolicySet { resource_must_allow: true, ..allowed.clone() };
    assert_eq!(decide(&key), "not Resource");
    let key = PolicySet { resource: Some(any("Allow", "kms:*")), ..key };
    assert_eq!(decide(&key), "not Resource");

    let abroad = by(SESSION, "sqs:SendMessage", "*").in_account("444455556666");
    assert_eq!(word(&allowed.decide(&abroad)), "not Resource");
    let open = PolicySet { resource: Some(any("Allow", "sqs:*")), ..allowed };
    assert_eq!(word(&open.decide(&abroad)), "allowed id");
    let closed = PolicySet { identity: vec![doc("id", READ)], ..open };
    assert_eq!(word(&closed.decide(&abroad)), "not Identity");

    let events = Principal::Service("events.amazonaws.com".into());
    let send = Request::new(events, "sqs:SendMessage", "*");
    assert_eq!(word(&closed.decide(&send)), "allowed any");
    assert_eq!(word(&PolicySet::default().decide(&send)), "not Resource");
}

#[test]
fn an_organisation_limits_neither_services_nor_their_roles() {
    let nothing = r#"{"Effect": "Deny", "Action": "*", "Resource": "*"}"#;
    let nobody = r#"{"Effect": "Deny", "Principal": "*", "Action": "*", "Resource": "*"}"#;
    let all = r#"{"Effect": "Allow", "Principal": "*", "Action": "*", "Resource": "*"}"#;
    let set = |service: bool, resource: bool| PolicySet {
        identity: vec![doc("id", ALL)],
        resource: Some(doc("resource", all)),
        service_control: if service { vec![vec![doc("scp", nothing)]] } else { Vec::new() },
        resource_control: if resource { vec![vec![doc("rcp", nobody)]] } else { Vec::new() },
        ..PolicySet::default()
    };
    let linked = "arn:aws:iam::111122223333:role/aws-service-role/spot.amazonaws.com/AWSServiceRoleForEC2Spot";
    let session = "arn:aws:sts::111122223333:assumed-role/AWSServiceRoleForEC2Spot/s";
    let alike = "arn:aws:iam::111122223333:role/AWSServiceRoleForEC2Spot";
    for (caller, by_service, by_resource) in [
        (linked, "allowed id", "allowed id"),
        (session, "allowed id", "allowed id"),
        (alike, "denied ServiceControl scp", "denied ResourceControl rcp"),
        (ROLE, "denied ServiceControl scp", "denied ResourceControl rcp"),
    ] {
        let request = by(caller, "sqs:SendMessage", "*");
        assert_eq!(word(&set(true, false).decide(&request)), by_service, "{caller}");
        assert_eq!(word(&set(false, true).decide(&request)), by_resource, "{caller}");
    }
    let service = Principal::Service("events.amazonaws.com".into());
    let send = Request::new(service, "sqs:SendMessage", "*");
    assert_eq!(word(&set(true, false).decide(&send)), "allowed resource");
    assert_eq!(word(&set(false, true).decide(&send)), "denied ResourceControl rcp");
}

#[test]
fn what_nobody_knows_matters_only_where_it_decides() {
    let when = |effect: &str, action: &str| {
        format!(
            r#"{{"Effect": "{effect}", "Action": "{action}", "Resource": "*",
                "Condition": {{"StringEquals": {{"aws:SourceVpce": "vpce-1"}}}}}}"#
        )
    };
    let rows = [
        (when("Allow", "ec2:*"), "unknown aws:SourceVpce"),
        (when("Allow", "sqs:*"), "not Identity"),
        (format!("{},{ALL}", when("Allow", "ec2:*")), "allowed id"),
        (format!("{},{ALL}", when("Deny", "ec2:*")), "unknown aws:SourceVpce"),
        (format!("{},{ALL}", when("Deny", "sqs:*")), "allowed id"),
        (format!("{},{NO_RUN},{ALL}", when("Deny", "ec2:*")), "denied Identity id"),
        (when("Deny", "ec2:*"), "not Identity"),
        (format!("{},{READ}", when("Deny", "ec2:*")), "not Identity"),
    ];
    for (statements, want) in rows {
        let set = PolicySet { identity: vec![doc("id", &statements)], ..PolicySet::default() };
        let request = by(ROLE, "ec2:RunInstances", "*").unknown("aws:SourceVpce");
        assert_eq!(word(&set.decide(&request)), want, "{statements}");
    }
}

#[test]
fn nearest_in_words() {
    let pass = r#"{"Sid": "AllowPassingInstanceRole", "Effect": "Allow", "Action": "iam:PassRole",
        "Resource": "arn:aws:iam::111122223333:role/KarpenterNodeRole-c",
        "Condition": {"StringEquals": {"iam:PassedToService": "ec2.amazonaws.com"}}}"#;
    let tags = r#"{"Sid": "Tag", "Effect": "Allow", "Action": "ec2:CreateTags",
        "Resource": "arn:aws:ec2:*:*:instance/*", "Condition": {
        "ForAllValues:StringEquals": {"aws:TagKeys": ["Name", "karpenter.sh/nodeclaim"]},
        "StringEquals": {"aws:ResourceTag/kubernetes.io/cluster/c": "owned"}}}"#;
    let read = r#"{"Sid": "Read", "Effect": "Allow", "Resource": "*",
        "Action": ["ec2:DescribeImages", "ec2:DescribeSubnets"],
        "Condition": {"StringEquals": {"aws:RequestedRegion": "eu-west-1"}}}"#;
    let same = r#"{"Effect": "Allow", "Action": "ec2:CreateVolume", "Resource": "*", "Condition":
        {"StringEquals": {"aws:RequestTag/c": "${aws:PrincipalTag/c}"},
         "Null": {"aws:RequestTag/d": "true"}, "NumericLessThan": {"ec2:VolumeSize": 100}}}"#;
    let set = PolicySet {
        identity: vec![doc("X", &[pass, tags, read, same].join(","))],
        ..PolicySet::default()
    };
    let node = "arn:aws:iam::111122223333:role/KarpenterNodeRole-c";
    let instance = "arn:aws:ec2:eu-west-1:111122223333:instance/i-1";
    let owned = "aws:ResourceTag/kubernetes.io/cluster/c";
    let rows = [
        (
            by(ROLE, "iam:PassRole", node).with("iam:PassedToService", "ec2.amazonaws.com.cn"),
            "statement AllowPassingInstanceRole of policy X wants iam:PassedToService to be \
             ec2.amazonaws.com, but ec2.amazonaws.com.cn is sent",
        ),
        (
            by(ROLE, "iam:PassRole", "arn:aws:iam::111122223333:role/Other")
                .with("iam:PassedToService", "ec2.amazonaws.com"),
            "statement AllowPassingInstanceRole of policy X covers only the resource \
             arn:aws:iam::111122223333:role/KarpenterNodeRole-c, but \
             arn:aws:iam::111122223333:role/Other is meant",
        ),
        (
            by(ROLE, "ec2:CreateTags", instance)
                .with("aws:TagKeys", ["Name", "team", "eks:eks-cluster-name"])
                .with(owned, "owned"),
            "statement Tag of policy X wants every value of aws:TagKeys to be Name or \
             karpenter.sh/nodeclaim, but team and eks:eks-cluster-name are sent",
        ),
        (
            by(ROLE, "ec2:CreateTags", instance).with("aws:TagKeys", ["Name"]),
            "statement Tag of policy X wants aws:ResourceTag/kubernetes.io/cluster/c to be \
             owned, but it is not sent",
        ),
        (
            by(ROLE, "ec2:DescribeInstanceStatus", "*").with("aws:RequestedRegion", "eu-west-1"),
            "statement Read of policy X does not list ec2:DescribeInstanceStatus",
        ),
        (by(ROLE, "iam:ListInstanceProfiles", "*"), "no identity policy has a statement for it"),
        (
            by(ROLE, "ec2:CreateVolume", "*")
                .with("aws:RequestTag/c", "prod")
                .with("aws:RequestTag/d", "")
                .with("ec2:VolumeSize", "200")
                .with("aws:PrincipalTag/c", "test"),
            "Statement[3] of policy X wants aws:RequestTag/c to be test, but prod is sent; it \
             also wants aws:RequestTag/d not to be sent, but an empty value is sent; it also \
             wants ec2:VolumeSize to be less than 100, but 200 is sent",
        ),
        (
            by(ROLE, "ec2:CreateVolume", "*")
                .with("aws:RequestTag/c", "prod")
                .with("ec2:VolumeSize", "20"),
            "Statement[3] of policy X wants aws:RequestTag/c to be ${aws:PrincipalTag/c}, but \
             aws:PrincipalTag/c has no value",
        ),
    ];
    for (request, want) in rows {
        let decision = set.decide(&request);
        assert_eq!(decision.to_string(), want, "{decision:?}");
        let json = serde_json::to_string(&decision).unwrap();
        assert_eq!(serde_json::from_str::<Decision>(&json).unwrap(), decision);
    }
}
