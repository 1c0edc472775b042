//! How the owners of an organisation let a role do what their policies refuse.

use serde_json::{Value, json};

use super::{Grants, Refused, control::shown, distinct_actions};
use crate::{
    checks::remedies::{listed, quote},
    facts::{
        iam::Role,
        organizations::{Attached, Organization},
    },
    iam::{Decision, StatementRef},
    outcome::Remedy,
};

/// For each denying statement an exemption, and an allow at each level that lacks one. These are
/// steps for whoever owns the organisation, with credentials of its management account.
pub fn exempt(
    organization: &Organization,
    role: &Role,
    grants: &Grants,
    refused: &[Refused],
) -> Remedy {
    let mut remedy = Remedy::new(match organization.is_of_files() {
        true => format!(
            "No policy of the role mends it. Exempt {}, or narrow the statement; the documents \
             are the present policies with the exemption.",
            role.name
        ),
        false => format!(
            "No policy in this account mends it. Ask the owners of {} (management account {}) to \
             exempt {}, or to narrow the statement; the commands are theirs to run.",
            organization.words(),
            organization.management_account,
            role.name
        ),
    });
    let mut seen: Vec<&StatementRef> = Vec::new();
    for refused in refused {
        let Decision::Denied { statement, .. } = &refused.decision else { continue };
        if !seen.contains(&statement) {
            seen.push(statement);
        }
    }
    for (id, name) in policies_of(organization, &seen) {
        let of_policy: Vec<_> = seen.iter().filter(|s| s.policy == shown(id, name)).collect();
        let document = organization.policies.get(id).and_then(|document| document.value());
        let exempted = document.and_then(|text| exempted(text, &of_policy, &role.arn));
        let Some(document) = exempted else { continue };
        let file = format!("{}.json", name.trim_end_matches(".json"));
        if organization.is_of_files() {
            remedy = remedy.document(file, &document);
            continue;
        }
        let command = format!(
            "aws organizations update-policy --policy-id {} --content {}",
            quote(id),
            quote(&format!("file://{file}"))
        );
        remedy = remedy.document(file, &document).run(command);
    }
    allow(organization, grants, refused, remedy)
}

/// The policies that these statements are in, each once.
fn policies_of<'a>(
    organization: &'a Organization,
    statements: &[&StatementRef],
) -> Vec<(&'a str, &'a str)> {
    let levels = organization.levels.value().into_iter().flatten();
    let kinds = levels.flat_map(|level| [&level.service_control, &level.resource_control]);
    let attached = kinds.filter_map(|attached| attached.value()).flatten();
    let mut found = Vec::new();
    for Attached { id, name } in attached {
        let denies = statements.iter().any(|statement| statement.policy == shown(id, name));
        let policy = (id.as_str(), name.as_str());
        if denies && !found.contains(&policy) {
            found.push(policy);
        }
    }
    found
}

/// The document with the role exempted from these of its statements.
fn exempted(document: &str, statements: &[&&StatementRef], role: &str) -> Option<Value> {
    const KEY: &str = "aws:PrincipalArn";
    let mut document: Value = serde_json::from_str(document).ok()?;
    let all = document.get_mut("Statement")?;
    if all.is_object() {
        *all = Value::Array(vec![all.take()]);
    }
    for statement in statements {
        let condition = &mut all.get_mut(statement.index)?["Condition"];
        let exempt = &mut condition["ArnNotLike"][KEY];
        let mut roles = match exempt.take() {
            Value::Array(roles) => roles,
            Value::Null => Vec::new(),
            one => vec![one],
        };
        roles.push(role.into());
        *exempt = Value::Array(roles);
    }
    Some(document)
}

/// Adds a policy for each level at which none allows what is asked.
fn allow(
    organization: &Organization,
    grants: &Grants,
    refused: &[Refused],
    remedy: Remedy,
) -> Remedy {
    let lacks = |refused: &&Refused| matches!(refused.decision, Decision::NotAllowed { .. });
    let lacking: Vec<&Refused> = refused.iter().filter(lacks).collect();
    let mut targets: Vec<&str> = Vec::new();
    for refused in &lacking {
        for level in grants.levels_without_allow(&refused.request) {
            let level = organization.levels.value().and_then(|levels| levels.get(level));
            if let Some(level) = level.filter(|level| !targets.contains(&level.id.as_str())) {
                targets.push(&level.id);
            }
        }
    }
    if targets.is_empty() {
        return remedy;
    }
    let (ids, targets) = (&targets, listed(&targets));
    let mut actions = distinct_actions(refused);
    actions.retain(|action| lacking.iter().any(|refused| refused.request.action == *action));
    let document = json!({"Version": "2012-10-17", "Statement": [
        {"Sid": "LeaveToKarpenter", "Effect": "Allow", "Action": actions, "Resource": "*"}]});
    let mut remedy = remedy.document("LeaveToKarpenter.json", &document);
    remedy.words = format!(
        "{} A service control policy must allow the call at every level: attach one to {targets}{}",
        remedy.words,
        match organization.is_of_files() {
            true => ".",
            false => ", with the id that the first command prints.",
        }
    );
    if organization.is_of_files() {
        return remedy;
    }
    let create = "aws organizations create-policy --name LeaveToKarpenter --description \
        'What Karpenter calls' --type SERVICE_CONTROL_POLICY --content file://LeaveToKarpenter.json";
    ids.iter().fold(remedy.run(create), |remedy, target| {
        remedy.run(format!(
            "aws organizations attach-policy --policy-id \"$POLICY_ID\" --target-id {}",
            quote(target)
        ))
    })
}
