//! A remedy as Terraform, where what it runs has a resource there: read off its own commands, so
//! that the two say the same.

mod defaults;
#[cfg(test)]
mod tests;
mod words;

use serde_json::Value;

use super::policy::terraform::{Argument, resource};
use crate::{
    facts::ec2::ImdsDefaults,
    outcome::{Remedy, Step},
};
use Argument::{Json, Raw, Text};
pub use defaults::wanted;
use words::Command;

/// The blocks, in the order of the commands; nothing where a command of the AWS CLI that changes
/// something has no resource that stands for it. What other programs do (see [`by_hand`]) is left.
/// `defaults` are those that the region shall have (see [`wanted`]).
pub fn of(remedy: &Remedy, defaults: Option<&ImdsDefaults>) -> Option<String> {
    let mut blocks = Vec::new();
    for step in &remedy.steps {
        let Step::Command { command } = step else { continue };
        if !command.starts_with("aws ") || words::only_looks(command) {
            continue;
        }
        let command = Command::parse(command, &remedy.steps)?;
        blocks.extend(block(&command, defaults)?);
    }
    blocks.dedup();
    (!blocks.is_empty()).then(|| blocks.join("\n"))
}

/// The commands of other programs, such as kubectl, that change something: no block stands for them.
pub fn by_hand(remedy: &Remedy) -> Vec<&str> {
    const OTHERS: [&str; 6] = [
        "aws ",
        "karpenter-preflight ",
        "kubectl describe ",
        "kubectl get ",
        "kubectl logs ",
        "kubectl top ",
    ];
    let commands = remedy.steps.iter().filter_map(|step| match step {
        Step::Command { command } => Some(command.as_str()),
        Step::Document { .. } => None,
    });
    commands.filter(|command| !OTHERS.iter().any(|start| command.starts_with(start))).collect()
}

fn block(command: &Command<'_>, defaults: Option<&ImdsDefaults>) -> Option<Vec<String>> {
    let one = |block| Some(vec![block]);
    match (command.service.as_str(), command.operation.as_str()) {
        ("eks", "create-access-entry") => one(access_entry(command)?),
        ("eks", "associate-access-policy") => one(access_policy(command)?),
        ("eks", "create-pod-identity-association") => one(association(command)?),
        ("ec2", "create-tags") => tags(command),
        ("ec2", "modify-instance-metadata-defaults") => one(defaults::block(command, defaults?)?),
        ("iam", "put-role-policy") => one(role_policy(command)?),
        ("iam", "attach-role-policy") => one(attachment(command)?),
        ("iam", "create-service-linked-role") => one(service_linked_role(command)?),
        ("sqs", "create-queue") => one(queue(command)?),
        ("events", "put-rule") => one(rule(command)?),
        ("events", "put-targets") => one(target(command)?),
        _ => None,
    }
}

fn access_entry(command: &Command<'_>) -> Option<String> {
    let principal = command.value("principal-arn")?;
    let mut arguments = vec![
        ("cluster_name", Text(command.value("cluster-name")?)),
        ("principal_arn", Text(principal.clone())),
    ];
    if let Some(kind) = command.value("type") {
        arguments.push(("type", Text(kind)));
    }
    Some(resource("aws_eks_access_entry", &label(&last(&principal)), &arguments))
}

fn access_policy(command: &Command<'_>) -> Option<String> {
    let principal = command.value("principal-arn")?;
    let policy = command.value("policy-arn")?;
    let scope = command.value("access-scope")?;
    let scope = scope.strip_prefix("type=").filter(|kind| !kind.contains(','))?;
    let text = resource(
        "aws_eks_access_policy_association",
        &label(&format!("{}_{}", last(&principal), last(&policy))),
        &[
            ("cluster_name", Text(command.value("cluster-name")?)),
            ("principal_arn", Text(principal)),
            ("policy_arn", Text(policy)),
        ],
    );
    let body = text.strip_suffix("}\n")?;
    Some(format!("{body}\n  access_scope {{\n    type = \"{scope}\"\n  }}\n}}\n"))
}

fn association(command: &Command<'_>) -> Option<String> {
    let (cluster, namespace) = (command.value("cluster-name")?, command.value("namespace")?);
    let account = command.value("service-account")?;
    Some(resource(
        "aws_eks_pod_identity_association",
        &label(&format!("{cluster}_{namespace}_{account}")),
        &[
            ("cluster_name", Text(cluster)),
            ("namespace", Text(namespace)),
            ("service_account", Text(account)),
            ("role_arn", Text(command.value("role-arn")?)),
        ],
    ))
}

/// A resource for each thing and tag.
fn tags(command: &Command<'_>) -> Option<Vec<String>> {
    let mut blocks = Vec::new();
    for id in command.values("resources") {
        for tag in command.values("tags") {
            for (key, value) in pairs(&tag)? {
                let name = label(&format!("{id}_{}", last(&key)));
                let arguments =
                    [("resource_id", Text(id.clone())), ("key", Text(key)), ("value", Text(value))];
                blocks.push(resource("aws_ec2_tag", &name, &arguments));
            }
        }
    }
    (!blocks.is_empty()).then_some(blocks)
}

/// The tags in a word of `--tags`: the CLI's shorthand or JSON.
fn pairs(word: &str) -> Option<Vec<(String, String)>> {
    if let Some(shorthand) = word.strip_prefix("Key=") {
        let (key, value) = shorthand.split_once(",Value=")?;
        return Some(vec![(key.to_owned(), value.to_owned())]);
    }
    let tags: Vec<Value> = serde_json::from_str(word).ok()?;
    let text = |tag: &Value, name: &str| Some(tag.get(name)?.as_str()?.to_owned());
    tags.iter().map(|tag| text(tag, "Key").zip(text(tag, "Value"))).collect()
}

fn role_policy(command: &Command<'_>) -> Option<String> {
    let (role, name) = (command.value("role-name")?, command.value("policy-name")?);
    Some(resource(
        "aws_iam_role_policy",
        &label(&format!("{role}_{name}")),
        &[
            ("name", Text(name)),
            ("role", Text(role)),
            ("policy", Json(command.document("policy-document")?)),
        ],
    ))
}

fn attachment(command: &Command<'_>) -> Option<String> {
    let (role, policy) = (command.value("role-name")?, command.value("policy-arn")?);
    let name = label(&format!("{role}_{}", last(&policy)));
    Some(resource(
        "aws_iam_role_policy_attachment",
        &name,
        &[("role", Text(role)), ("policy_arn", Text(policy))],
    ))
}

fn service_linked_role(command: &Command<'_>) -> Option<String> {
    let service = command.value("aws-service-name")?;
    let name = label(service.split('.').next()?);
    Some(resource("aws_iam_service_linked_role", &name, &[("aws_service_name", Text(service))]))
}

fn queue(command: &Command<'_>) -> Option<String> {
    let name = command.value("queue-name")?;
    let given = command.document("attributes")?;
    let mut arguments = vec![("name", Text(name.clone()))];
    for (attribute, value) in given.as_object()? {
        let value = value.as_str()?;
        arguments.push(match attribute.as_str() {
            "MessageRetentionPeriod" => ("message_retention_seconds", Raw(value.to_owned())),
            "SqsManagedSseEnabled" => ("sqs_managed_sse_enabled", Raw(value.to_owned())),
            "Policy" => ("policy", Json(serde_json::from_str(value).ok()?)),
            _ => return None,
        });
    }
    // What takes several lines stands last.
    arguments.sort_by_key(|(_, argument)| matches!(argument, Json(_)));
    Some(resource("aws_sqs_queue", &label(&name), &arguments))
}

fn rule(command: &Command<'_>) -> Option<String> {
    let name = command.value("name")?;
    Some(resource(
        "aws_cloudwatch_event_rule",
        &label(&name),
        &[
            ("name", Text(name.clone())),
            ("event_pattern", Json(command.document("event-pattern")?)),
        ],
    ))
}

fn target(command: &Command<'_>) -> Option<String> {
    let targets = command.values("targets");
    let [target] = targets.as_slice() else { return None };
    let (id, arn) = target.strip_prefix("Id=")?.split_once(",Arn=")?;
    // A FIFO queue wants more.
    if arn.contains(',') {
        return None;
    }
    let name = command.value("rule")?;
    let makes_it = command.beside().any(|other| {
        other.service == "events"
            && other.operation == "put-rule"
            && other.value("name").as_ref() == Some(&name)
    });
    // So that Terraform makes the rule first.
    let rule = match makes_it {
        true => Raw(format!("aws_cloudwatch_event_rule.{}.name", label(&name))),
        false => Text(name.clone()),
    };
    let title = if id == name { name.clone() } else { format!("{name}_{id}") };
    Some(resource(
        "aws_cloudwatch_event_target",
        &label(&title),
        &[("rule", rule), ("target_id", Text(id.to_owned())), ("arn", Text(arn.to_owned()))],
    ))
}

/// A name as Terraform takes it for a label.
fn label(name: &str) -> String {
    let part = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    let label: String = name.chars().map(part).collect();
    if label.starts_with(|c: char| c.is_ascii_digit()) { format!("_{label}") } else { label }
}

/// What stands after the last slash or colon.
fn last(text: &str) -> String {
    text.rsplit(['/', ':']).next().unwrap_or(text).to_owned()
}

/// The document in a step.
fn document(steps: &[Step], wanted: &str) -> Option<Value> {
    steps.iter().find_map(|step| match step {
        Step::Document { file, document } if file == wanted => serde_json::from_str(document).ok(),
        _ => None,
    })
}
