//! The documents as JSON.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Value, json};

use super::{Bearer, Sheet, order::Ordered};

/// Writes one object with everything.
///
/// # Errors
/// Where `out` cannot be written to.
pub fn write(sheet: &Sheet, out: &mut dyn Write) -> io::Result<()> {
    #[derive(Serialize)]
    struct Bundle<'a> {
        purpose: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        role: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        queue_arn: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        trust: Option<Ordered<'a>>,
        managed_policy_arns: &'a [String],
        policies: Vec<Ordered<'a>>,
    }
    let policies: Vec<Value> = sheet
        .policies
        .iter()
        .map(|policy| json!({"name": policy.name, "document": policy.document}))
        .collect();
    let (role, queue_arn) = match &sheet.bearer {
        Bearer::Role(name) => (Some(name.as_str()), None),
        Bearer::Queue(arn) => (None, Some(arn.as_str())),
        Bearer::Anyone => (None, None),
    };
    let bundle = Bundle {
        purpose: &sheet.title,
        role,
        queue_arn,
        trust: sheet.trust.as_ref().map(Ordered),
        managed_policy_arns: &sheet.managed,
        policies: policies.iter().map(Ordered).collect(),
    };
    super::super::json::write_value(&bundle, out)
}

/// Writes one bare document.
///
/// # Errors
/// Where `out` cannot be written to.
pub fn document(document: &Value, out: &mut dyn Write) -> io::Result<()> {
    super::super::json::write_value(&Ordered(document), out)
}
