//! What a plan knows of an `aws_iam_policy_document` whose text is not known yet.
//!
//! Terraform leaves out of a plan's values what is known after the apply only, writes null for an
//! element of a list that is, and null for what is not set.

use serde_json::{Map, Value, json};

use super::{list, merge::Known};
use crate::iam::NOT_KNOWN_YET;

/// The statements of the document itself. Of one with a part that is not known yet, what is certain
/// stands as it is; the rest becomes a statement that covers whatever that part may come to, under
/// a condition of which nobody knows whether it is met: a verdict that turns on it is unknown.
pub fn own(data: &Value) -> Vec<Known> {
    if data.get("statement").is_none() {
        return vec![Known::nothing()];
    }
    let known = |statement: &Value| Known {
        sid: statement.get("sid").map(|sid| sid.as_str().unwrap_or_default().to_owned()),
        statements: read(statement).into_iter().map(with_variables).collect(),
    };
    list(data, "statement").iter().map(known).collect()
}

/// Whatever a statement that is not known at all may come to.
pub fn anything() -> Vec<Value> {
    let statement =
        |effect| under_condition(json!({"Effect": effect, "Action": "*", "Resource": "*"}));
    ["Allow", "Deny"].map(statement).into()
}

/// The statement as one of which nobody knows whether it applies.
pub fn under_condition(mut statement: Value) -> Value {
    statement["Condition"]["StringEquals"][NOT_KNOWN_YET] = "true".into();
    statement
}

/// Variables of the policy language are written `&{…}`, since `${…}` is Terraform's own.
fn with_variables(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(text.replace("&{", "${")),
        Value::Array(items) => items.into_iter().map(with_variables).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(field, value)| (field, with_variables(value))).collect()
        }
        other => other,
    }
}

/// `Action`, `Resource` or `Principal` of a statement, in its plain or its `Not…` form.
struct Part {
    /// What it covers for certain.
    certain: Option<(&'static str, Value)>,
    /// All that it may come to cover.
    broad: Option<(&'static str, Value)>,
    open: bool,
}

fn read(statement: &Value) -> Vec<Value> {
    let parts = [
        elements(statement, ["actions", "not_actions"], ["Action", "NotAction"]),
        elements(statement, ["resources", "not_resources"], ["Resource", "NotResource"]),
        principals(statement),
    ];
    let conditions = conditions(list(statement, "condition"));
    let effects: &[&str] = match statement.get("effect") {
        None => &["Allow", "Deny"],
        Some(effect) if effect == "Deny" => &["Deny"],
        Some(_) => &["Allow"],
    };
    let statement = |effect: &str, parts: Vec<(&str, Value)>| {
        let mut fields = Map::new();
        if let Some(sid) = statement["sid"].as_str().filter(|sid| !sid.is_empty()) {
            fields.insert("Sid".to_owned(), sid.into());
        }
        fields.insert("Effect".to_owned(), effect.into());
        fields.extend(parts.into_iter().map(|(element, value)| (element.to_owned(), value)));
        if let Some(conditions) = conditions.as_ref().filter(|conditions| !conditions.is_empty()) {
            fields.insert("Condition".to_owned(), Value::Object(conditions.clone()));
        }
        fields
    };
    let mut statements = Vec::new();
    let is_certain = effects.len() == 1
        && conditions.is_some()
        && parts.iter().all(|part| part.certain.is_some() || part.broad.is_none());
    if is_certain {
        let certain = parts.iter().filter_map(|part| part.certain.clone()).collect();
        statements.push(Value::Object(statement(effects[0], certain)));
    }
    if effects.len() > 1 || conditions.is_none() || parts.iter().any(|part| part.open) {
        for effect in effects {
            let broad = parts.iter().filter_map(|part| part.broad.clone()).collect();
            statements.push(under_condition(Value::Object(statement(effect, broad))));
        }
    }
    statements
}

/// The known elements of a list, and whether there are others.
fn values(statement: &Value, field: &str) -> (Vec<Value>, bool) {
    match statement.get(field) {
        None => (Vec::new(), true),
        Some(Value::Array(values)) => {
            let known: Vec<_> = values.iter().filter(|value| !value.is_null()).cloned().collect();
            let open = known.len() < values.len();
            (known, open)
        }
        Some(_) => (Vec::new(), false),
    }
}

fn elements(statement: &Value, [plain, not]: [&str; 2], names: [&'static str; 2]) -> Part {
    let (plain, plain_open) = values(statement, plain);
    let (not, not_open) = values(statement, not);
    let list = |name, values: Vec<Value>| Some((name, Value::Array(values)));
    if !not.is_empty() {
        let certain = if not_open { None } else { list(names[1], not.clone()) };
        return Part { certain, broad: list(names[1], not), open: not_open };
    }
    let open = plain_open || (not_open && plain.is_empty());
    if plain.is_empty() && !open {
        return Part { certain: None, broad: None, open };
    }
    let all = if open { vec!["*".into()] } else { plain.clone() };
    let certain = if plain.is_empty() { None } else { list(names[0], plain) };
    Part { certain, broad: list(names[0], all), open }
}

fn principals(statement: &Value) -> Part {
    for (field, element) in [("principals", "Principal"), ("not_principals", "NotPrincipal")] {
        let blocks = list(statement, field);
        let known = match statement.get(field) {
            Some(_) if blocks.is_empty() => continue,
            Some(_) => principals_of(blocks).map(|value| (element, value)),
            None => None,
        };
        let open = known.is_none();
        let broad = known.clone().or_else(|| Some(("Principal", "*".into())));
        return Part { certain: known, broad, open };
    }
    Part { certain: None, broad: None, open: false }
}

fn principals_of(blocks: &[Value]) -> Option<Value> {
    let mut principals = Map::new();
    for block in blocks {
        let kind = block.get("type")?.as_str()?;
        let identifiers = block.get("identifiers")?.as_array()?;
        if identifiers.iter().any(Value::is_null) {
            return None;
        }
        if kind == "*" {
            return Some("*".into());
        }
        add(principals.entry(kind).or_insert_with(|| json!([])), identifiers);
    }
    Some(Value::Object(principals))
}

/// `None` where a part is not known yet.
fn conditions(blocks: &[Value]) -> Option<Map<String, Value>> {
    let mut conditions = Map::new();
    for block in blocks {
        let (test, variable) = (block.get("test")?.as_str()?, block.get("variable")?.as_str()?);
        let values = block.get("values")?.as_array()?;
        if values.iter().any(Value::is_null) {
            return None;
        }
        let of_test = conditions.entry(test).or_insert_with(|| json!({}));
        add(&mut of_test[variable], values);
    }
    Some(conditions)
}

/// Adds to a list what is new: Terraform makes one of blocks that differ in nothing but values.
fn add(list: &mut Value, values: &[Value]) {
    let mut all = list.as_array().cloned().unwrap_or_default();
    for value in values {
        if !all.contains(value) {
            all.push(value.clone());
        }
    }
    *list = Value::Array(all);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(changes: Value) -> Value {
        let mut statement = json!({"sid": "A", "effect": null, "actions": ["a:B"],
            "not_actions": null, "resources": ["*"], "not_resources": null,
            "principals": [], "not_principals": [], "condition": []});
        json_patch::merge(&mut statement, &changes);
        statement
    }

    fn without(field: &str) -> Value {
        let mut statement = statement(json!({}));
        statement.as_object_mut().unwrap().remove(field);
        statement
    }

    #[test]
    fn what_is_known_is_certain_and_the_rest_is_open() {
        let plain = json!({"Sid": "A", "Effect": "Allow", "Action": ["a:B"], "Resource": ["*"]});
        let open = |changes: Value| {
            let mut open = plain.clone();
            json_patch::merge(&mut open, &changes);
            open["Condition"]["StringEquals"][NOT_KNOWN_YET] = "true".into();
            open
        };
        let plain_with = |changes: Value| {
            let mut changed = plain.clone();
            json_patch::merge(&mut changed, &changes);
            changed
        };
        let two = |values: &[Value; 2]| {
            let block = |values| json!({"test": "StringEquals", "variable": "x", "values": values});
            json!(values.each_ref().map(block))
        };
        let region = json!([{"test": "StringEquals", "variable": "aws:RequestedRegion",
            "values": ["eu-west-1"]}]);
        let half = json!([{"test": "StringEquals", "variable": "aws:RequestedRegion"}]);
        let not = |items: Value| json!({"Action": null, "NotAction": items});
        for (data, wanted) in [
            (statement(json!({})), vec![plain.clone()]),
            (without("resources"), vec![open(json!({}))]),
            (without("actions"), vec![open(json!({"Action": ["*"]}))]),
            (
                statement(json!({"actions": ["a:B", null]})),
                vec![plain.clone(), open(json!({"Action": ["*"]}))],
            ),
            (without("effect"), vec![open(json!({})), open(json!({"Effect": "Deny"}))]),
            (statement(json!({"condition": half})), vec![open(json!({}))]),
            (
                statement(json!({"effect": "Deny", "sid": "", "condition": region})),
                vec![json!({"Effect": "Deny", "Action": ["a:B"], "Resource": ["*"],
                    "Condition": {"StringEquals": {"aws:RequestedRegion": ["eu-west-1"]}}})],
            ),
            (
                statement(json!({"condition": two(&[json!(["a", "b"]), json!(["b", "c"])])})),
                vec![plain_with(json!({"Condition": {"StringEquals": {"x": ["a", "b", "c"]}}}))],
            ),
            (
                statement(json!({"principals": [
                    {"type": "AWS", "identifiers": ["111122223333"]},
                    {"type": "Service", "identifiers": ["ec2.amazonaws.com"]},
                    {"type": "AWS", "identifiers": ["444455556666"]}]})),
                vec![plain_with(json!({"Principal": {"AWS": ["111122223333", "444455556666"],
                    "Service": ["ec2.amazonaws.com"]}}))],
            ),
            (
                statement(json!({"resources": ["x/&{aws:PrincipalTag/a}", "a&b"]})),
                vec![plain_with(json!({"Resource": ["x/${aws:PrincipalTag/a}", "a&b"]}))],
            ),
            (
                statement(json!({"actions": null, "not_actions": ["a:C", null]})),
                vec![open(not(json!(["a:C"])))],
            ),
        ] {
            let found: Vec<_> = own(&json!({"statement": [data]}))
                .into_iter()
                .flat_map(|one| one.statements)
                .collect();
            assert_eq!(found, wanted, "{data}");
            let document = json!({"Version": "2012-10-17", "Statement": found}).to_string();
            assert!(crate::iam::Policy::parse(&document).is_ok(), "{document}");
        }
    }
}
