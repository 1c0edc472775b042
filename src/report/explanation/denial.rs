//! Denied calls: who, what, on which resource, and which policy said no.

use std::io::{self, Write};

use super::{
    Decoding, ShownDenial,
    rows::{Rows, heading},
};
use crate::{
    errors::{DecodedMessage, Denial, Effect, Layer, Principal, PrincipalKind},
    report::style::Style,
};

/// Writes one denial.
pub(super) fn write(shown: &ShownDenial, out: &mut dyn Write, style: Style) -> io::Result<()> {
    let rows = Rows { style, indent: 4, labels: 10 };
    let (denial, seen) = (&shown.counted.what, &shown.counted.seen);
    let decoded = match &shown.decoded {
        Some(Decoding::Message(message)) => Some(message),
        _ => None,
    };
    let action = denial.action.as_ref().or(decoded.and_then(|message| message.action.as_ref()));
    let action = action.map_or("an action that the text does not name", String::as_str);
    heading("Denied call", action, seen, out, style)?;
    let principal = decoded.and_then(|message| message.principal.as_ref());
    if let Some(principal) = denial.principal.as_ref().or(principal) {
        rows.row("Caller", &principal.arn, out)?;
        if let Some(note) = diagnosis(principal, action) {
            rows.row("", &note, out)?;
        }
    }
    let resource = decoded.and_then(|message| message.resource.as_ref());
    if let Some(resource) = denial.resource.as_ref().or(resource) {
        rows.row("Resource", resource, out)?;
    }
    rows.row("Why", &why(denial, decoded), out)?;
    if let Some(policy) = &denial.policy {
        rows.row("Policy", policy, out)?;
    }
    match &shown.decoded {
        Some(Decoding::Message(message)) => details(message, rows, out),
        Some(Decoding::Failed(why)) => rows.row("Encoded", &format!("not decoded: {why}"), out),
        None => Ok(()),
    }
}

/// Calls that a node makes for itself: its kubelet, its network plug-in, its agents.
const CALLS_OF_NODES: &[&str] = &[
    "ecr:",
    "ecr-public:",
    "eks-auth:",
    "ssm:UpdateInstanceInformation",
    "ec2:AssignPrivateIpAddresses",
    "ec2:AssignIpv6Addresses",
    "ec2:AttachNetworkInterface",
    "ec2:CreateNetworkInterface",
    "ec2:DescribeNetworkInterfaces",
    "ec2:ModifyNetworkInterfaceAttribute",
    "ec2:UnassignPrivateIpAddresses",
];

/// What the caller's own name says about how it got its credentials.
fn diagnosis(principal: &Principal, action: &str) -> Option<String> {
    let role = principal.role.as_deref().unwrap_or("its role");
    match &principal.kind {
        PrincipalKind::NodeCredentials { instance }
            if CALLS_OF_NODES.iter().any(|call| action.starts_with(call)) =>
        {
            Some(format!(
                "The node {instance} makes this call for itself: {role} lacks a policy that \
                 nodes need."
            ))
        }
        PrincipalKind::NodeCredentials { instance } => Some(format!(
            "These are the credentials of the node {instance}, not of a pod. If it is the \
             controller that calls, its own role is not bound to it: give its service account a \
             Pod Identity association, or the annotation `eks.amazonaws.com/role-arn`, and add \
             nothing to {role}."
        )),
        PrincipalKind::PodIdentity => Some(format!("{role}, through a Pod Identity association.")),
        PrincipalKind::WebIdentity => {
            Some(format!("{role}, through the service account's web identity token."))
        }
        PrincipalKind::RoleSession | PrincipalKind::Other => None,
    }
}

/// Which kind of policy said no, and so where to mend it.
fn why(denial: &Denial, decoded: Option<&DecodedMessage>) -> String {
    let effect = match (denial.effect, decoded) {
        (Effect::Unknown, Some(message)) => message.effect,
        (effect, _) => effect,
    };
    let text = match (denial.layer, effect) {
        (Some(layer), Effect::Implicit) => not_allowed(layer),
        (Some(layer), Effect::Explicit | Effect::Unknown) => denied(layer),
        (None, Effect::Explicit) => {
            "A statement denies it explicitly; the text does not say in which policy. More \
             permissions do not help: find the statement and exempt the caller."
        }
        (None, Effect::Implicit) => {
            "No statement allows it. Add the action to the caller's policy, with the resource \
             above."
        }
        (None, Effect::Unknown) if denial.encoded.is_some() => {
            "The encoded message has it, as it has the caller and the call."
        }
        (None, Effect::Unknown) => {
            "The text does not say which policy. CloudTrail has the whole message under this \
             action."
        }
    };
    text.to_owned()
}

fn not_allowed(layer: Layer) -> &'static str {
    match layer {
        Layer::Identity => {
            "No policy of the caller allows it. Add the action with this resource, and look at \
             the conditions of a statement that has it already."
        }
        Layer::Boundary => {
            "The caller's permissions boundary does not allow it, whatever its policies say. The \
             boundary must have the action too."
        }
        Layer::Session => {
            "The session's own policy does not allow it: whoever took the role passed a narrower \
             policy along."
        }
        Layer::ServiceControl => {
            "No service control policy of your organization allows it. Ask whoever administers \
             the organization; a policy in the account cannot mend it."
        }
        Layer::ResourceControl => {
            "No resource control policy of the resource's organization allows it."
        }
        Layer::VpcEndpoint => {
            "The policy of the VPC endpoint that the call went through does not allow it. Mend \
             the endpoint's policy."
        }
        Layer::Resource => {
            "The resource's own policy does not allow the caller. It must, where the resource is \
             another account's or a key."
        }
        Layer::Trust => {
            "The role's trust policy does not let this caller take the role. Compare its provider, \
             subject and audience with the service account."
        }
    }
}

fn denied(layer: Layer) -> &'static str {
    match layer {
        Layer::Identity => {
            "A policy of the caller itself denies it. More permissions do not help: take the deny \
             out, or its condition."
        }
        Layer::Boundary => "The caller's permissions boundary denies it. Mend the boundary.",
        Layer::Session => {
            "The session's own policy denies it: look at who takes the role, and how."
        }
        Layer::ServiceControl => {
            "A service control policy of your organization denies it. No policy in the account can \
             mend that: have the role exempted, or the condition met."
        }
        Layer::ResourceControl => {
            "A resource control policy of the resource's organization denies it. Have the caller \
             exempted there."
        }
        Layer::VpcEndpoint => {
            "The policy of the VPC endpoint that the call went through denies it. Mend the \
             endpoint's policy."
        }
        Layer::Resource => "The resource's own policy denies it. Mend that policy.",
        Layer::Trust => {
            "The role's trust policy does not let this caller take the role. Compare its provider, \
             subject and audience with the service account."
        }
    }
}

fn details(message: &DecodedMessage, rows: Rows, out: &mut dyn Write) -> io::Result<()> {
    if !message.statements.is_empty() {
        rows.row("Matched", &message.statements.join(", "), out)?;
    }
    let conditions = message.conditions.iter();
    let lines: Vec<_> =
        conditions.map(|(key, values)| format!("{key} = {}", values.join(", "))).collect();
    if lines.is_empty() {
        return Ok(());
    }
    rows.lines("Context", lines.iter().map(String::as_str), out)
}
