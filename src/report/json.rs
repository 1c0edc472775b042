//! The report for programs, and its JSON Schema.
//!
//! Within version 1, fields and enumerated values are only added; one that is removed or
//! changes its meaning makes version 2.

use std::io::{self, Write};

use schemars::{JsonSchema, generate::SchemaSettings};
use serde::Serialize;
use serde_json::Value;

use super::{Report, Reports, text::is_unsafe};

/// Writes the report as JSON: indented, keys in a fixed order, a line break at the end.
///
/// # Errors
/// Where `out` cannot be written to.
pub fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    write_value(report, out)
}

/// Writes the one report that was asked for, or all of a run.
///
/// # Errors
/// Where `out` cannot be written to.
pub fn write_all(all: &Reports, out: &mut dyn Write) -> io::Result<()> {
    match all.reports.as_slice() {
        [report] if all.alone => write(report, out),
        _ => write_value(all, out),
    }
}

/// The text of `schema/reports.v1.json`.
pub fn reports_schema_text() -> String {
    let schema = schema_of::<Reports>(
        "karpenter-preflight reports, version 1",
        "What `karpenter-preflight check --all-clusters --output json` writes. Within a version, \
         fields and enumerated values are only added: ignore those that you do not know.",
    );
    format!("{schema:#}\n")
}

/// The JSON Schema (2020-12) of the report, `schema/report.v1.json`.
pub fn schema() -> Value {
    schema_of::<Report>(
        "karpenter-preflight report, version 1",
        "What `karpenter-preflight check --output json` writes. Within a version, \
         fields and enumerated values are only added: ignore those that you do not know.",
    )
}

/// The JSON Schema (2020-12) of what is written.
pub(super) fn schema_of<T: JsonSchema>(title: &str, description: &str) -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.insert("title".to_owned(), title.into());
    schema.insert("description".to_owned(), description.into());
    schema.to_value()
}

/// The text of `schema/report.v1.json`.
pub fn schema_text() -> String {
    format!("{:#}\n", schema())
}

/// Writes a value as the report is written. What a terminal would act on is escaped; that
/// changes how a text is spelled, and not what it says.
pub(super) fn write_value(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    let text = serde_json::to_string_pretty(value)?;
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        // Pretty-printing sets line breaks between tokens; all else stands inside a string.
        if c != '\n' && is_unsafe(c) {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                escaped += &format!("\\u{unit:04x}");
            }
        } else {
            escaped.push(c);
        }
    }
    writeln!(out, "{escaped}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::{report, text, written};

    const SAMPLES: [&str; 4] = ["problems", "all-well", "empty", "hostile"];

    #[test]
    fn the_schema_file_is_up_to_date() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/schema/report.v1.json");
        if std::env::var_os("UPDATE_SCHEMA").is_some() {
            std::fs::write(path, schema_text()).unwrap();
        }
        let found = std::fs::read_to_string(path).unwrap_or_default();
        assert!(found == schema_text(), "{path} is out of date: run `make schema` and commit it");
    }

    #[test]
    fn reports_keep_to_the_schema() {
        let mut schemas = boon::Schemas::new();
        let mut compiler = boon::Compiler::new();
        compiler.add_resource("report.v1.json", schema()).unwrap();
        let compiled = compiler.compile("report.v1.json", &mut schemas).unwrap();
        for name in SAMPLES {
            let written = written(|out| write(&report(name), out));
            let value: Value = serde_json::from_str(&written).unwrap();
            if let Err(fault) = schemas.validate(&value, compiled) {
                panic!("{name}: {fault}");
            }
        }
        for (field, wrong) in [("schema_version", 2.into()), ("outcomes", Value::Null)] {
            let mut value: Value = serde_json::from_str(&text("problems")).unwrap();
            value[field] = wrong;
            assert!(schemas.validate(&value, compiled).is_err(), "a wrong {field} is valid");
        }
    }

    #[test]
    fn several_reports_keep_to_their_schema() {
        let mut schemas = boon::Schemas::new();
        let mut compiler = boon::Compiler::new();
        let schema = serde_json::from_str(&reports_schema_text()).unwrap();
        compiler.add_resource("reports.v1.json", schema).unwrap();
        let compiled = compiler.compile("reports.v1.json", &mut schemas).unwrap();
        let not_run = crate::report::NotRun { cluster: "x".to_owned(), why: "no".to_owned() };
        let all = Reports::several(SAMPLES.map(report).into(), vec![not_run]);
        let written = written(|out| write_all(&all, out));
        let value: Value = serde_json::from_str(&written).unwrap();
        if let Err(fault) = schemas.validate(&value, compiled) {
            panic!("{fault}");
        }
        assert!(schemas.validate(&value["reports"][0], compiled).is_err());
    }

    #[test]
    fn the_text_is_stable() {
        for name in ["problems", "all-well", "empty"] {
            assert_eq!(written(|out| write(&report(name), out)), text(name), "{name}");
        }
    }
}
