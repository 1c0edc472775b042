//! What `aws iam get-account-authorization-details` prints.

use serde_json::Value;

use super::{Document, Found, Role, Unseen, list};

pub(super) fn add(found: &mut Found, account: &Value) -> Result<(), String> {
    for role in list(account, "RoleDetailList") {
        found.roles.push(read(role, account)?);
    }
    Ok(())
}

fn read(detail: &Value, account: &Value) -> Result<Role, String> {
    let text = |value: &Value, field: &str| value[field].as_str().unwrap_or_default().to_owned();
    let name = text(detail, "RoleName");
    let mut role = Role { arn: detail["Arn"].as_str().map(str::to_owned), ..Role::default() };
    if let Some(trust) = detail.get("AssumeRolePolicyDocument") {
        role.trust = Some(Ok(Document::new(&format!("trust policy of {name}"), trust)?));
    }
    for policy in list(detail, "RolePolicyList") {
        role.identity.push(Document::new(&text(policy, "PolicyName"), &policy["PolicyDocument"])?);
    }
    for attached in list(detail, "AttachedManagedPolicies") {
        let arn = text(attached, "PolicyArn");
        match managed(account, &arn)? {
            Some(document) => role.identity.push(document),
            None => role.attached.push(arn),
        }
    }
    if let Some(arn) = detail.pointer("/PermissionsBoundary/PermissionsBoundaryArn") {
        let arn = arn.as_str().unwrap_or_default();
        let document = managed(account, arn)?;
        role.boundary = Some(document.ok_or_else(|| Unseen::not_in_file(arn)));
        role.boundary_arn = Some(arn.to_owned());
    }
    let tag = |tag: &Value| (text(tag, "Key"), text(tag, "Value"));
    role.tags = detail.get("Tags").map(|_| list(detail, "Tags").iter().map(tag).collect());
    role.name = name;
    role.is_named = true;
    Ok(role)
}

/// The default version of a managed policy, if the file has it: with a filter on the call it
/// may not.
fn managed(account: &Value, arn: &str) -> Result<Option<Document>, String> {
    let policy = list(account, "Policies").iter().find(|policy| policy["Arn"] == arn);
    let Some(policy) = policy else { return Ok(None) };
    let version = list(policy, "PolicyVersionList")
        .iter()
        .find(|version| version["VersionId"] == policy["DefaultVersionId"]);
    let name = policy["PolicyName"].as_str().unwrap_or(arn);
    version.map(|version| Document::new(name, &version["Document"])).transpose()
}
