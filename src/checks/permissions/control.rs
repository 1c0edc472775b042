//! The organisation's policies as layers of a decision, as far as they were read.

use super::grants::parse;
use crate::{
    facts::{
        Fact, arn,
        organizations::{Attached, Level, Organization},
    },
    iam::{Entry, NamedPolicy},
    outcome::Unknown,
    requirements::Request,
};

/// Services whose resources a resource control policy protects; no other request is touched.
/// <https://docs.aws.amazon.com/organizations/latest/userguide/orgs_manage_policies_rcps.html>
const RESOURCE_CONTROLLED: &[&str] = &[
    "aoss",
    "cognito-identity",
    "cognito-idp",
    "dynamodb",
    "ecr",
    "kms",
    "logs",
    "s3",
    "secretsmanager",
    "sqs",
    "sts",
];

/// What the organisation says to the account of a role.
#[derive(Default)]
pub struct Control {
    /// One list a level, root first; none where service control policies are not in use.
    pub service: Vec<Vec<NamedPolicy>>,
    /// The same of resource control policies.
    pub resource: Vec<Vec<NamedPolicy>>,
    /// Condition keys that follow from the place in the organisation.
    pub context: Vec<(&'static str, Entry)>,
    /// Why something that is attached could not be read.
    pub unread: Option<Unknown>,
    account: String,
}

impl Control {
    /// What bears on this role. Nothing does where the organisation is not visible (a note of the
    /// target says so), and nothing limits its management account.
    pub fn of(organization: &Fact<Organization>, role_arn: &str) -> Self {
        let Some(found) = organization.value() else { return Self::default() };
        if arn::account(role_arn) != Some(&found.account) {
            return Self::default();
        }
        let mut control = Self { account: found.account.clone(), ..Self::default() };
        let id = || Entry::from(found.id.as_str());
        control.context.push(("aws:PrincipalOrgID", id()));
        let Some(levels) = found.levels.value() else { return control };
        control.context.push(("aws:PrincipalOrgPaths", Entry::List(vec![path(found, levels)])));
        for level in levels {
            control.add(found, level);
        }
        control
    }

    fn add(&mut self, organization: &Organization, level: &Level) {
        let service = self.policies(organization, level, &level.service_control);
        let resource = self.policies(organization, level, &level.resource_control);
        // Where none is attached, policies of this kind are not switched on.
        self.service.extend((!service.is_empty()).then_some(service));
        self.resource.extend((!resource.is_empty()).then_some(resource));
    }

    fn policies(
        &mut self,
        organization: &Organization,
        level: &Level,
        attached: &Fact<Vec<Attached>>,
    ) -> Vec<NamedPolicy> {
        let attached = match attached.known() {
            Ok(attached) => attached,
            Err(unseen) => {
                let why = format!("which policies are attached to {}: {unseen}", level.id);
                self.unread.get_or_insert_with(|| Unknown::new(why));
                return Vec::new();
            }
        };
        let mut policies = Vec::new();
        for Attached { id, name } in attached {
            let what = format!("the organisation's policy {name} ({id})");
            match parse(&what, &shown(id, name), organization.policies.get(id)) {
                Ok(policy) => policies.push(policy),
                Err(unknown) => {
                    self.unread.get_or_insert(unknown);
                }
            }
        }
        policies
    }

    /// Whether resource control policies have a say in a request.
    pub fn protects(&self, request: &Request) -> bool {
        !self.resource.is_empty()
            && RESOURCE_CONTROLLED.contains(&request.service())
            && self.owns(request)
    }

    /// Whether the request is for a resource of the account, which is a part of the organisation.
    pub fn owns(&self, request: &Request) -> bool {
        arn::account(&request.resource) == Some(&self.account)
    }
}

/// How a decision names a policy of the organisation.
pub fn shown(id: &str, name: &str) -> String {
    format!("{name} ({id})")
}

/// The account's place, as AWS writes it: `o-…/r-…/ou-…/`.
fn path(organization: &Organization, levels: &[Level]) -> String {
    let above = levels.iter().filter(|level| level.id != organization.account);
    above.fold(format!("{}/", organization.id), |path, level| format!("{path}{}/", level.id))
}
