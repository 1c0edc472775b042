//! Reads the text of a denied AWS call: who, what, on which resource, and which policy said no.

use serde::Serialize;

use super::{normalize::squash_cased, principal::Principal, window::begins_record};

/// Squashed pieces by which such texts are found.
pub const ANCHORS: &[&str] =
    &["notauthorizedtoperform", "isntauthorizedtocall", "unauthorizedtocall"];

/// A call that AWS refused for want of permission.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Denial {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub principal: Option<Principal>,
    /// Such as `ec2:RunInstances`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    pub effect: Effect,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layer: Option<Layer>,
    /// The ARN of the denying policy, if the text has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// For `sts:DecodeAuthorizationMessage`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoded: Option<String>,
}

/// How the call was denied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// A statement denies it.
    Explicit,
    /// No statement allows it.
    Implicit,
    /// The text does not say.
    Unknown,
}

/// Which kind of policy denied it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    Identity,
    Boundary,
    Session,
    ServiceControl,
    ResourceControl,
    VpcEndpoint,
    Resource,
    Trust,
}

/// The squashed names of the layers in AWS's texts and in Karpenter's.
const LAYERS: &[(&str, Layer)] = &[
    ("identity-basedpolicy", Layer::Identity),
    ("identitybasedpolicy", Layer::Identity),
    ("permissionsboundary", Layer::Boundary),
    ("permissionboundary", Layer::Boundary),
    ("sessionpolicy", Layer::Session),
    ("servicecontrolpolicy", Layer::ServiceControl),
    ("resourcecontrolpolicy", Layer::ResourceControl),
    ("vpcendpointpolicy", Layer::VpcEndpoint),
    ("resource-basedpolicy", Layer::Resource),
    ("roletrustpolicy", Layer::Trust),
];

/// What can come after an action or a resource, squashed.
const ENDS: &[&str] = &[
    "onresource",
    "onarn:",
    "becauseno",
    "withanexplicitdeny",
    "encodedauthorization",
    "statuscode",
    "(service:",
    "dueto",
    ",",
    ";",
    "}",
    ")",
    "\n",
];

/// Reads the denial whose anchor stands at `at` in `raw`. `None` if it is a part of another
/// text that is read by itself.
pub fn read(raw: &[u8], at: usize) -> Option<Denial> {
    let (text, at) = unwrapped(raw, at);
    let before = squash_cased(&text[..at]);
    let after = squash_cased(&text[at..]);
    let lower_before = before.to_ascii_lowercase();
    let lower = after.to_ascii_lowercase();
    let anchor = ANCHORS.iter().find(|anchor| lower.starts_with(**anchor))?;
    let rest = lower[anchor.len()..].trim_start_matches(':');
    let offset = lower.len() - rest.len();
    let verdict = if rest.starts_with("thisoperation") {
        if is_prelude(&lower_before, rest) {
            return None;
        }
        rest
    } else {
        until(rest, "\n")
    };
    let action = action(&after[offset..], rest);
    let resource = resource(&after[offset..], rest);
    let (effect, layer, policy) = verdict_of(verdict, &after[offset..]);
    let layer = layer.or_else(|| {
        action.as_deref().filter(|name| name.ends_with("WithWebIdentity")).map(|_| Layer::Trust)
    });
    let encoded = encoded(&after, &lower);
    let principal = principal(&before, &lower_before);
    Some(Denial { principal, action, resource, effect, layer, policy, encoded })
}

/// Whether "you are not authorized to perform this operation" is but the first half of a
/// text that names the action, or the second half of Karpenter's.
fn is_prelude(before: &str, rest: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default();
    let follows = line.len() < 4000 && line.contains("tauthorizedtocall");
    follows || until(rest, "\n").contains("isnotauthorizedtoperform:")
}

fn until<'text>(text: &'text str, end: &str) -> &'text str {
    text.split(end).next().unwrap_or_default()
}

/// The first part of `text`, up to whatever can come after it.
fn up_to_end<'text>(text: &'text str, lower: &str) -> &'text str {
    let end = ENDS.iter().filter_map(|end| lower.find(end)).min().unwrap_or(lower.len());
    text[..end].trim_end_matches(['.', ':'])
}

fn action(text: &str, lower: &str) -> Option<String> {
    let action = up_to_end(text, lower);
    // Karpenter's own texts put a colon and a reason after the action.
    let parts: Vec<_> = action.split(':').collect();
    let [service, name, ..] = parts[..] else { return None };
    let plain = |text: &str| {
        !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '*')
    };
    (plain(service) && plain(name)).then(|| format!("{service}:{name}"))
}

fn resource(text: &str, lower: &str) -> Option<String> {
    let line = until(lower, "\n");
    let start = line
        .find("onresource")
        .map(|at| at + "onresource".len())
        .or_else(|| line.find("onarn:").map(|at| at + "on".len()))?;
    let start = start + usize::from(lower[start..].starts_with(':'));
    let resource = up_to_end(&text[start..], &lower[start..]);
    let spaced = resource.strip_prefix("instanceprofile").filter(|name| !name.starts_with('/'));
    match spaced {
        _ if resource.is_empty() => None,
        Some(name) => Some(format!("instance profile {name}")),
        None => Some(resource.to_owned()),
    }
}

fn verdict_of(lower: &str, text: &str) -> (Effect, Option<Layer>, Option<String>) {
    let layer_at = |rest: &str| {
        LAYERS.iter().find(|(name, _)| rest.starts_with(name)).map(|&(name, layer)| (layer, name))
    };
    if let Some(at) = lower.find("withanexplicitdeny") {
        let after = at + "withanexplicitdeny".len();
        let rest = lower[after..].strip_prefix("ina").unwrap_or(&lower[after..]);
        let rest =
            rest.strip_prefix('n').filter(|rest| rest.starts_with("identity")).unwrap_or(rest);
        let found = layer_at(rest);
        let policy = found.and_then(|(_, name)| {
            let start = lower.len() - rest.len() + name.len();
            let start = start + usize::from(lower[start..].starts_with(':'));
            lower[start..]
                .starts_with("arn:")
                .then(|| up_to_end(&text[start..], &lower[start..]).to_owned())
        });
        return (Effect::Explicit, found.map(|(layer, _)| layer), policy);
    }
    if let Some(at) = lower.find("becauseno") {
        let layer = layer_at(&lower[at + "becauseno".len()..]);
        return (Effect::Implicit, layer.map(|(layer, _)| layer), None);
    }
    if let Some(at) = lower.find("duetoa") {
        let layer = layer_at(&lower[at + "duetoa".len()..]);
        return (Effect::Unknown, layer.map(|(layer, _)| layer), None);
    }
    (Effect::Unknown, None, None)
}

fn encoded(text: &str, lower: &str) -> Option<String> {
    const LABEL: &str = "encodedauthorizationfailuremessage:";
    let start = until(lower, "\n").find(LABEL)? + LABEL.len();
    let end = lower[start..].find("statuscode").map_or(text.len(), |end| start + end);
    let message: String = text[start..end]
        .chars()
        .take_while(|&c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
        .collect();
    (!message.is_empty()).then_some(message)
}

fn principal(before: &str, lower: &str) -> Option<Principal> {
    let start = lower.rfind("user:")? + "user:".len();
    let text = &before[start..];
    let name = text.strip_suffix("is").unwrap_or(text);
    let one_name = !name.is_empty() && !name.contains(['\n', '"', ' ', '{']) && name.len() < 300;
    one_name.then(|| Principal::new(name))
}

/// The text without the line ends that were put in to fit it to a width, and where the
/// position `at` now is.
fn unwrapped(raw: &[u8], at: usize) -> (Vec<u8>, usize) {
    /// Nobody wraps narrower than this.
    const NARROWEST: usize = 40;
    let mut out = Vec::with_capacity(raw.len());
    let mut start = 0;
    let mut dropped = 0;
    for end in memchr::memchr_iter(b'\n', raw) {
        let line = &raw[start..end];
        let next = raw[end + 1..].split(|&byte| byte == b'\n').next().unwrap_or_default();
        out.extend_from_slice(line);
        start = end + 1;
        if line.len() < NARROWEST || next.trim_ascii().is_empty() || begins_part(next) {
            out.push(b'\n');
        } else if end < at {
            dropped += 1;
        }
    }
    out.extend_from_slice(&raw[start..]);
    (out, at - dropped)
}

/// Whether a line begins something of its own.
fn begins_part(line: &[u8]) -> bool {
    const BEGINNINGS: [&[u8]; 7] = [
        b"status code",
        b"caused by",
        b"Reason:",
        b"Message:",
        b"Observed Generation",
        b"Status:",
        b"Type:",
    ];
    let text = line.trim_ascii_start();
    begins_record(line) || BEGINNINGS.iter().any(|beginning| text.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::errors::{PrincipalKind, explain::explain};

    fn denials(text: &str) -> Vec<Denial> {
        let found = explain(text.as_bytes()).unwrap().denials;
        found.into_iter().map(|counted| counted.what).collect()
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
        let json = format!(
            "{{\"level\":\"ERROR\",\"error\":{},\"a\":\"b\"}}",
            serde_json::Value::from(FULL)
        );
        assert_eq!(one(&json), wanted);
        assert_eq!(
            one(&format!("\u{1b}[31m{FULL}\u{1b}[0m\n2025-01-01T00:00:00Z INFO next")),
            wanted
        );
    }

    #[test]
    fn the_layer_is_read() {
        let user =
            "User: arn:aws:iam::111122223333:user/a is not authorized to perform: s3:GetObject";
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
        let found = explain(text.as_bytes()).unwrap().denials;
        assert_eq!(found.iter().map(|denial| denial.seen.count).collect::<Vec<_>>(), [2]);
    }
}
