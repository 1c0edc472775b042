//! How to give a role what it lacks.

use serde_json::{Value, json};

use super::Refused;
use crate::{
    checks::{
        Context,
        remedies::{listed, quote},
    },
    facts::{arn, iam::Role},
    iam::{self, NamedPolicy, PolicySet, Principal},
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

/// The Sids of those statements that allow what is refused, so that nobody has to look for what is
/// new in a whole policy; nothing where all of them do.
pub fn statements_for(policies: &[Policy], refused: &[Refused], by: &Principal) -> Vec<String> {
    let statements = policies.iter().filter_map(|policy| policy.document["Statement"].as_array());
    let statements: Vec<_> = statements.flatten().collect();
    let allows = |statement: &&&Value| {
        let text = json!({"Version": "2012-10-17", "Statement": [statement]}).to_string();
        let Ok(policy) = iam::Policy::parse(&text) else { return false };
        let identity = vec![NamedPolicy::new("printed", policy)];
        let set = PolicySet { identity, ..PolicySet::default() };
        let mut lacking = refused.iter().filter(|refused| !refused.outlives_a_new_policy());
        lacking.any(|refused| set.decide(&refused.request.by(by.clone())).is_allowed())
    };
    let sids: Vec<_> = statements
        .iter()
        .filter(allows)
        .filter_map(|statement| statement["Sid"].as_str().map(str::to_owned))
        .collect();
    if sids.len() < statements.len() { sids } else { Vec::new() }
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
