//! Reads the text of a denied AWS call: who, what, on which resource, and which policy said no.

use std::ops::RangeInclusive;

use schemars::JsonSchema;
use serde::Serialize;

use super::{normalize::squash_cased, principal::Principal, window::begins_record};

/// Squashed pieces by which such texts are found.
pub const ANCHORS: &[&str] =
    &["notauthorizedtoperform", "isntauthorizedtocall", "unauthorizedtocall"];

/// A call that AWS refused for want of permission.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
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
    let line = until(rest, "\n");
    if is_part_of_another(anchor, &lower_before, line) {
        return None;
    }
    // One line can tell of several denials, as the errors of a fleet do.
    let line = until(line, "isnotauthorizedtoperform:");
    let text = &after[offset..offset + line.len()];
    let action = action(text, line);
    let resource = resource(text, line);
    let (effect, layer, policy) = verdict_of(line, text);
    let layer = layer.or_else(|| {
        action.as_deref().filter(|name| name.ends_with("WithWebIdentity")).map(|_| Layer::Trust)
    });
    let encoded = encoded(text, line);
    let principal = principal(&before, &lower_before);
    Some(Denial { principal, action, resource, effect, layer, policy, encoded })
}

/// The denial of which a text is nothing but the encoded message: a person has copied the long
/// word out of an error.
pub fn encoded_alone(text: &[u8]) -> Option<Denial> {
    /// The shortest that AWS gives are longer, the longest shorter.
    const LENGTH: RangeInclusive<usize> = 150..=20_000;
    // Also wrapped, quoted, or as the shell's history has it.
    let blank = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`\\".contains(byte);
    let message: Vec<u8> = text.iter().copied().filter(|byte| !blank(byte)).collect();
    let is_word = message.iter().all(|&byte| is_encoded(char::from(byte)));
    let kinds: [fn(&u8) -> bool; 3] =
        [u8::is_ascii_lowercase, u8::is_ascii_uppercase, u8::is_ascii_digit];
    let is_mixed = kinds.iter().all(|is_kind| message.iter().any(is_kind));
    let encoded = String::from_utf8(message).ok()?;
    (is_word && is_mixed && LENGTH.contains(&encoded.len())).then_some(Denial {
        principal: None,
        action: None,
        resource: None,
        effect: Effect::Unknown,
        layer: None,
        policy: None,
        encoded: Some(encoded),
    })
}

fn is_encoded(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '_'
}

/// Whether it is but the first half of a text that names the action by AWS's own words, or
/// the second half of Karpenter's.
fn is_part_of_another(anchor: &str, before: &str, line: &str) -> bool {
    let general = line.starts_with("thisoperation");
    let first_half = general || !anchor.ends_with("toperform");
    let line_before = before.rsplit('\n').next().unwrap_or_default();
    (first_half && line.contains("isnotauthorizedtoperform:"))
        || (general && line_before.contains("tauthorizedtocall"))
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
    let start = lower
        .find("onresource")
        .map(|at| at + "onresource".len())
        .or_else(|| lower.find("onarn:").map(|at| at + "on".len()))?;
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
    let start = lower.find(LABEL)? + LABEL.len();
    let end = lower[start..].find("statuscode").map_or(text.len(), |end| start + end);
    let message: String = text[start..end].chars().take_while(|&c| is_encoded(c)).collect();
    (!message.is_empty()).then_some(message)
}

fn principal(before: &str, lower: &str) -> Option<Principal> {
    let start = lower.rfind("user:")? + "user:".len();
    let text = &before[start..];
    let name = text.strip_suffix("is").unwrap_or(text);
    let allowed = |c: char| c.is_ascii_alphanumeric() || ":/+=.@_-*".contains(c);
    let one_name = !name.is_empty() && name.len() < 300 && name.chars().all(allowed);
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
