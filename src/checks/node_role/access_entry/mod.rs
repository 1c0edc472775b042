//! The cluster lets instances with the node role in.

mod policy;
pub(super) mod remedy;
#[cfg(test)]
mod tests;
mod wrong_type;

use self::remedy::entry_type;
use super::{aws_auth, each, existing};
use crate::{
    checks::{Area, Check, Context, Stop, Verdicts},
    facts::{
        Fact, Unseen, arn,
        eks::{AccessEntry, AuthenticationMode, Cluster},
        iam::Role,
    },
    outcome::{Finding, Remedy},
    target::{NodeRole, Product},
};

/// How far the clocks of IAM and EKS may be apart, in seconds.
const CLOCKS_DIFFER: i64 = 5;
const WINDOWS: &str = "EC2_WINDOWS";

pub static CHECK: Check = Check {
    id: "node-role-access-entry",
    title: "The cluster lets the node role in",
    area: Area::Join,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &[
        "node-not-registered",
        "kubelet-unauthorized",
        "unauthorized-node-role",
        "windows-dns",
    ],
    needs: &[
        "eks:DescribeCluster",
        "eks:ListAccessEntries",
        "eks:DescribeAccessEntry",
        "eks:ListAssociatedAccessPolicies",
        "eks:ListNodegroups",
        "eks:DescribeNodegroup",
        "iam:GetRole",
    ],
    doc: "\
## What
Each node role has an access entry under which nodes may join: of type `EC2_LINUX` or
`EC2_WINDOWS` for Karpenter, of type `EC2` with the access policy `AmazonEKSAutoNodePolicy` for the
whole cluster for EKS Auto Mode. The entry is not older than its role. Where a role has no entry
and the cluster reads the ConfigMap `aws-auth`, `node-role-aws-auth` gives the verdict.

## Why
A node proves with its role who it is. Without an entry the cluster refuses it, unless the
ConfigMap `aws-auth` maps the role and the authentication mode reads it. Where both speak of a
role, the entry wins. An entry holds the inner id of its role: when a role is deleted and made
again under its name, the entry is dead. Windows nodes need a role of their own with an entry of
type `EC2_WINDOWS`.

## Seen as
`Unable to register node with API server` with `Unauthorized` in the kubelet's log, and `Node not
registered with cluster` on the NodeClaim; on EKS Auto Mode the NodeClass says
`UnauthorizedNodeRole`.

## Fix
`aws eks create-access-entry --cluster-name <cluster> --principal-arn <role ARN> --type EC2_LINUX`.
The type of an entry cannot be changed: delete a wrong one first.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    Ok(each(cx, |role| Applicant::new(cx, role)?.judge(role)))
}

/// A node role before the cluster that its nodes are to join.
pub(super) struct Applicant<'a> {
    cx: &'a Context<'a>,
    cluster: &'a Cluster,
    name: &'a str,
    product: Product,
}

impl<'a> Applicant<'a> {
    pub(super) fn new(cx: &'a Context<'a>, role: &'a NodeRole) -> Result<Self, Stop> {
        Ok(Self { cx, cluster: cx.cluster()?, name: &role.name, product: role.product })
    }

    fn judge(&self, node_role: &NodeRole) -> Result<Finding, Stop> {
        let role = match existing(self.cx, node_role) {
            Err(skipped @ Stop::Skipped(_)) => return Err(skipped),
            read => read,
        };
        let entry = match self.mode() {
            AuthenticationMode::ConfigMap => None,
            _ => self.entry(role.as_ref().ok().copied())?,
        };
        match entry {
            Some(entry) if !self.fits(entry) => Ok(self.wrong_type(entry)),
            Some(entry) => match self.windows_under_linux(entry) {
                Some(class) => Ok(self.for_windows(entry, class)),
                None => self.of_right_type(entry, role),
            },
            None => self.without_entry(role?),
        }
    }

    pub(super) fn mode(&self) -> AuthenticationMode {
        self.cluster.authentication_mode
    }

    /// The role's entry: by ARN, or where the role was not read by its name, of which there is
    /// one in an account.
    pub(super) fn entry(&self, role: Option<&Role>) -> Result<Option<&AccessEntry>, Stop> {
        let is_it = |principal: &str| match role {
            Some(role) => principal.eq_ignore_ascii_case(&role.arn),
            None => {
                arn::account(principal) == arn::account(&self.cluster.arn)
                    && principal.contains(":role/")
                    && arn::role_name(principal).eq_ignore_ascii_case(self.name)
            }
        };
        let entries = self.cx.facts.access_entries.known()?;
        let entry = entries.iter().find(|(principal, _)| is_it(principal));
        Ok(entry.map_or(Ok(None), |(_, entry)| Fact::found(entry))?)
    }

    fn fits(&self, entry: &AccessEntry) -> bool {
        is_type(entry, entry_type(self.product))
            || self.product == Product::Karpenter && is_type(entry, WINDOWS)
    }

    /// What is certain comes first: an unknown about one thing must not hide another's fault.
    fn of_right_type(
        &self,
        entry: &AccessEntry,
        role: Result<&Role, Stop>,
    ) -> Result<Finding, Stop> {
        let stale = role.and_then(|role| self.stale(entry, role));
        let policy = self.policy(entry);
        match (stale, policy) {
            (Ok(Some(finding)), _) | (_, Ok(Some(finding))) => Ok(finding),
            (Err(stop), _) | (_, Err(stop)) => Err(stop),
            (Ok(None), Ok(None)) => Ok(Finding::pass(format!(
                "{} has an access entry of type {}",
                entry.principal_arn, entry.entry_type
            ))),
        }
    }

    /// What is wrong if the entry is older than its role.
    fn stale(&self, entry: &AccessEntry, role: &Role) -> Result<Option<Finding>, Stop> {
        let (Some(entered), Some(created)) = (entry.created, role.created) else {
            return Err(Stop::unknown(format!(
                "whether the access entry of {} is older than the role: a date of creation is \
                 missing",
                role.arn
            )));
        };
        if entered.as_second() + CLOCKS_DIFFER >= created.as_second() {
            return Ok(None);
        }
        let finding = self.refused(format!(
            "The access entry of {} was made at {entered}, before the role itself at {created}: \
             it belongs to an earlier role of that name.{}",
            role.arn,
            self.beside_aws_auth(&role.arn)
        ));
        let mend = Remedy::new("Delete the entry and create it again for the present role.");
        Ok(Some(
            finding
                .evidence("eks:DescribeAccessEntry", "accessEntry.createdAt", entered.to_string())
                .evidence("iam:GetRole", "Role.CreateDate", created.to_string())
                .mend(remedy::create_again(self.cx, mend, &role.arn, self.type_of_new(entry))),
        ))
    }

    /// The type of the entry that replaces one: Windows stays Windows.
    fn type_of_new(&self, entry: &AccessEntry) -> &'static str {
        match self.product {
            Product::Karpenter if is_type(entry, WINDOWS) => WINDOWS,
            product => entry_type(product),
        }
    }

    fn without_entry(&self, role: &Role) -> Result<Finding, Stop> {
        match (self.product, self.mode()) {
            (Product::AutoMode, AuthenticationMode::ConfigMap) => {
                Err(Stop::skipped("the cluster has no access entries; see auth-mode"))
            }
            (Product::AutoMode, _) if !self.cluster.auto_mode.compute => Err(Stop::skipped(
                "EKS Auto Mode is off; EKS makes the entry of the role that you switch it on with",
            )),
            (Product::AutoMode, _) | (Product::Karpenter, AuthenticationMode::Api) => {
                Ok(self.no_entry(role))
            }
            (Product::Karpenter, _) => Err(Stop::skipped(
                "there is no entry, and aws-auth decides; see node-role-aws-auth",
            )),
        }
    }

    fn no_entry(&self, role: &Role) -> Finding {
        let ignored = match self.mode() {
            AuthenticationMode::Api => ", and the cluster ignores aws-auth",
            _ => "",
        };
        let aside = self.beside_aws_auth(&role.arn);
        let mend = Remedy::new("Give the role an access entry.");
        self.refused(format!("{} has no access entry{ignored}.{aside}", role.arn))
            .evidence("eks:ListAccessEntries", "accessEntries", format!("no {}", role.arn))
            .evidence(
                "eks:DescribeCluster",
                "cluster.accessConfig.authenticationMode",
                self.mode().as_str(),
            )
            .mend(remedy::create(self.cx, mend, &role.arn, entry_type(self.product)))
    }

    /// The managed node group that has this role.
    pub(super) fn node_group(&self, role_arn: &str) -> Result<Option<String>, Unseen> {
        let groups = self.cx.facts.node_groups.known()?;
        let has_it = |arn: &str| arn.eq_ignore_ascii_case(role_arn);
        let group = groups.iter().find(|g| g.node_role_arn.as_deref().is_some_and(has_it));
        Ok(group.map(|group| format!("the managed node group {}", group.name)))
    }

    /// That a mapping in `aws-auth` does not help, where there is one.
    fn beside_aws_auth(&self, role_arn: &str) -> String {
        let why = match self.mode() {
            _ if self.product == Product::AutoMode => return String::new(),
            AuthenticationMode::ConfigMap => return String::new(),
            AuthenticationMode::Api => "the cluster does not read it",
            AuthenticationMode::ApiAndConfigMap => "the entry wins over it",
        };
        match aws_auth::place_of(self.cx, role_arn) {
            Some(place) => format!(" The mapping at {place} in aws-auth does not help: {why}."),
            None => String::new(),
        }
    }

    fn refused(&self, seen: String) -> Finding {
        match self.product {
            Product::Karpenter => Finding::fail(
                seen,
                "The cluster refuses the nodes: instances start, never register, and are \
                 replaced after 15 minutes, again and again.",
            )
            .errors(&["node-not-registered", "kubelet-unauthorized"]),
            Product::AutoMode => Finding::fail(
                seen,
                "The NodeClass that has this role is not ready, and no node is launched for it.",
            )
            .errors(&["unauthorized-node-role"]),
        }
    }
}

fn is_type(entry: &AccessEntry, kind: &str) -> bool {
    entry.entry_type.eq_ignore_ascii_case(kind)
}
