//! How to give a role what it lacks.

use super::Refused;
use crate::{
    checks::{
        Context,
        remedies::{listed, quote},
    },
    facts::{arn, iam::Role},
    outcome::Remedy,
    requirements::policy::Policy,
};

/// Adds the steps that give a role these policies: a new version of one that is attached under
/// the same name, else an inline policy, which needs no free name in the account.
pub fn add_policies(cx: &Context<'_>, remedy: Remedy, role: &Role, policies: &[Policy]) -> Remedy {
    let attached = cx.facts.role_policies.get(&role.name).map(|policies| &policies.attached);
    let attached = attached.and_then(|attached| attached.value());
    policies.iter().fold(remedy, |remedy, policy| {
        let file = format!("{}.json", policy.name);
        let document = quote(&format!("file://{file}"));
        let same_name = attached
            .into_iter()
            .flatten()
            .find(|arn| arn::role_name(arn) == policy.name && arn::account(arn) != Some("aws"));
        let command = match same_name {
            Some(arn) => format!(
                "aws iam create-policy-version --policy-arn {} --policy-document {document} \
                 --set-as-default",
                quote(arn)
            ),
            None => format!(
                "aws iam put-role-policy --role-name {} --policy-name {} --policy-document \
                 {document}",
                quote(&role.name),
                quote(&policy.name)
            ),
        };
        remedy.document(file, &policy.document).run(command)
    })
}

/// What to do about refusals that no further policy mends, if that is all there are.
pub fn without_policy(role: &Role, refused: &[Refused]) -> Option<Remedy> {
    if refused.iter().any(|refused| !refused.outlives_a_new_policy()) {
        return None;
    }
    let mut statements: Vec<String> = Vec::new();
    for refused in refused {
        let decision = refused.decision.to_string();
        if !statements.contains(&decision) {
            statements.push(decision);
        }
    }
    if refused.iter().all(Refused::by_organization) {
        return Some(Remedy::new(format!(
            "The policies of {} allow this, and the organisation refuses it: {}. Have its owners \
             exempt the role (see organization-policies).",
            role.name,
            listed(&statements)
        )));
    }
    let words = match refused.iter().all(Refused::by_boundary) {
        true => format!(
            "The policies of {} allow this, and its permissions boundary {} does not: widen the \
             boundary (see permissions-boundary), or take it off the role.",
            role.name,
            role.boundary.as_deref().unwrap_or_default()
        ),
        false => format!(
            "A further policy does not help, since something takes away what policies of {} \
             allow: {}. Narrow or remove that.",
            role.name,
            listed(&statements)
        ),
    };
    Some(Remedy::new(words))
}
