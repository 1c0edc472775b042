//! What `terraform show -json` prints of a plan or a state.
//!
//! What will only be known after the apply is not in a plan: a document of that kind is *unseen*,
//! and never taken for empty. The references in the configuration tell what belongs together where
//! a name or an ARN is not known yet.

use serde_json::Value;

use super::{
    Document, Found, Read, Role, Unseen, list, merge,
    plan::{Is, Plan, Resource},
};

const LATER: &str = "it is known after the apply only";

pub(super) fn add(found: &mut Found, show: &Value) -> Result<(), String> {
    let plan = Plan::new(show);
    for (kind, field) in [("aws_sqs_queue_policy", "policy"), ("aws_sqs_queue", "policy")] {
        for queue in plan.of(kind) {
            let has_none = kind == "aws_sqs_queue" && !is_set(queue, field);
            if !has_none {
                found.resource.push(plan.document(queue, field)?);
            }
        }
    }
    let roles: Vec<_> = plan.of("aws_iam_role").collect();
    if roles.is_empty() {
        plan.loose(found)?;
    }
    for role in roles {
        found.roles.push(plan.role(role)?);
    }
    left_out(found, show);
    Ok(())
}

/// What a plan leaves out: nothing is certain of one that ended with an error.
fn left_out(found: &mut Found, show: &Value) {
    if show["errored"] == true {
        found.unseen.push(Unseen {
            what: "the rest of the plan".to_owned(),
            why: "the plan ended with an error".to_owned(),
        });
    } else if show["complete"] == false {
        found.notes.push(
            "the plan is not complete (-target, or parts that are put off): what it leaves out is \
             not judged"
                .to_owned(),
        );
    }
}

fn is_set(resource: &Resource<'_>, field: &str) -> bool {
    resource.values[field].as_str().is_some_and(|text| !text.is_empty())
}

impl<'a> Plan<'a> {
    /// Without a role, the policies stand for those of one.
    fn loose(&self, found: &mut Found) -> Result<(), String> {
        for (kinds, field) in [
            (&["aws_iam_policy", "aws_iam_role_policy"][..], "policy"),
            (&["aws_iam_policy_document"], "json"),
        ] {
            for policy in kinds.iter().flat_map(|kind| self.of(kind)) {
                match self.document(policy, field)? {
                    Ok(document) => found.loose.push(document),
                    Err(unseen) => found.unseen.push(unseen),
                }
            }
            if !found.loose.is_empty() || !found.unseen.is_empty() {
                return Ok(());
            }
        }
        match found.resource.is_empty() {
            true => Err("it has no aws_iam_role, aws_iam_policy or aws_iam_policy_document".into()),
            false => Ok(()),
        }
    }

    fn role(&self, resource: &Resource<'a>) -> Result<Role, String> {
        let values = resource.values;
        let name = values["name"].as_str().unwrap_or(resource.address);
        let mut role = Role {
            name: name.to_owned(),
            is_named: values["name"].is_string(),
            arn: values["arn"].as_str().map(str::to_owned),
            trust: Some(self.document(resource, "assume_role_policy")?),
            tags: values.get("tags_all").map(|tags| {
                let text = |(key, value): (&String, &Value)| {
                    Some((key.clone(), value.as_str()?.to_owned()))
                };
                tags.as_object().into_iter().flatten().filter_map(text).collect()
            }),
            ..Role::default()
        };
        self.inline(resource, &mut role)?;
        for (kind, on, argument) in [
            ("aws_iam_role_policy_attachment", "role", "policy_arn"),
            ("aws_iam_policy_attachment", "roles", "policy_arn"),
            ("aws_iam_role_policy_attachments_exclusive", "role_name", "policy_arns"),
        ] {
            for attachment in self.of(kind) {
                match self.is_on(attachment, on, resource) {
                    Is::On => self.attach(attachment, argument, &mut role)?,
                    Is::NotKnown => role.unseen.push(perhaps_on(attachment, &role)),
                    Is::NotOn => {}
                }
            }
        }
        if values.get("managed_policy_arns").is_some() || self.sets(resource, "managed_policy_arns")
        {
            self.attach(resource, "managed_policy_arns", &mut role)?;
        }
        self.boundary(resource, &mut role)?;
        Ok(role)
    }

    /// The policies that are part of the role itself. Where a list of them excludes others, only
    /// those stay.
    fn inline(&self, resource: &Resource<'a>, role: &mut Role) -> Result<(), String> {
        for inline in list(resource.values, "inline_policy") {
            let name = inline["name"].as_str().unwrap_or("inline policy");
            match inline.get("policy").map(|policy| policy.as_str().unwrap_or_default()) {
                Some("") => {}
                Some(text) => role.identity.push(Document::new(name, &text.into())?),
                None => role.unseen.push(later(format!("{name} of {}", resource.address))),
            }
        }
        let blocks = resource.values.get("inline_policy");
        if blocks.is_none() && self.sets(resource, "inline_policy") {
            role.unseen.push(later(format!("inline_policy of {}", resource.address)));
        }
        for policy in self.of("aws_iam_role_policy") {
            match self.is_on(policy, "role", resource) {
                Is::On => self.add_document(policy, role)?,
                Is::NotKnown => role.unseen.push(perhaps_on(policy, role)),
                Is::NotOn => {}
            }
        }
        for exclusive in self.of("aws_iam_role_policies_exclusive") {
            let names: Option<Vec<&str>> =
                list(exclusive.values, "policy_names").iter().map(Value::as_str).collect();
            let is_listed = exclusive.values.get("policy_names").is_some();
            if let (Is::On, Some(names), true) =
                (self.is_on(exclusive, "role_name", resource), names, is_listed)
            {
                role.identity.retain(|policy| names.contains(&policy.named.name.as_str()));
            }
        }
        Ok(())
    }

    fn add_document(&self, policy: &Resource<'a>, role: &mut Role) -> Result<(), String> {
        match self.document(policy, "policy")? {
            Ok(document) => role.identity.push(document),
            Err(unseen) => role.unseen.push(unseen),
        }
        Ok(())
    }

    /// Adds the policies of an attachment: by their ARNs, or by what the configuration refers to.
    fn attach(
        &self,
        attachment: &Resource<'a>,
        argument: &str,
        role: &mut Role,
    ) -> Result<(), String> {
        let arns: Vec<Option<&str>> = match attachment.values.get(argument) {
            Some(Value::Array(arns)) => arns.iter().map(Value::as_str).collect(),
            Some(Value::Null) => Vec::new(),
            value => vec![value.and_then(Value::as_str)],
        };
        for arn in arns.iter().flatten() {
            let policy = self.of("aws_iam_policy").find(|p| p.values["arn"].as_str() == Some(arn));
            match policy {
                Some(policy) => self.attach_policy(policy, role)?,
                None if role.attached.iter().any(|known| known == arn) => {}
                None => role.attached.push((*arn).to_owned()),
            }
        }
        let is_open = arns.contains(&None);
        let referred = if is_open {
            self.referred(attachment, argument, "aws_iam_policy")
        } else {
            Vec::new()
        };
        // Of several that a single one may be, nobody knows which.
        let is_list = attachment.values.get(argument).is_some_and(Value::is_array);
        let referred = if is_list || referred.len() == 1 { referred } else { Vec::new() };
        for policy in &referred {
            self.attach_policy(policy, role)?;
        }
        let open = arns.iter().filter(|arn| arn.is_none()).count();
        if referred.len() < open {
            role.unseen.push(Unseen {
                what: attachment.address.to_owned(),
                why: "which policy it attaches is known after the apply only".to_owned(),
            });
        }
        Ok(())
    }

    fn attach_policy(&self, policy: &Resource<'a>, role: &mut Role) -> Result<(), String> {
        let name = name_of(policy);
        let is_known = role.identity.iter().any(|known| known.named.name == name)
            || role.unseen.iter().any(|unseen| unseen.what == policy.address);
        if is_known { Ok(()) } else { self.add_document(policy, role) }
    }

    fn boundary(&self, resource: &Resource<'a>, role: &mut Role) -> Result<(), String> {
        let field = "permissions_boundary";
        let arn = resource.values[field].as_str().filter(|arn| !arn.is_empty());
        let by_arn = |policy: &&Resource| arn.is_some() && policy.values["arn"].as_str() == arn;
        let referred = self.referred(resource, field, "aws_iam_policy");
        let only = referred.first().copied().filter(|_| referred.len() == 1);
        let policy = self.of("aws_iam_policy").find(by_arn).or(only);
        let is_later = resource.values.get(field).is_none() && self.sets(resource, field);
        role.boundary = match (policy, arn) {
            (Some(policy), _) => Some(self.document(policy, "policy")?),
            (None, Some(arn)) => Some(Err(Unseen::not_in_file(arn))),
            (None, None) if is_later => {
                Some(Err(later(format!("{field} of {}", resource.address))))
            }
            (None, None) => None,
        };
        role.boundary_arn = arn.map(str::to_owned);
        Ok(())
    }

    /// The document in a field, or why it is not there.
    fn document(&self, resource: &Resource<'a>, field: &str) -> Result<Read, String> {
        let name = name_of(resource);
        if let Some(text) = resource.values[field].as_str() {
            return Document::new(&name, &text.into()).map(Ok);
        }
        // Data that is read before the apply gives the text that the resource will have.
        let made_of = self.made_of(resource, field, "aws_iam_policy_document");
        let data = match made_of {
            None if resource.kind == "aws_iam_policy_document" => Some(resource),
            made_of => made_of,
        };
        match data {
            Some(data) => match data.values["json"].as_str() {
                Some(text) => Document::new(&name, &text.into()).map(Ok),
                None => Document::new(&name, &merge::document(self, data)).map(Ok),
            },
            None => Ok(Err(later(format!("`{field}` of {}", resource.address)))),
        }
    }
}

fn later(what: String) -> Unseen {
    Unseen { what, why: LATER.to_owned() }
}

fn perhaps_on(resource: &Resource<'_>, role: &Role) -> Unseen {
    let why = format!("whether it is on {} is known after the apply only", role.name);
    Unseen { what: resource.address.to_owned(), why }
}

fn name_of(resource: &Resource<'_>) -> String {
    match (resource.kind, resource.values["name"].as_str()) {
        ("aws_iam_policy" | "aws_iam_role_policy", Some(name)) => name.to_owned(),
        ("aws_iam_role", name) => format!("trust policy of {}", name.unwrap_or(resource.address)),
        _ => resource.address.to_owned(),
    }
}
