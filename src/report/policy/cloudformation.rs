//! The documents as a CloudFormation template in YAML.

use serde_json::{Map, Value, json};

use super::{
    Bearer, Sheet,
    hole::{Hole, Piece, pieces},
    order::fields,
    pascal,
    terraform::queue_url,
};
use crate::requirements::policy::Policy;

/// The text of a template.
pub fn text(sheet: &Sheet) -> String {
    let resources = match &sheet.bearer {
        Bearer::Role(name) => role(sheet, name),
        Bearer::Queue(arn) => queue(sheet, arn),
        Bearer::Anyone => {
            sheet.policies.iter().map(|policy| managed_policy(sheet, policy)).collect()
        }
    };
    let mut text = format!(
        "AWSTemplateFormatVersion: \"2010-09-09\"\nDescription: {}\nResources:\n",
        quoted(&format!(
            "IAM for {}. Printed by karpenter-preflight {}; needs CAPABILITY_NAMED_IAM.",
            sheet.title,
            env!("CARGO_PKG_VERSION")
        ))
    );
    for (name, kind, properties) in resources {
        text += &format!("  {name}:\n    Type: {kind}\n    Properties:\n");
        for (key, value) in properties {
            text += &field(key, &value, 3);
        }
    }
    text
}

/// Its logical id, its type, and its properties in order.
type Resource = (String, &'static str, Vec<(&'static str, Value)>);

fn role(sheet: &Sheet, name: &str) -> Vec<Resource> {
    let own = sheet.policies.iter().map(|policy| json!({"Ref": logical_id(sheet, policy)}));
    let managed: Vec<Value> = sheet.managed.iter().map(|arn| json!(arn)).chain(own).collect();
    let mut properties = vec![("RoleName", json!(name))];
    properties.extend(sheet.trust.clone().map(|trust| ("AssumeRolePolicyDocument", trust)));
    properties.push(("ManagedPolicyArns", json!(managed)));
    let policies = sheet.policies.iter().map(|policy| managed_policy(sheet, policy));
    let role = (format!("{}Role", pascal(sheet.label)), "AWS::IAM::Role", properties);
    std::iter::once(role).chain(policies).collect()
}

fn managed_policy(sheet: &Sheet, policy: &Policy) -> Resource {
    let properties = vec![
        ("ManagedPolicyName", json!(policy.name)),
        ("PolicyDocument", policy.document.clone()),
    ];
    (logical_id(sheet, policy), "AWS::IAM::ManagedPolicy", properties)
}

fn queue(sheet: &Sheet, arn: &str) -> Vec<Resource> {
    let policies = sheet.policies.iter().map(|policy| {
        let properties =
            vec![("Queues", json!([queue_url(arn)])), ("PolicyDocument", policy.document.clone())];
        (format!("{}Policy", pascal(sheet.label)), "AWS::SQS::QueuePolicy", properties)
    });
    policies.collect()
}

fn logical_id(sheet: &Sheet, policy: &Policy) -> String {
    pascal(sheet.short_name(policy))
}

/// `key: value` lines at this depth.
fn field(key: &str, value: &Value, depth: usize) -> String {
    let indent = "  ".repeat(depth);
    match value {
        Value::Object(object) if !object.is_empty() => {
            format!("{indent}{key}:\n{}", object_lines(object, depth + 1))
        }
        Value::Array(items) if !items.is_empty() => {
            let items = items.iter().map(|item| list_item(item, depth + 1));
            format!("{indent}{key}:\n{}", items.collect::<String>())
        }
        other => format!("{indent}{key}: {}\n", scalar(other)),
    }
}

fn object_lines(object: &Map<String, Value>, depth: usize) -> String {
    fields(object).into_iter().map(|(name, value)| field(&yaml_key(name), value, depth)).collect()
}

fn list_item(item: &Value, depth: usize) -> String {
    let indent = "  ".repeat(depth);
    match item {
        Value::Object(object) if !object.is_empty() => {
            let lines = object_lines(object, depth + 1);
            format!("{indent}- {}", lines.trim_start())
        }
        other => format!("{indent}- {}\n", scalar(other)),
    }
}

fn yaml_key(name: &str) -> String {
    let is_plain = name.chars().all(|c| c.is_ascii_alphabetic());
    if is_plain { name.to_owned() } else { quoted(name) }
}

/// A text with holes is for `Sub` to fill; `${` that is not a hole is escaped there.
fn scalar(value: &Value) -> String {
    let Value::String(text) = value else { return value.to_string() };
    let pieces = pieces(text);
    if !pieces.iter().any(|piece| matches!(piece, Piece::Hole(_))) {
        return quoted(text);
    }
    let filled: String = pieces
        .into_iter()
        .map(|piece| match piece {
            Piece::Text(text) => text.replace("${", "${!"),
            Piece::Hole(Hole::Partition) => "${AWS::Partition}".to_owned(),
            Piece::Hole(Hole::Region) => "${AWS::Region}".to_owned(),
            Piece::Hole(Hole::Account) => "${AWS::AccountId}".to_owned(),
            Piece::Hole(Hole::Suffix) => "${AWS::URLSuffix}".to_owned(),
        })
        .collect();
    format!("!Sub {}", quoted(&filled))
}

/// JSON's quoting is YAML's as well.
fn quoted(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_yaml() {
        let value = json!({
            "Version": "2012-10-17",
            "Statement": [{"Sid": "A", "Action": ["a:B", format!("c:{}", Hole::Region.mark())],
                "Resource": format!("{}${{aws:x}}", Hole::Account.mark()),
                "Condition": {"StringLike": {"aws:x": "*"}}}],
        });
        let expected = r#"Policy:
  Version: "2012-10-17"
  Statement:
    - Sid: "A"
      Action:
        - "a:B"
        - !Sub "c:${AWS::Region}"
      Resource: !Sub "${AWS::AccountId}${!aws:x}"
      Condition:
        StringLike:
          "aws:x": "*"
"#;
        assert_eq!(field("Policy", &value, 0), expected);
    }
}
