//! The organisation's policies as layers of a decision, as far as they were read.

use super::document::parse;
use crate::{
    facts::{
        Fact, arn,
        organizations::{Attached, Level, Organization},
    },
    iam::{Entry, NamedPolicy},
    outcome::Unknown,
    requirements::Request,
};

/// Services whose resources a resource control policy protects; no other request is touched. The
/// list has grown from five in 2024; as of 2026-10-01.
/// <https://docs.aws.amazon.com/organizations/latest/userguide/orgs_manage_policies_rcps.html#rcp-supported-services>
const RESOURCE_CONTROLLED: &[&str] = &[
    "aoss",
    "appconfig",
    "appstream",
    "autoscaling",
    "autoscaling-plans",
    "budgets",
    "clouddirectory",
    "cloudfront",
    "cloudsearch",
    "cloudtrail-data",
    "codeartifact",
    "codebuild",
    "codecommit",
    "codepipeline",
    "cognito-identity",
    "cognito-idp",
    "comprehend",
    "comprehendmedical",
    "compute-optimizer",
    "cost-optimization-hub",
    "dax",
    "dsql",
    "dynamodb",
    "ecr",
    "ecr-public",
    "events",
    "firehose",
    "fis",
    "fms",
    "gamelift",
    "health",
    "inspector-scan",
    "kendra",
    "kinesisvideo",
    "kms",
    "logs",
    "memorydb",
    "networkmonitor",
    "notifications",
    "opensearch",
    "pca-connector-ad",
    "personalize",
    "polly",
    "pricing",
    "resource-groups",
    "rolesanywhere",
    "s3",
    "secretsmanager",
    "servicediscovery",
    "signin",
    "sqs",
    "sts",
    "support",
    "swf",
    "textract",
    "timestream-influxdb",
    "transcribe",
    "transfer",
    "translate",
    "wafv2",
    "workspaces",
    "xray",
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
        if !found.is_of_files() {
            control.context.push(("aws:PrincipalOrgID", Entry::from(found.id.as_str())));
        }
        let Some(levels) = found.levels.value() else { return control };
        if !found.is_of_files() {
            let path = path(found, levels);
            control.context.push(("aws:PrincipalOrgPaths", Entry::List(vec![path])));
        }
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

    /// Whether resource control policies have a say in a request. One for no resource falls under
    /// those of the caller's account.
    pub fn protects(&self, request: &Request) -> bool {
        !self.resource.is_empty()
            && RESOURCE_CONTROLLED.contains(&request.service())
            && (request.resource == "*" || self.owns(request))
    }

    /// Whether the request is for a resource of the account, which is a part of the organisation.
    pub fn owns(&self, request: &Request) -> bool {
        arn::account(&request.resource) == Some(&self.account)
    }
}

/// How a decision names a policy of the organisation.
pub fn shown(id: &str, name: &str) -> String {
    if id == name { name.to_owned() } else { format!("{name} ({id})") }
}

/// The account's place, as AWS writes it: `o-…/r-…/ou-…/`.
fn path(organization: &Organization, levels: &[Level]) -> String {
    let above = levels.iter().filter(|level| level.id != organization.account);
    above.fold(format!("{}/", organization.id), |path, level| format!("{path}{}/", level.id))
}
