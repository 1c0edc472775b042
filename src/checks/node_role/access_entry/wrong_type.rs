//! An entry of a type under which the product's nodes cannot join.

use super::{
    Applicant, WINDOWS, aws_auth, is_type,
    remedy::{self, entry_type},
};
use crate::{
    facts::{Unseen, eks::AccessEntry},
    outcome::{Finding, Remedy},
    target::Product,
};

impl<'a> Applicant<'a> {
    /// A Windows NodeClass whose nodes come in under an entry for Linux.
    pub(super) fn windows_under_linux(&self, entry: &AccessEntry) -> Option<&'a str> {
        let facts = self.cx.kubernetes().ok()?;
        (self.product == Product::Karpenter && !is_type(entry, WINDOWS))
            .then(|| aws_auth::windows_class(facts, self.name))?
    }

    pub(super) fn for_windows(&self, entry: &AccessEntry, class: &str) -> Finding {
        let arn = &entry.principal_arn;
        let seen = format!(
            "EC2NodeClass {class} is for Windows, and the access entry of {arn}, its role, is of \
             type {}.",
            entry.entry_type
        );
        let words = format!(
            "Give Windows nodes a role of their own with an entry of type {WINDOWS}, and name it in \
             {class}. If no Linux node runs with this role, delete its entry and create it again."
        );
        Finding::fail(
            seen,
            "Windows nodes join, but kube-proxy lacks the group eks:kube-proxy-windows: their pods \
             resolve no names and reach no Service.",
        )
        .errors(&["windows-dns"])
        .evidence("eks:DescribeAccessEntry", "accessEntry.type", &entry.entry_type)
        .mend(remedy::create_again(self.cx, Remedy::new(words), arn, WINDOWS))
    }

    pub(super) fn wrong_type(&self, entry: &AccessEntry) -> Finding {
        let (arn, wanted) = (&entry.principal_arn, entry_type(self.product));
        let finding = self
            .refused(format!(
                "The access entry of {arn} is of type {}; nodes of {} need {wanted}.{}",
                entry.entry_type,
                self.product.title(),
                self.beside_aws_auth(arn)
            ))
            .evidence("eks:DescribeAccessEntry", "accessEntry.type", &entry.entry_type);
        finding.mend(match self.other_user(entry) {
            Ok(Some(other)) => Remedy::new(format!(
                "{other} needs the entry as it is, and a role can have only one. {}",
                self.role_of_its_own()
            )),
            Ok(None) => {
                let mut words = "The type of an entry cannot be changed: delete it and create it \
                                 again. Access policies associated with the old one go with it."
                    .to_owned();
                if is_for_instances(entry) {
                    words += " First make sure that no self-managed nodes run with this role.";
                }
                remedy::create_again(self.cx, Remedy::new(words), arn, wanted)
            }
            Err(unseen) => {
                let words = format!(
                    "What else runs nodes with this role is not known ({unseen}), and it would \
                     need the entry as it is: look at the managed node groups and at Karpenter's \
                     NodeClasses first. If nothing does, delete the entry and create it again \
                     with type {wanted}. If something does: {}",
                    self.role_of_its_own()
                );
                remedy::look_at_other_users(self.cx, Remedy::new(words))
            }
        })
    }

    fn role_of_its_own(&self) -> String {
        format!(
            "Create a node role for {} alone, with an entry of type {}, and name it in the \
             NodeClass.",
            self.product.title(),
            entry_type(self.product)
        )
    }

    /// Who else runs nodes with this role and needs the entry's present type.
    fn other_user(&self, entry: &AccessEntry) -> Result<Option<String>, Unseen> {
        match self.product {
            Product::Karpenter => Ok((is_type(entry, "EC2") && self.cluster.auto_mode.compute)
                .then(|| "EKS Auto Mode".to_owned())),
            Product::AutoMode if is_for_instances(entry) => {
                if let Ok(Some(group)) = self.node_group(&entry.principal_arn) {
                    return Ok(Some(group));
                }
                let target = self.cx.target;
                let mut roles = target.node_roles.iter().chain(&target.other_node_roles);
                if roles.any(|role| role.product == Product::Karpenter && role.name == self.name) {
                    return Ok(Some("Karpenter".to_owned()));
                }
                self.node_group(&entry.principal_arn)?;
                // Whether Karpenter's trace was looked for.
                self.cx.facts.instance_profiles.found()?;
                target.product_unseen.clone().map_or(Ok(None), Err)
            }
            Product::AutoMode => Ok(None),
        }
    }
}

/// Whether the entry is for instances that are not Auto Mode's.
fn is_for_instances(entry: &AccessEntry) -> bool {
    is_type(entry, "EC2_LINUX") || is_type(entry, WINDOWS)
}
