//! The cluster lets instances with the node role in.

mod policy;
mod remedy;
#[cfg(test)]
mod tests;
mod wrong_type;

use self::remedy::entry_type;
use super::{each, existing};
use crate::{
    checks::{Area, Check, Context, Stop, Verdicts},
    facts::{
        Fact, Unseen, arn,
        eks::{AccessEntry, AuthenticationMode, Cluster},
        iam::Role,
    },
    outcome::{Finding, Remedy, Unknown},
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
    errors: &["node-not-registered", "kubelet-unauthorized", "unauthorized-node-role"],
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
whole cluster for EKS Auto Mode. The entry is not older than its role.

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
    Ok(each(cx, |role| {
        Applicant { cx, cluster: cx.cluster()?, name: &role.name, product: role.product }
            .judge(role)
    }))
}

/// A node role before the cluster that its nodes are to join.
struct Applicant<'a> {
    cx: &'a Context<'a>,
    cluster: &'a Cluster,
    name: &'a str,
    product: Product,
}

impl Applicant<'_> {
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
            Some(entry) => self.of_right_type(entry, role),
            None => self.without_entry(role?),
        }
    }

    fn mode(&self) -> AuthenticationMode {
        self.cluster.authentication_mode
    }

    /// The role's entry: by ARN, or where the role was not read by its name, of which there is
    /// one in an account.
    fn entry(&self, role: Option<&Role>) -> Result<Option<&AccessEntry>, Stop> {
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
             it belongs to an earlier role of that name.",
            role.arn
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
            (Product::Karpenter, _) => self.by_aws_auth(role),
        }
    }

    fn no_entry(&self, role: &Role) -> Finding {
        let ignored = match self.mode() {
            AuthenticationMode::Api => ", and the cluster ignores aws-auth",
            _ => "",
        };
        let mend = Remedy::new("Give the role an access entry.");
        self.refused(format!("{} has no access entry{ignored}.", role.arn))
            .evidence("eks:ListAccessEntries", "accessEntries", format!("no {}", role.arn))
            .evidence(
                "eks:DescribeCluster",
                "cluster.accessConfig.authenticationMode",
                self.mode().as_str(),
            )
            .mend(remedy::create(self.cx, mend, &role.arn, entry_type(self.product)))
    }

    /// The ConfigMap decides. That EKS maps the roles of managed node groups there by itself
    /// (<https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html>) is a
    /// hint and no proof: the mapping may have been taken out since.
    fn by_aws_auth(&self, role: &Role) -> Result<Finding, Stop> {
        let mut why = format!(
            "whether {} may join: the ConfigMap aws-auth decides, and it was not read",
            role.arn
        );
        let account = arn::account(&role.arn).unwrap_or("<account>");
        let mut look = remedy::look_into_aws_auth(self.cx, account, &role.name);
        if self.mode() == AuthenticationMode::ApiAndConfigMap {
            why += "; the role has no access entry";
            look.words += " Or settle it with an access entry, which wins over aws-auth.";
            look = remedy::create(self.cx, look, &role.arn, entry_type(self.product));
        }
        if let Ok(Some(group)) = self.node_group(&role.arn) {
            why += &format!("; likely yes, for it is also the role of {group}, which EKS maps");
        }
        Err(Stop::Unknown(Unknown { remedy: Some(look), ..Unknown::new(why) }))
    }

    /// The managed node group that has this role.
    fn node_group(&self, role_arn: &str) -> Result<Option<String>, Unseen> {
        let groups = self.cx.facts.node_groups.known()?;
        let has_it = |arn: &str| arn.eq_ignore_ascii_case(role_arn);
        let group = groups.iter().find(|g| g.node_role_arn.as_deref().is_some_and(has_it));
        Ok(group.map(|group| format!("the managed node group {}", group.name)))
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
