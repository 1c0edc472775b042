//! What a plan knows of an `aws_iam_policy_document` whose text is not known yet.
//!
//! Terraform leaves out of a plan's values what is known after the apply only, and writes null
//! for what is not set.

use serde_json::{Map, Value, json};

use super::list;

/// The statements that are known whole.
pub fn known_statements(data: &Value) -> Vec<Value> {
    list(data, "statement").iter().filter_map(known).collect()
}

fn known(statement: &Value) -> Option<Value> {
    let mut known = Map::new();
    let effect = statement.get("effect")?.as_str().unwrap_or("Allow");
    known.insert("Effect".to_owned(), effect.into());
    if let Some(sid) = statement.get("sid").and_then(Value::as_str).filter(|sid| !sid.is_empty()) {
        known.insert("Sid".to_owned(), sid.into());
    }
    for (field, element) in [
        ("actions", "Action"),
        ("not_actions", "NotAction"),
        ("resources", "Resource"),
        ("not_resources", "NotResource"),
    ] {
        let values = statement.get(field)?;
        if values.as_array().is_some_and(|values| !values.is_empty()) {
            known.insert(element.to_owned(), values.clone());
        }
    }
    for (field, element) in [("principals", "Principal"), ("not_principals", "NotPrincipal")] {
        let principals = list(statement, field);
        if !principals.is_empty() {
            known.insert(element.to_owned(), principals_of(principals)?);
        }
    }
    let conditions = conditions_of(list(statement, "condition"))?;
    if !conditions.is_empty() {
        known.insert("Condition".to_owned(), Value::Object(conditions));
    }
    Some(Value::Object(known))
}

fn principals_of(blocks: &[Value]) -> Option<Value> {
    let mut principals = Map::new();
    for block in blocks {
        let (kind, identifiers) = (block.get("type")?.as_str()?, block.get("identifiers")?);
        if kind == "*" {
            return Some("*".into());
        }
        principals.insert(kind.to_owned(), identifiers.clone());
    }
    Some(Value::Object(principals))
}

fn conditions_of(blocks: &[Value]) -> Option<Map<String, Value>> {
    let mut conditions = Map::new();
    for block in blocks {
        let (test, variable) = (block.get("test")?.as_str()?, block.get("variable")?.as_str()?);
        let of_test = conditions.entry(test).or_insert_with(|| json!({}));
        of_test[variable] = block.get("values")?.clone();
    }
    Some(conditions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_statements_that_are_known_whole_count() {
        let statement = |changes: Value| {
            let mut statement = json!({"sid": "A", "effect": null, "actions": ["a:B"],
                "not_actions": null, "resources": ["*"], "not_resources": null,
                "principals": [], "not_principals": [], "condition": []});
            json_patch::merge(&mut statement, &changes);
            statement
        };
        let mut unknown = statement(json!({}));
        unknown.as_object_mut().unwrap().remove("resources");
        let condition = json!({"effect": "Deny", "sid": "", "condition": [
            {"test": "StringEquals", "variable": "aws:RequestedRegion", "values": ["eu-west-1"]}]});
        let half =
            json!({"condition": [{"test": "StringEquals", "variable": "aws:RequestedRegion"}]});
        let data = json!({"json": null, "statement": [
            statement(json!({})), unknown, statement(condition), statement(half)]});
        assert_eq!(
            known_statements(&data),
            [
                json!({"Sid": "A", "Effect": "Allow", "Action": ["a:B"], "Resource": ["*"]}),
                json!({"Effect": "Deny", "Action": ["a:B"], "Resource": ["*"],
                    "Condition": {"StringEquals": {"aws:RequestedRegion": ["eu-west-1"]}}}),
            ]
        );
    }
}
