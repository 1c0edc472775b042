//! What `terraform show -json` prints of a plan or a state.
//!
//! What will only be known after the apply is not in a plan: a document of that kind is
//! *unseen*, and never taken for empty. The references in the configuration tell what belongs
//! together where a name or an ARN is not known yet.

use serde_json::Value;

use super::{
    Document, Found, Role,
    address::{key, split, without_keys},
    list,
};

pub(super) fn add(found: &mut Found, show: &Value) -> Result<(), String> {
    let plan = Plan::new(show);
    let roles: Vec<_> = plan.of("aws_iam_role").collect();
    if roles.is_empty() {
        return plan.loose(found);
    }
    for role in roles {
        found.roles.push(plan.role(role)?);
    }
    Ok(())
}

/// A resource, or a data source.
struct Resource<'a> {
    /// Such as `module.karpenter.aws_iam_role.controller[0]`.
    address: &'a str,
    kind: &'a str,
    values: &'a Value,
}

struct Plan<'a> {
    resources: Vec<Resource<'a>>,
    configuration: Option<&'a Value>,
}

impl<'a> Plan<'a> {
    fn new(show: &'a Value) -> Self {
        let mut plan = Self {
            resources: Vec::new(),
            configuration: show.pointer("/configuration/root_module"),
        };
        // Data that a plan has read already stands in its prior state only; the rest of that
        // may be about to change.
        for (path, data_only) in [
            ("/planned_values/root_module", false),
            ("/values/root_module", false),
            ("/prior_state/values/root_module", true),
        ] {
            if let Some(module) = show.pointer(path) {
                plan.collect(module, data_only);
            }
        }
        plan
    }

    fn collect(&mut self, module: &'a Value, data_only: bool) {
        for resource in list(module, "resources") {
            let text = |field: &str| resource[field].as_str().unwrap_or_default();
            let address = text("address");
            let known = self.resources.iter().any(|known| known.address == address);
            if !known && (text("mode") == "data" || !data_only) {
                self.resources.push(Resource {
                    address,
                    kind: text("type"),
                    values: &resource["values"],
                });
            }
        }
        for child in list(module, "child_modules") {
            self.collect(child, data_only);
        }
    }

    fn of(&self, kind: &'static str) -> impl Iterator<Item = &Resource<'a>> {
        self.resources.iter().filter(move |resource| resource.kind == kind)
    }

    /// Without a role, the policies stand for those of one.
    fn loose(&self, found: &mut Found) -> Result<(), String> {
        let kinds = ["aws_iam_policy", "aws_iam_role_policy", "aws_sqs_queue_policy"];
        let policies: Vec<_> = kinds.into_iter().flat_map(|kind| self.of(kind)).collect();
        for policy in &policies {
            match self.document(policy, "policy")? {
                Ok(document) => found.loose.push(document),
                Err(why) => found.unseen.push(why),
            }
        }
        if !policies.is_empty() {
            return Ok(());
        }
        for data in self.of("aws_iam_policy_document") {
            match self.document(data, "json")? {
                Ok(document) => found.loose.push(document),
                Err(why) => found.unseen.push(why),
            }
        }
        if found.loose.is_empty() && found.unseen.is_empty() {
            return Err(
                "it has no aws_iam_role, aws_iam_policy or aws_iam_policy_document".to_owned()
            );
        }
        Ok(())
    }

    fn role(&self, resource: &Resource<'a>) -> Result<Role, String> {
        let values = resource.values;
        let name = values["name"].as_str().unwrap_or(resource.address);
        let mut role = Role {
            name: name.to_owned(),
            arn: values["arn"].as_str().map(str::to_owned),
            ..Role::default()
        };
        match self.document(resource, "assume_role_policy")? {
            Ok(trust) => role.trust = Some(trust),
            Err(why) => role.unseen.push(why),
        }
        for inline in list(values, "inline_policy") {
            if let Some(policy) = inline["policy"].as_str().filter(|text| !text.is_empty()) {
                let name = inline["name"].as_str().unwrap_or("inline policy");
                role.identity.push(Document::new(name, &Value::String(policy.to_owned()))?);
            }
        }
        for policy in self.of("aws_iam_role_policy").filter(|p| self.is_on(p, resource)) {
            self.add_document(policy, &mut role)?;
        }
        for attachment in self.of("aws_iam_role_policy_attachment") {
            if self.is_on(attachment, resource) {
                self.attach(attachment, attachment.values["policy_arn"].as_str(), &mut role)?;
            }
        }
        for arn in list(values, "managed_policy_arns").iter().filter_map(Value::as_str) {
            if !role.attached.iter().any(|known| known == arn) {
                self.attach(resource, Some(arn), &mut role)?;
            }
        }
        self.boundary(resource, &mut role)?;
        Ok(role)
    }

    fn add_document(&self, policy: &Resource<'a>, role: &mut Role) -> Result<(), String> {
        match self.document(policy, "policy")? {
            Ok(document) => role.identity.push(document),
            Err(why) => role.unseen.push(why),
        }
        Ok(())
    }

    /// Adds the policy of an attachment: by its ARN, or by what the configuration refers to.
    fn attach(
        &self,
        attachment: &Resource<'a>,
        arn: Option<&str>,
        role: &mut Role,
    ) -> Result<(), String> {
        let by_arn = |policy: &&Resource| arn.is_some() && policy.values["arn"].as_str() == arn;
        let named = self.of("aws_iam_policy").find(by_arn);
        match (named.or_else(|| self.referred(attachment, "policy_arn", "aws_iam_policy")), arn) {
            (Some(policy), _) => {
                let is_known = |known: &Document| known.named.name == name_of(policy);
                if !role.identity.iter().any(is_known) {
                    self.add_document(policy, role)?;
                }
            }
            (None, Some(arn)) => role.attached.push(arn.to_owned()),
            (None, None) => role.unseen.push(format!(
                "which policy {} attaches is known after the apply only",
                attachment.address
            )),
        }
        Ok(())
    }

    fn boundary(&self, resource: &Resource<'a>, role: &mut Role) -> Result<(), String> {
        let arn = resource.values["permissions_boundary"].as_str().filter(|arn| !arn.is_empty());
        let by_arn = |policy: &&Resource| arn.is_some() && policy.values["arn"].as_str() == arn;
        let policy = self
            .of("aws_iam_policy")
            .find(by_arn)
            .or_else(|| self.referred(resource, "permissions_boundary", "aws_iam_policy"));
        match policy.map(|policy| self.document(policy, "policy")).transpose()? {
            Some(Ok(document)) => role.boundary = Some(document),
            Some(Err(why)) => role.boundary_arn = Some(why),
            None => role.boundary_arn = arn.map(str::to_owned),
        }
        Ok(())
    }

    /// Whether a policy or an attachment is on this role.
    fn is_on(&self, policy: &Resource<'a>, role: &Resource<'a>) -> bool {
        match (policy.values["role"].as_str(), role.values["name"].as_str()) {
            (Some(name), Some(of_role)) => name == of_role,
            _ => self
                .referred(policy, "role", "aws_iam_role")
                .is_some_and(|found| found.address == role.address),
        }
    }

    /// The document in a field, or why it is not there.
    fn document(
        &self,
        resource: &Resource<'a>,
        field: &str,
    ) -> Result<Result<Document, String>, String> {
        let kind = "aws_iam_policy_document";
        let text = resource.values[field].as_str().or_else(|| {
            // Data that is read before the apply gives the text that the resource will have.
            self.referred(resource, field, kind).and_then(|data| data.values["json"].as_str())
        });
        match text {
            Some(text) => {
                Document::new(&name_of(resource), &Value::String(text.to_owned())).map(Ok)
            }
            None => {
                Ok(Err(format!("`{field}` of {} is known after the apply only", resource.address)))
            }
        }
    }

    /// The resource of this kind that an argument refers to, in the same module.
    fn referred(
        &self,
        resource: &Resource<'a>,
        argument: &str,
        kind: &'static str,
    ) -> Option<&Resource<'a>> {
        let (module, own) = split(resource.address);
        let block = self.block(&module, &own)?;
        let references = block.pointer(&format!("/expressions/{argument}/references"))?;
        let own_key = key(resource.address);
        let candidates = || self.of(kind).filter(|other| split(other.address).0 == module);
        let mut names = references.as_array()?.iter().filter_map(Value::as_str);
        names.find_map(|reference| {
            let meant = || {
                candidates().filter(move |other| {
                    let (_, own) = split(other.address);
                    let own = own.trim_start_matches("data.").to_owned();
                    let reference = without_keys(reference.trim_start_matches("data."));
                    reference == own || reference.starts_with(&format!("{own}."))
                })
            };
            // Of several, made by count or for_each, the one with the same key.
            meant().find(|other| key(other.address) == own_key).or_else(|| meant().next())
        })
    }

    /// The block of the configuration that a resource comes from.
    fn block(&self, module: &str, own: &str) -> Option<&'a Value> {
        let mut at = self.configuration?;
        for name in
            without_keys(module).split('.').filter(|part| !part.is_empty() && *part != "module")
        {
            at = at.pointer(&format!("/module_calls/{name}/module"))?;
        }
        list(at, "resources").iter().find(|block| block["address"] == own)
    }
}

fn name_of(resource: &Resource<'_>) -> String {
    match (resource.kind, resource.values["name"].as_str()) {
        ("aws_iam_policy" | "aws_iam_role_policy", Some(name)) => name.to_owned(),
        ("aws_iam_role", name) => format!("trust policy of {}", name.unwrap_or(resource.address)),
        _ => resource.address.to_owned(),
    }
}
