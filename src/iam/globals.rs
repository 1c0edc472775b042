//! The global condition keys: those that follow from the principal, and those that nobody
//! can know before the request is made.
//!
//! <https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-keys.html>

use crate::iam::context::{Context, Entry};
use crate::iam::principal::Principal;

/// A key that no service sends, and that counts as unknown wherever the other global keys do: a
/// statement under a condition on it stands for one of which nobody knows yet whether it applies.
pub const NOT_KNOWN_YET: &str = "preflight:NotKnownYet";

/// Keys that depend on the network, the organisation, the session or the moment.
const UNKNOWABLE: &[&str] = &[
    "aws:AssumedRoot",
    "aws:CalledVia",
    "aws:CalledViaFirst",
    "aws:CalledViaLast",
    "aws:CurrentTime",
    "aws:Ec2InstanceSourcePrivateIPv4",
    "aws:Ec2InstanceSourceVpc",
    "aws:EpochTime",
    "aws:FederatedProvider",
    "aws:MultiFactorAuthAge",
    "aws:MultiFactorAuthPresent",
    "aws:PrincipalOrgID",
    "aws:PrincipalOrgPaths",
    "aws:Referer",
    "aws:ResourceAccount",
    "aws:ResourceOrgID",
    "aws:ResourceOrgPaths",
    "aws:SourceIdentity",
    "aws:SourceIp",
    "aws:SourceVpc",
    "aws:SourceVpcArn",
    "aws:SourceVpce",
    "aws:TokenIssueTime",
    "aws:UserAgent",
    "aws:ViaAWSService",
    "aws:VpcSourceIp",
    "aws:VpceAccount",
    "aws:VpceOrgID",
    "aws:VpceOrgPaths",
    "aws:userid",
    "ec2:RoleDelivery",
    "ec2:SourceInstanceArn",
    NOT_KNOWN_YET,
];

/// Declares unknown what nobody can know, where nothing is said about it. Only TLS is taken
/// for granted: no SDK talks to AWS without it.
pub(crate) fn forget(context: &mut Context) {
    context.set_default("aws:SecureTransport", "true".into());
    for key in UNKNOWABLE {
        context.set_default(key, Entry::Unknown);
    }
}

/// Sets the keys that follow from the principal alone.
pub(crate) fn describe(principal: &Principal, context: &mut Context) {
    let mut set = |key: &str, value: &str| context.set(key, value.into());
    let (arn, kind) = match principal {
        Principal::User(arn) => {
            set("aws:username", arn.resource_name());
            (Some(arn), "User")
        }
        Principal::Role(session) => (Some(&session.role), "AssumedRole"),
        Principal::Root(arn) => (Some(arn), "Account"),
        Principal::FederatedUser(arn) => (Some(arn), "FederatedUser"),
        Principal::Anonymous => (None, "Anonymous"),
        Principal::Federated(_) => return,
        Principal::Service(name) => {
            set("aws:PrincipalServiceName", name);
            set("aws:PrincipalIsAWSService", "true");
            return;
        }
    };
    set("aws:PrincipalType", kind);
    set("aws:PrincipalIsAWSService", "false");
    if let Some(arn) = arn {
        set("aws:PrincipalArn", &arn.to_string());
        set("aws:PrincipalAccount", &arn.account);
    }
}
