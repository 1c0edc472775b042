//! Whether an EventBridge event pattern lets an event through, as far as the event is known.
//!
//! <https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-create-pattern-operators.html>

use serde_json::{Map, Value};

/// Whether a pattern lets the wanted events through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivery {
    Delivered,
    /// This field of the pattern keeps some or all of them out.
    NotDelivered {
        by: String,
    },
    /// The pattern also asks something of this field that is not known beforehand.
    Narrowed {
        by: String,
    },
}

/// Holds `pattern` against what is known of an event.
pub fn delivery(pattern: &Value, event: &Value) -> Delivery {
    match pattern {
        Value::Object(fields) => fields_match(fields, event, ""),
        // A rule without a pattern is a schedule.
        _ => Delivery::NotDelivered { by: "EventPattern".to_owned() },
    }
}

/// Every field must match; a field that is known to keep the event out settles it.
fn fields_match(fields: &Map<String, Value>, event: &Value, path: &str) -> Delivery {
    let mut narrowed = None;
    for (name, wanted) in fields {
        let by = format!("{path}{name}");
        let matched = match (wanted, event.get(name)) {
            (Value::Object(inner), Some(known @ Value::Object(_))) => {
                fields_match(inner, known, &format!("{by}."))
            }
            (Value::Array(alternatives), Some(Value::String(actual))) => {
                match any_matches(alternatives, actual) {
                    Some(true) => Delivery::Delivered,
                    Some(false) => Delivery::NotDelivered { by },
                    None => Delivery::Narrowed { by },
                }
            }
            _ => Delivery::Narrowed { by },
        };
        match matched {
            Delivery::Delivered => {}
            Delivery::NotDelivered { .. } => return matched,
            Delivery::Narrowed { .. } => narrowed = Some(matched),
        }
    }
    narrowed.unwrap_or(Delivery::Delivered)
}

/// `None` when it hangs on an operator that is not read here.
fn any_matches(alternatives: &[Value], actual: &str) -> Option<bool> {
    let mut verdict = Some(false);
    for alternative in alternatives {
        match one_matches(alternative, actual) {
            Some(true) => return Some(true),
            Some(false) => {}
            None => verdict = None,
        }
    }
    verdict
}

fn one_matches(alternative: &Value, actual: &str) -> Option<bool> {
    if let Some(text) = alternative.as_str() {
        return Some(text == actual);
    }
    let operand = |key: &str| alternative.get(key).and_then(Value::as_str);
    if let Some(prefix) = operand("prefix") {
        Some(actual.starts_with(prefix))
    } else if let Some(suffix) = operand("suffix") {
        Some(actual.ends_with(suffix))
    } else if let Some(text) = operand("equals-ignore-case") {
        Some(actual.eq_ignore_ascii_case(text))
    } else {
        // The field is there, which is all that this one asks.
        alternative.get("exists").and_then(Value::as_bool)
    }
}
