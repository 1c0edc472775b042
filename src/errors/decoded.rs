//! Reads what `sts:DecodeAuthorizationMessage` gives: the request that was denied, and why.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{denial::Effect, principal::Principal};

/// A denied request, as AWS evaluated it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DecodedMessage {
    pub effect: Effect,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub principal: Option<Principal>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    /// Ids of the statements that matched the request.
    pub statements: Vec<String>,
    /// The values of the request's condition keys.
    pub conditions: BTreeMap<String, Vec<String>>,
}

/// Reads the decoded document. `None` if it is not one.
pub fn read(document: &str) -> Option<DecodedMessage> {
    let message: Message = serde_json::from_str(document).ok()?;
    let context = message.context;
    let conditions = context.conditions.items.into_iter().map(|condition| {
        let values = condition.values.items.into_iter().map(|value| value.value);
        (condition.key, values.collect())
    });
    let statements = message.matched_statements.items.into_iter();
    Some(DecodedMessage {
        effect: if message.explicit_deny { Effect::Explicit } else { Effect::Implicit },
        principal: context.principal.arn.as_deref().map(Principal::new),
        action: context.action,
        resource: context.resource,
        statements: statements.map(|statement| statement.statement_id).collect(),
        conditions: conditions.collect(),
    })
}

/// The document as AWS writes it
/// (docs.aws.amazon.com/STS/latest/APIReference/API_DecodeAuthorizationMessage.html).
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Message {
    explicit_deny: bool,
    #[serde(default)]
    matched_statements: Items<Statement>,
    context: RequestContext,
}

#[derive(Deserialize)]
struct RequestContext {
    #[serde(default)]
    principal: Caller,
    #[serde(default)]
    action: Option<String>,
    #[serde(default)]
    resource: Option<String>,
    #[serde(default)]
    conditions: Items<Condition>,
}

#[derive(Default, Deserialize)]
struct Caller {
    #[serde(default)]
    arn: Option<String>,
}

#[derive(Deserialize)]
struct Items<T> {
    items: Vec<T>,
}

impl<T> Default for Items<T> {
    fn default() -> Self {
        Self { items: Vec::new() }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Statement {
    #[serde(default)]
    statement_id: String,
}

#[derive(Deserialize)]
struct Condition {
    key: String,
    #[serde(default)]
    values: Items<ConditionValue>,
}

#[derive(Deserialize)]
struct ConditionValue {
    value: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_read() {
        let decoded = read(
            r#"{"allowed": false, "explicitDeny": true,
                "matchedStatements": {"items": [{"statementId": "NoBigOnes", "effect": "DENY"}]},
                "failures": {"items": []},
                "context": {
                  "principal": {"id": "AROAEXAMPLE:i-0123456789abcdef0",
                    "arn": "arn:aws:sts::111122223333:assumed-role/nodes/i-0123456789abcdef0"},
                  "action": "ec2:RunInstances",
                  "resource": "arn:aws:ec2:us-west-2:111122223333:instance/*",
                  "conditions": {"items": [{"key": "aws:Region",
                    "values": {"items": [{"value": "us-west-2"}]}}]}}}"#,
        )
        .unwrap();
        assert_eq!(decoded.effect, Effect::Explicit);
        assert_eq!(decoded.principal.unwrap().role.as_deref(), Some("nodes"));
        assert_eq!(decoded.action.as_deref(), Some("ec2:RunInstances"));
        assert_eq!(decoded.statements, ["NoBigOnes"]);
        assert_eq!(decoded.conditions["aws:Region"], ["us-west-2"]);
    }

    #[test]
    fn only_the_request_is_needed() {
        let decoded = read(r#"{"explicitDeny": false, "context": {}}"#).unwrap();
        assert_eq!((decoded.effect, decoded.action), (Effect::Implicit, None));
        assert_eq!(read("no JSON"), None);
        assert_eq!(read(r#"{"explicitDeny": false}"#), None);
    }
}
