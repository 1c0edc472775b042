//! The ConfigMap `aws-auth` lets instances with the node role in, where it decides.

mod document;
mod lookup;
mod remedy;
#[cfg(test)]
mod tests;
mod yaml;

use self::lookup::{AwsAuth, Found};
use super::{
    access_entry::{Applicant, remedy::look_into_aws_auth},
    each, existing,
};
use crate::{
    checks::{Area, Check, Context, Stop, Verdicts, node_classes::is_windows},
    facts::{
        arn,
        eks::AuthenticationMode,
        iam::Role,
        kubernetes::{self, node_class::NodeClass},
    },
    outcome::{Finding, Unknown},
    target::{NodeRole, Product},
};

const API: &str = "configmap kube-system/aws-auth";

/// The user that a node must be: the authenticator puts the instance's private DNS name in
/// (`pkg/server/server.go`).
const USERNAME: &str = "system:node:{{EC2PrivateDNSName}}";
const NODES: &str = "system:nodes";
const BOOTSTRAPPERS: &str = "system:bootstrappers";
const WINDOWS: &str = "eks:kube-proxy-windows";

pub static CHECK: Check = Check {
    id: "node-role-aws-auth",
    title: "aws-auth maps the node role, where it decides",
    area: Area::Join,
    products: &[Product::Karpenter],
    errors: &[
        "node-not-registered",
        "kubelet-unauthorized",
        "kubelet-node-forbidden",
        "windows-dns",
    ],
    needs: &[
        "eks:DescribeCluster",
        "eks:ListAccessEntries",
        "eks:DescribeAccessEntry",
        "iam:GetRole",
    ],
    doc: "\
## What
Where a node role has no access entry and the cluster reads the ConfigMap `aws-auth`, its
`mapRoles` holds a mapping for the role: the ARN without any path, the user name
`system:node:{{EC2PrivateDNSName}}`, and the groups `system:bootstrappers` and `system:nodes`. For
roles with an access entry, and in clusters that do not read the ConfigMap, `node-role-access-entry`
gives the verdict, and this check is skipped.

## Why
`mapRoles` is a text, and nobody tells you when it is wrong: a fault in the YAML loses every
mapping, a mapping of the wrong form is left out, of several for one role the last one counts, and
a role with its path, an instance profile or another account's role matches no node.

## Seen as
`Unable to register node with API server` with `Unauthorized` in the kubelet's log, and `Node not
registered with cluster` on the NodeClaim.

## Fix
`aws eks create-access-entry --type EC2_LINUX`, which wins over `aws-auth`; in a cluster that knows
only the ConfigMap, `eksctl create iamidentitymapping`.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    Ok(each(cx, |role| judge(cx, role)))
}

fn judge(cx: &Context<'_>, node_role: &NodeRole) -> Result<Finding, Stop> {
    if node_role.product == Product::AutoMode {
        return Err(Stop::skipped("nodes of EKS Auto Mode need access entries"));
    }
    let applicant = Applicant::new(cx, node_role)?;
    let role = existing(cx, node_role)?;
    leave_to_entry(&applicant, role)?;
    let unread = |stop| unread(cx, &applicant, role, stop);
    let facts = cx.kubernetes().map_err(unread)?;
    let Some(config_map) = facts.aws_auth.found().map_err(|unseen| unread(unseen.into()))? else {
        return Ok(remedy::map(
            &Case { cx, applicant: &applicant, role },
            refused(format!(
                "There is no ConfigMap aws-auth, and {} has no access entry.",
                role.arn
            ))
            .evidence(API, "ConfigMap", "not found"),
        ));
    };
    let case = Case { cx, applicant: &applicant, role };
    Ok(case.judge(&AwsAuth::read(config_map), windows_class(facts, &role.name)))
}

/// Where the ConfigMap maps a role, as far as it was read.
pub(super) fn place_of(cx: &Context<'_>, role_arn: &str) -> Option<String> {
    let facts = cx.kubernetes().ok()?;
    match AwsAuth::read(facts.aws_auth.value()?).find(role_arn) {
        Found::Mapped { mapping, list, .. } => Some(format!("line {} of {list}", mapping.line)),
        _ => None,
    }
}

/// Stops where the access entries give the verdict.
fn leave_to_entry(applicant: &Applicant<'_>, role: &Role) -> Result<(), Stop> {
    let entry = match applicant.mode() {
        AuthenticationMode::ConfigMap => return Ok(()),
        AuthenticationMode::Api => {
            return Err(Stop::skipped("the cluster does not read aws-auth"));
        }
        AuthenticationMode::ApiAndConfigMap => applicant.entry(Some(role)),
    };
    match entry {
        Ok(None) => Ok(()),
        Ok(Some(_)) => Err(Stop::skipped("the role has an access entry, which wins over aws-auth")),
        // One would win.
        Err(stop) => Err(stop),
    }
}

/// The ConfigMap was not read. That EKS maps the roles of managed node groups there by itself
/// (<https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html>) is a
/// hint and no proof: the mapping may have been taken out since.
fn unread(cx: &Context<'_>, applicant: &Applicant<'_>, role: &Role, stop: Stop) -> Stop {
    let (reason, missing_action) = match stop {
        Stop::Unknown(unknown) | Stop::LeftOut(unknown) => (unknown.why, unknown.missing_action),
        Stop::Skipped(why) => (why, None),
    };
    let mut why =
        format!("whether {} may join: aws-auth decides, and it was not read ({reason})", role.arn);
    let account = arn::account(&role.arn).unwrap_or("<account>");
    let mut look = look_into_aws_auth(cx, account, &role.name);
    if applicant.mode() == AuthenticationMode::ApiAndConfigMap {
        look.words += " Or settle it with an access entry, which wins over aws-auth.";
        look = remedy::create_entry(cx, look, &role.arn);
    }
    if let Ok(Some(group)) = applicant.node_group(&role.arn) {
        why += &format!("; likely yes, for it is also the role of {group}, which EKS maps");
    }
    Stop::Unknown(Unknown { remedy: Some(look), missing_action, ..Unknown::new(why) })
}

/// The name of a Windows NodeClass that runs nodes with this role.
pub(super) fn windows_class<'a>(facts: &'a kubernetes::Kubernetes, role: &str) -> Option<&'a str> {
    let has_role = |class: &&NodeClass| class.role.as_deref().map(arn::role_name) == Some(role);
    let classes = facts.ec2_node_classes.value()?;
    classes
        .iter()
        .filter(has_role)
        .find(|class| is_windows(class))
        .map(|class| class.meta.name.as_str())
}

/// A node role on which the ConfigMap decides.
struct Case<'a> {
    cx: &'a Context<'a>,
    applicant: &'a Applicant<'a>,
    role: &'a Role,
}

impl Case<'_> {
    fn judge(&self, auth: &AwsAuth, windows: Option<&str>) -> Finding {
        let arn = &self.role.arn;
        match auth.find(arn) {
            Found::Mapped { mapping, list, of } => {
                let place = match of {
                    1 => format!("line {} of {list}", mapping.line),
                    _ => format!("line {} of {list}, the last of {of} for it,", mapping.line),
                };
                self.mapped(mapping, &place, windows)
            }
            Found::Lost { line, why } => {
                let line = if line == 0 { String::new() } else { format!(" at line {line}") };
                let seen = format!(
                    "mapRoles in aws-auth cannot be read{line} ({why}), so that the cluster knows \
                     none of its roles, {arn} among them."
                );
                remedy::repair(self, refused(seen).evidence(API, "mapRoles", why))
            }
            Found::Near { line, arn: written, why } => {
                let seen = format!(
                    "Line {line} of mapRoles in aws-auth has {written} and matches no node of \
                     {arn}: {why}."
                );
                remedy::map(self, refused(seen).evidence(API, "mapRoles.rolearn", written))
            }
            Found::Bad { line, why } => {
                let seen = format!(
                    "The mapping at line {line} of mapRoles in aws-auth mentions {arn} and is left \
                     out: {why}."
                );
                remedy::map(self, refused(seen).evidence(API, "mapRoles", format!("line {line}")))
            }
            Found::Nowhere => {
                let seen = match self.applicant.mode() {
                    AuthenticationMode::ConfigMap => format!("aws-auth does not map {arn}."),
                    _ => format!("{arn} has no access entry, and aws-auth does not map it."),
                };
                remedy::map(self, refused(seen).evidence(API, "mapRoles", format!("no {arn}")))
            }
        }
    }

    fn mapped(&self, mapping: &document::Mapping, place: &str, windows: Option<&str>) -> Finding {
        let arn = &self.role.arn;
        let has = |wanted: &str| mapping.groups.iter().any(|group| group == wanted);
        let groups = match mapping.groups.as_slice() {
            _ if mapping.groups_are_no_list => "no groups, for `groups` is not a list".to_owned(),
            [] => "no groups".to_owned(),
            groups => format!("the groups `{}`", groups.join("`, `")),
        };
        let finding = if !has(NODES) {
            refused(format!("{arn} is mapped at {place} with {groups}, without `{NODES}`."))
                .evidence(API, "groups", groups)
        } else if mapping.username != USERNAME {
            self.wrong_name(mapping, place)
        } else if let Some(class) = windows.filter(|_| !has(WINDOWS)) {
            Finding::fail(
                format!(
                    "{arn} is mapped at {place} without the group `{WINDOWS}`, and the NodeClass \
                     {class} runs Windows nodes with it."
                ),
                "kube-proxy may not do its work on Windows nodes: pods there cannot resolve names.",
            )
            .errors(&["windows-dns"])
            .evidence(API, "groups", groups)
        } else if !has(BOOTSTRAPPERS) {
            Finding::warn(
                format!("{arn} is mapped at {place} without the group `{BOOTSTRAPPERS}`."),
                "AWS asks for both groups. Whatever a cluster grants to this one alone, such as \
                 the request for a kubelet's certificate, is refused to the nodes.",
            )
            .errors(&["kubelet-unauthorized"])
            .evidence(API, "groups", groups)
        } else {
            return Finding::pass(format!("{arn} is mapped at {place} of the nodes' form"));
        };
        remedy::correct(self, finding, mapping, windows.is_some())
    }

    fn wrong_name(&self, mapping: &document::Mapping, place: &str) -> Finding {
        let (arn, name) = (&self.role.arn, &mapping.username);
        let said = if name.is_empty() { "no user name".to_owned() } else { format!("`{name}`") };
        let seen = format!("{arn} is mapped at {place} as {said}, not as `{USERNAME}`.");
        let finding = if name == "system:node:{{SessionName}}" {
            Finding::warn(
                seen,
                "The node's name in the cluster is then its instance id. Nodes that register \
                 under their private DNS name, as those of Amazon's images do, are refused.",
            )
        } else {
            Finding::fail(
                seen,
                "The nodes are somebody else to the cluster and may not register themselves; they \
                 are replaced after 15 minutes, again and again.",
            )
        };
        finding
            .errors(&["kubelet-node-forbidden", "node-not-registered"])
            .evidence(API, "username", name)
    }
}

fn refused(seen: String) -> Finding {
    Finding::fail(
        seen,
        "The cluster refuses the nodes: instances start, never register, and are replaced after \
         15 minutes, again and again.",
    )
    .errors(&["node-not-registered", "kubelet-unauthorized"])
}
