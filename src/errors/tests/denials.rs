//! Denied calls are read part by part.

use super::explained;
use crate::errors::{Denial, Effect, Layer, PrincipalKind};

fn denials(text: &str) -> Vec<Denial> {
    explained(text).denials.into_iter().map(|counted| counted.what).collect()
}

fn one(text: &str) -> Denial {
    let mut all = denials(text);
    assert_eq!(all.len(), 1, "{all:#?}");
    all.remove(0)
}

const FULL: &str = "operation error EC2: RunInstances, https response error StatusCode: 403, \
    RequestID: 5a1d, api error UnauthorizedOperation: You are not authorized to perform this \
    operation. User: arn:aws:sts::111122223333:assumed-role/KarpenterNodeRole/i-0123456789abcdef0 \
    is not authorized to perform: ec2:RunInstances on resource: \
    arn:aws:ec2:us-east-1:111122223333:instance/* because no identity-based policy allows the \
    ec2:RunInstances action. Encoded authorization failure message: ABC-def_123";

#[test]
fn every_part_is_read() {
    let denial = one(FULL);
    let principal = denial.principal.unwrap();
    assert_eq!(principal.role.as_deref(), Some("KarpenterNodeRole"));
    assert_eq!(principal.account.as_deref(), Some("111122223333"));
    let instance = "i-0123456789abcdef0".to_owned();
    assert_eq!(principal.kind, PrincipalKind::NodeCredentials { instance });
    assert_eq!(denial.action.as_deref(), Some("ec2:RunInstances"));
    let resource = "arn:aws:ec2:us-east-1:111122223333:instance/*";
    assert_eq!(denial.resource.as_deref(), Some(resource));
    assert_eq!((denial.effect, denial.layer), (Effect::Implicit, Some(Layer::Identity)));
    assert_eq!(denial.encoded.as_deref(), Some("ABC-def_123"));
}

#[test]
fn wrapping_and_escaping_change_nothing() {
    let wanted = one(FULL);
    let characters: Vec<char> = FULL.chars().collect();
    for width in [60, 80, 97] {
        let lines: Vec<String> =
            characters.chunks(width).map(|line| line.iter().collect()).collect();
        assert_eq!(one(&lines.join("\n")), wanted, "{width}");
        assert_eq!(one(&lines.join("\r\n")), wanted, "{width}");
    }
    let json =
        format!("{{\"level\":\"ERROR\",\"error\":{},\"a\":\"b\"}}", serde_json::Value::from(FULL));
    assert_eq!(one(&json), wanted);
    assert_eq!(one(&format!("\u{1b}[31m{FULL}\u{1b}[0m\n2025-01-01T00:00:00Z INFO next")), wanted);
}

#[test]
fn the_layer_is_read() {
    let user = "User: arn:aws:iam::111122223333:user/a is not authorized to perform: s3:GetObject";
    let rows = [
        (
            "because no identity-based policy allows the s3:GetObject action",
            Effect::Implicit,
            Some(Layer::Identity),
        ),
        (
            "because no resource-based policy allows the s3:GetObject action",
            Effect::Implicit,
            Some(Layer::Resource),
        ),
        (
            "because no permissions boundary allows the s3:GetObject action",
            Effect::Implicit,
            Some(Layer::Boundary),
        ),
        (
            "because no session policy allows the s3:GetObject action",
            Effect::Implicit,
            Some(Layer::Session),
        ),
        (
            "because no service control policy allows the s3:GetObject action",
            Effect::Implicit,
            Some(Layer::ServiceControl),
        ),
        (
            "because no VPC endpoint policy allows the s3:GetObject action",
            Effect::Implicit,
            Some(Layer::VpcEndpoint),
        ),
        (
            "with an explicit deny in an identity-based policy",
            Effect::Explicit,
            Some(Layer::Identity),
        ),
        (
            "with an explicit deny in a service control policy",
            Effect::Explicit,
            Some(Layer::ServiceControl),
        ),
        (
            "with an explicit deny in a resource control policy",
            Effect::Explicit,
            Some(Layer::ResourceControl),
        ),
        (
            "with an explicit deny in a permissions boundary",
            Effect::Explicit,
            Some(Layer::Boundary),
        ),
        (
            "with an explicit deny in a VPC endpoint policy",
            Effect::Explicit,
            Some(Layer::VpcEndpoint),
        ),
        ("with an explicit deny", Effect::Explicit, None),
        ("", Effect::Unknown, None),
    ];
    for (verdict, effect, layer) in rows {
        for resource in ["", " on resource: arn:aws:s3:::b/*"] {
            let text = format!("{user}{resource} {verdict}");
            let denial = one(&text);
            assert_eq!((denial.effect, denial.layer), (effect, layer), "{text}");
            assert_eq!(denial.action.as_deref(), Some("s3:GetObject"), "{text}");
            assert_eq!(denial.resource.is_some(), !resource.is_empty(), "{text}");
        }
    }
}

#[test]
fn a_named_policy_is_read() {
    let arn = "arn:aws:organizations::111122223333:policy/o-abc/service_control_policy/p-0a1b";
    let text = format!(
        "User: arn:aws:sts::1:assumed-role/r/s is not authorized to perform: ec2:RunInstances on \
         resource: arn:aws:ec2:::image/* with an explicit deny in a service control policy: {arn}"
    );
    assert_eq!(one(&text).policy.as_deref(), Some(arn));
}

#[test]
fn short_forms_are_read() {
    let denial = one(
        "AccessDenied: Not authorized to perform sts:AssumeRoleWithWebIdentity\n\tstatus code: 403",
    );
    assert_eq!(denial.action.as_deref(), Some("sts:AssumeRoleWithWebIdentity"));
    assert_eq!(denial.layer, Some(Layer::Trust));
    let denial = one(
        "Controller isn't authorized to call ec2:RunInstances: User is not authorized to perform this operation due to a service control policy",
    );
    assert_eq!(denial.action.as_deref(), Some("ec2:RunInstances"));
    assert_eq!(denial.layer, Some(Layer::ServiceControl));
    let denial = one(
        "User is not authorized to perform this operation because no identity-based policy allows it",
    );
    assert_eq!((denial.action, denial.layer), (None, Some(Layer::Identity)));
    let denial = one(
        "is not authorized to perform: iam:GetInstanceProfile on resource: instance profile dev-eks_1534 because no identity-based policy allows the iam:GetInstanceProfile action",
    );
    assert_eq!(denial.resource.as_deref(), Some("instance profile dev-eks_1534"));
    let denial = one(
        "UnauthorizedOperation: You are not authorized to perform this operation. Encoded authorization failure message: abc\n\tstatus code: 403, request id: x",
    );
    assert_eq!((denial.action, denial.encoded.as_deref()), (None, Some("abc")));
}

#[test]
fn a_resource_ends_where_its_line_ends() {
    let text = "2025-01-01T00:00:00Z User: arn:aws:sts::1:assumed-role/r/1699999999999999999 is not authorized to perform: sts:AssumeRole on resource: arn:aws:iam::1:role/r\n2025-01-01T00:00:01Z INFO next";
    let denial = one(text);
    assert_eq!(denial.resource.as_deref(), Some("arn:aws:iam::1:role/r"));
    assert_eq!(denial.principal.unwrap().kind, PrincipalKind::WebIdentity);
}

#[test]
fn like_denials_are_counted_together() {
    let text = format!(
        "2025-01-01T00:00:00Z {FULL}\n2025-01-01T00:00:01Z {}\n",
        FULL.replace("ABC", "XYZ")
    );
    let found = explained(&text).denials;
    assert_eq!(found.iter().map(|denial| denial.seen.count).collect::<Vec<_>>(), [2]);
}

#[test]
fn several_denials_of_one_line_are_kept_apart() {
    let first = "UnauthorizedOperation: You are not authorized to perform this operation. User: \
        arn:aws:sts::1:assumed-role/r/s is not authorized to perform: iam:PassRole on resource: \
        arn:aws:iam::1:role/n because no identity-based policy allows the iam:PassRole action";
    let second = first.replace("iam:PassRole", "ec2:RunInstances").replace(
        "because no identity-based policy allows the ec2:RunInstances action",
        "with an explicit deny in a service control policy",
    );
    let found = denials(&format!("with fleet error(s), {first}; {second}"));
    let read: Vec<_> = found
        .iter()
        .map(|denial| (denial.action.as_deref(), denial.effect, denial.layer))
        .collect();
    assert_eq!(
        read,
        [
            (Some("ec2:RunInstances"), Effect::Explicit, Some(Layer::ServiceControl)),
            (Some("iam:PassRole"), Effect::Implicit, Some(Layer::Identity)),
        ]
    );
}

#[test]
fn an_encoded_message_may_come_alone() {
    let message = "4Gdp_xQ2-b7TzYk9".repeat(20);
    let wrapped = message.as_bytes().chunks(76).map(String::from_utf8_lossy);
    let wrapped = wrapped.collect::<Vec<_>>().join("\n");
    for text in [message.clone(), format!("{message}\n"), format!("\"{message}\""), wrapped] {
        let denial = one(&text);
        assert_eq!(denial.encoded.as_deref(), Some(message.as_str()), "{text}");
        assert_eq!((denial.effect, denial.action), (Effect::Unknown, None));
    }
    for text in ["4Gdp_xQ2-b7TzYk9", &"abc ".repeat(60), &"0123456789".repeat(30)] {
        assert!(denials(text).is_empty(), "{text}");
    }
    assert!(denials(&format!("see {message}: what is it?")).is_empty());
}
