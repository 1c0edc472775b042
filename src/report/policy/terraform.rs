//! The documents as Terraform, laid out as `terraform fmt` would.

use serde_json::Value;

use super::{
    Bearer, Sheet,
    hole::{Hole, Piece, pieces},
    order::fields,
    snake,
};
use crate::requirements::policy::Policy;

/// An argument of a block.
pub(in crate::report) enum Argument {
    Text(String),
    /// An expression, as it is.
    Raw(String),
    /// `jsonencode` of a document.
    Json(Value),
}

use Argument::{Json, Raw, Text};

/// The text of a `.tf` file.
pub fn text(sheet: &Sheet) -> String {
    let mut file = Hcl { label: sheet.snake(), blocks: Vec::new() };
    match &sheet.bearer {
        Bearer::Role(name) => file.role(sheet, name),
        Bearer::Queue(arn) => file.queue(sheet, arn),
        Bearer::Anyone => sheet.policies.iter().for_each(|policy| file.policy(sheet, policy)),
    }
    let blocks = file.blocks.join("\n");
    let sources: String = sources(&blocks)
        .iter()
        .map(|source| format!("data \"{source}\" \"{}\" {{}}\n\n", file.label))
        .collect();
    format!(
        "# IAM for {}\n# Printed by karpenter-preflight {}\n\n{sources}{blocks}",
        sheet.title,
        env!("CARGO_PKG_VERSION")
    )
}

/// The data sources that the blocks refer to.
fn sources(blocks: &str) -> Vec<&'static str> {
    ["aws_caller_identity", "aws_partition", "aws_region"]
        .into_iter()
        .filter(|source| blocks.contains(&format!("${{data.{source}.")))
        .collect()
}

struct Hcl {
    label: String,
    blocks: Vec<String>,
}

impl Hcl {
    fn role(&mut self, sheet: &Sheet, name: &str) {
        let label = self.label.clone();
        let mut arguments = vec![("name", Text(name.to_owned()))];
        if let Some(trust) = &sheet.trust {
            arguments.push(("assume_role_policy", Json(trust.clone())));
        }
        self.resource("aws_iam_role", &label, &arguments);
        let role = || ("role", Raw(format!("aws_iam_role.{label}.name")));
        for arn in &sheet.managed {
            let attached = format!("{label}_{}", snake(arn.rsplit('/').next().unwrap_or(arn)));
            let arguments = [role(), ("policy_arn", Text(arn.clone()))];
            self.resource("aws_iam_role_policy_attachment", &attached, &arguments);
        }
        for policy in &sheet.policies {
            self.policy(sheet, policy);
            let name = snake(sheet.short_name(policy));
            let arguments = [role(), ("policy_arn", Raw(format!("aws_iam_policy.{name}.arn")))];
            self.resource("aws_iam_role_policy_attachment", &name, &arguments);
        }
    }

    fn policy(&mut self, sheet: &Sheet, policy: &Policy) {
        let arguments =
            [("name", Text(policy.name.clone())), ("policy", Json(policy.document.clone()))];
        self.resource("aws_iam_policy", &snake(sheet.short_name(policy)), &arguments);
    }

    fn queue(&mut self, sheet: &Sheet, arn: &str) {
        let label = self.label.clone();
        for policy in &sheet.policies {
            let arguments =
                [("queue_url", Text(queue_url(arn))), ("policy", Json(policy.document.clone()))];
            self.resource("aws_sqs_queue_policy", &label, &arguments);
        }
    }

    fn resource(&mut self, kind: &str, label: &str, arguments: &[(&str, Argument)]) {
        self.blocks.push(block(kind, label, arguments, &self.label));
    }
}

/// A block that refers to nothing outside of itself.
pub(in crate::report) fn resource(
    kind: &str,
    label: &str,
    arguments: &[(&str, Argument)],
) -> String {
    block(kind, label, arguments, "")
}

/// A block whose holes refer to the data sources of this label.
fn block(kind: &str, label: &str, arguments: &[(&str, Argument)], sources: &str) -> String {
    let rendered = arguments.iter().map(|(name, argument)| {
        let value = match argument {
            Text(text) => string(text, sources),
            Raw(expression) => expression.clone(),
            Json(value) => format!("jsonencode({})", expression(value, 1, sources)),
        };
        ((*name).to_owned(), value)
    });
    let body = aligned(&rendered.collect::<Vec<_>>(), 1);
    format!("resource \"{kind}\" \"{label}\" {{\n{body}}}\n")
}

/// The URL of the queue of this ARN.
pub(super) fn queue_url(arn: &str) -> String {
    let parts: Vec<_> = arn.splitn(6, ':').collect();
    match parts[..] {
        [_, partition, _, region, account, name] => {
            let suffix = match partition {
                "aws-cn" => "amazonaws.com.cn".to_owned(),
                open if open == Hole::Partition.mark() => Hole::Suffix.mark(),
                _ => "amazonaws.com".to_owned(),
            };
            format!("https://sqs.{region}.{suffix}/{account}/{name}")
        }
        _ => arn.to_owned(),
    }
}

/// `name = value` lines. The equals signs of neighbours on one line each stand under one
/// another; an argument of several lines stands for itself.
fn aligned(arguments: &[(String, String)], depth: usize) -> String {
    let indent = "  ".repeat(depth);
    let mut text = String::new();
    let is_short = |(_, value): &&(String, String)| !value.contains('\n');
    let mut at = 0;
    while let Some((name, value)) = arguments.get(at) {
        let run: Vec<_> = arguments[at..].iter().take_while(is_short).collect();
        let width = run.iter().map(|(name, _)| name.chars().count()).max().unwrap_or_default();
        if run.is_empty() {
            text += &format!("{indent}{name} = {value}\n");
        }
        for (name, value) in &run {
            text += &format!("{indent}{name:<width$} = {value}\n");
        }
        at += run.len().max(1);
    }
    text
}

/// A value as an expression; lines after the first are indented for `depth`.
fn expression(value: &Value, depth: usize, label: &str) -> String {
    let indent = "  ".repeat(depth);
    match value {
        Value::Object(object) if !object.is_empty() => {
            let fields = fields(object);
            let pairs: Vec<_> = fields
                .into_iter()
                .map(|(name, value)| (key(name, label), expression(value, depth + 1, label)))
                .collect();
            format!("{{\n{}{indent}}}", aligned(&pairs, depth + 1))
        }
        Value::Array(items) => match items.as_slice() {
            [] => "[]".to_owned(),
            [Value::String(only)] => format!("[{}]", string(only, label)),
            [only] => format!("[{}]", expression(only, depth, label)),
            items => {
                let inner = "  ".repeat(depth + 1);
                let lines = items
                    .iter()
                    .map(|item| format!("{inner}{},\n", expression(item, depth + 1, label)));
                format!("[\n{}{indent}]", lines.collect::<String>())
            }
        },
        Value::String(text) => string(text, label),
        Value::Object(_) => "{}".to_owned(),
        other => other.to_string(),
    }
}

fn key(name: &str, label: &str) -> String {
    let is_identifier = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_identifier { name.to_owned() } else { string(name, label) }
}

/// A quoted template: holes become references, and what Terraform would take for one is
/// escaped.
fn string(text: &str, label: &str) -> String {
    let mut quoted = String::from('"');
    for piece in pieces(text) {
        match piece {
            Piece::Text(text) => {
                let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
                quoted += &escaped.replace("${", "$${").replace("%{", "%%{");
            }
            Piece::Hole(hole) => {
                let reference = match hole {
                    Hole::Partition => format!("aws_partition.{label}.partition"),
                    // `id` has one meaning in every version of the provider; `name` has not.
                    Hole::Region => format!("aws_region.{label}.id"),
                    Hole::Account => format!("aws_caller_identity.{label}.account_id"),
                    Hole::Suffix => format!("aws_partition.{label}.dns_suffix"),
                };
                quoted += &format!("${{data.{reference}}}");
            }
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_laid_out_as_fmt_does() {
        let region = Hole::Region.mark();
        let value = json!({
            "Statement": [{"Sid": "A", "Effect": "Allow", "Action": ["a:B"],
                "Resource": [format!("arn:aws:x:{region}:y"), "${aws:PrincipalTag/t}"]}],
            "Version": "2012-10-17",
        });
        let expected = r#"{
  Version = "2012-10-17"
  Statement = [{
    Sid    = "A"
    Effect = "Allow"
    Action = ["a:B"]
    Resource = [
      "arn:aws:x:${data.aws_region.l.id}:y",
      "$${aws:PrincipalTag/t}",
    ]
  }]
}"#;
        assert_eq!(expression(&value, 0, "l"), expected);
    }

    #[test]
    fn queues_have_urls() {
        assert_eq!(
            queue_url("arn:aws-cn:sqs:cn-north-1:111122223333:q"),
            "https://sqs.cn-north-1.amazonaws.com.cn/111122223333/q"
        );
        assert!(
            crate::report::policy::hole::holes(&queue_url(&format!(
                "arn:{}:sqs:r:1:q",
                Hole::Partition.mark()
            )))
            .contains(&Hole::Suffix)
        );
    }
}
