//! The answer for programs, and its JSON Schema.
//!
//! Within version 1, fields and enumerated values are only added; one that is removed or
//! changes its meaning makes version 2.

use std::io::{self, Write};

use super::Explanation;
use crate::report::json::{schema_of, write_value};

/// Writes the answer as JSON.
///
/// # Errors
/// Where `out` cannot be written to.
pub fn write(explanation: &Explanation, out: &mut dyn Write) -> io::Result<()> {
    write_value(explanation, out)
}

/// The JSON Schema (2020-12) of the answer, `schema/explanation.v1.json`.
pub fn schema() -> serde_json::Value {
    schema_of::<Explanation>(
        "karpenter-preflight explanation, version 1",
        "What `karpenter-preflight explain --output json` writes for a text and for the id of a \
         documented error. Within a version, fields and enumerated values are only added: \
         ignore those that you do not know.",
    )
}

/// The text of `schema/explanation.v1.json`.
pub fn schema_text() -> String {
    format!("{:#}\n", schema())
}
