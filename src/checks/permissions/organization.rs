//! The organisation's policies leave the roles what they need.

use super::{
    Grants, ROLE_POLICIES, Refused, distinct_actions,
    exempt::exempt,
    limits::{Limit, each_role},
};
use crate::{
    checks::{Area, Check, Context, Stop, Verdicts, remedies::listed},
    facts::{Unseen, iam::Role, organizations::Organization},
    iam::{Decision, Layer},
    outcome::{Finding, Unknown},
    requirements::Request,
    target::Product,
};

pub static CHECK: Check = Check {
    id: "organization-policies",
    title: "The organisation's policies leave the roles what they need",
    area: Area::Controller,
    products: &[Product::Karpenter, Product::AutoMode],
    errors: &[
        "denied-by-organization-policy",
        "denied-by-resource-control-policy",
        "unauthorized-operation",
    ],
    needs: &[
        "organizations:DescribeOrganization",
        "organizations:DescribePolicy",
        "organizations:ListParents",
        "organizations:ListPoliciesForTarget",
        ROLE_POLICIES,
        "iam:ListInstanceProfiles",
        "eks:DescribeAccessEntry",
        "eks:DescribeCluster",
        "eks:DescribePodIdentityAssociation",
        "eks:ListAccessEntries",
        "eks:ListPodIdentityAssociations",
    ],
    doc: "\
## What
No service control policy (SCP) or resource control policy (RCP) of the AWS organisation, from its
root down to this account, takes away what the own policies of the controller's role, of the node
roles, or with EKS Auto Mode of the cluster's role allow. Their conditions are judged too.

Only the organisation's management account, and the accounts that it delegates this to, may read
these policies. Where they are not visible, the check is skipped and says so. Nothing limits the
management account itself.

## Why
SCPs are written for people and pipelines: only these regions, only instances with IMDSv2, no
changes of roles. Karpenter's calls fall under them as well, and no policy in the account helps.

## Seen as
`with an explicit deny in a service control policy`, `because no service control policy allows the
... action`, or `with an explicit deny in a resource control policy`.

## Fix
Have the owners of the organisation exempt the role, or allow the action at the level that the
finding names.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    visible(cx)?;
    each_role(cx, &judge)
}

/// The organisation, if its policies were read and bear on this account.
fn visible<'a>(cx: &Context<'a>) -> Result<&'a Organization, Stop> {
    let organization = match cx.facts.organization.found() {
        Ok(Some(organization)) => organization,
        Ok(None) => return Err(Stop::skipped("the account is in no organisation")),
        Err(unseen) => return Err(not_visible(unseen)),
    };
    if organization.is_management_account() {
        return Err(Stop::skipped(format!(
            "{} is the management account of its organisation: no policy of that limits it",
            organization.account
        )));
    }
    match organization.levels.known() {
        Ok(_) => Ok(organization),
        Err(unseen) => Err(not_visible(unseen)),
    }
}

/// Not unknown: most accounts may not read them, and their runs are complete all the same. A
/// note of the target says that permissions are judged without them.
fn not_visible(unseen: Unseen) -> Stop {
    let why = format!("the organisation's policies are not visible from here: {unseen}");
    match Stop::from(unseen) {
        Stop::Unknown(unknown) => Stop::LeftOut(Unknown { why, ..unknown }),
        stop => stop,
    }
}

fn judge(
    cx: &Context<'_>,
    role: &Role,
    grants: &Grants,
    requests: Vec<Request>,
) -> Result<Finding, Stop> {
    let organization = visible(cx)?;
    let limit = Limit {
        role,
        refuses: Refused::by_organization,
        allowed_without: Grants::allows_without_organization,
        pass: format!("the policies of {} leave {} what it needs", organization.words(), role.name),
        name: "The organisation",
    };
    let seen = |refused: &[Refused]| {
        format!(
            "{} of {} takes {} from {}, which its own policies allow.",
            culprits(refused),
            organization.words(),
            listed(&distinct_actions(refused)),
            role.name
        )
    };
    limit.judge(cx, grants, requests, seen, |refused| exempt(organization, role, grants, refused))
}

/// The policies that deny, each once; or the want of one that allows.
fn culprits(refused: &[Refused]) -> String {
    let mut names: Vec<String> = Vec::new();
    for refused in refused {
        let name = match &refused.decision {
            Decision::Denied { layer, statement } => format!("the {layer} {}", statement.policy),
            Decision::NotAllowed { layer: Layer::ServiceControl, .. } => {
                "the want of a service control policy that allows it".to_owned()
            }
            _ => continue,
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let text = listed(&names);
    text[..1].to_uppercase() + &text[1..]
}

#[cfg(test)]
mod tests;
