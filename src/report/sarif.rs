//! SARIF 2.1.0, for code scanning: a run a cluster, a rule a check.
//!
//! Results are what a person must look at. A pass is none: viewers show every result as an alert.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::{
    NotRun, Report, Reports, arn,
    json::write_value,
    remarks,
    text::{clean, sentence},
    unread,
};
use crate::{
    checks::{self, Check},
    outcome::{Outcome, Status, Step},
};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The file that results are shown at. They are about an account, which has no files, and code
/// scanning takes no result without one; this one says what is judged.
const FILE: &str = "karpenter-preflight.toml";

/// Writes the reports as SARIF.
///
/// # Errors
/// Where `out` cannot be written to.
pub fn write(all: &Reports, out: &mut dyn Write) -> io::Result<()> {
    write_with(&all.reports, &all.not_run, checks::ALL, out)
}

pub(super) fn write_with(
    reports: &[Report],
    not_run: &[NotRun],
    known: &[&Check],
    out: &mut dyn Write,
) -> io::Result<()> {
    let read = reports.iter().map(|report| run(report, known));
    let runs: Vec<_> = read.chain(not_run.iter().map(unread::sarif)).collect();
    write_value(&json!({"$schema": SCHEMA, "version": "2.1.0", "runs": runs}), out)
}

fn run(report: &Report, known: &[&Check]) -> Value {
    let target = &report.target;
    let account = target.account.as_deref().unwrap_or("unknown");
    let rules: Vec<_> = known.iter().map(|check| rule(check)).collect();
    let outcomes = report.outcomes.iter().filter(|outcome| level(outcome).is_some());
    let results: Vec<_> = outcomes.map(|outcome| result(report, outcome, known)).collect();
    let stale: Vec<_> = remarks::stale(report)
        .map(|words| json!({"level": "note", "message": {"text": sentence(&words)}}))
        .collect();
    json!({
        "tool": {"driver": {
            "name": "karpenter-preflight",
            "semanticVersion": report.tool_version,
            "rules": rules,
        }},
        // Each run of one log needs a category of its own.
        "automationDetails": {"id": format!(
            "karpenter-preflight/{account}/{}/{}/",
            target.region.value, target.cluster
        )},
        "invocations": [{
            "executionSuccessful": true,
            "exitCode": report.exit_code,
            "endTimeUtc": report.collected_at.to_string(),
            "toolConfigurationNotifications": stale,
        }],
        "results": results,
    })
}

fn rule(check: &Check) -> Value {
    json!({
        "id": check.id,
        "shortDescription": {"text": check.title},
        "help": {"text": check.doc, "markdown": check.doc},
        "properties": {
            "tags": ["karpenter", check.area.as_str()],
            "errors": check.errors,
        },
    })
}

/// How bad a result is, and of which kind; `None` where it is none.
fn level(outcome: &Outcome) -> Option<(&'static str, &'static str)> {
    match outcome.status {
        Status::Fail => Some(("error", "fail")),
        Status::Warn => Some(("warning", "fail")),
        // Judged, and there was too little to tell.
        Status::Unknown => Some(("none", "open")),
        Status::Waived => match outcome.judged() {
            Status::Warn => Some(("warning", "fail")),
            Status::Unknown => Some(("none", "open")),
            _ => Some(("error", "fail")),
        },
        Status::Pass | Status::Skipped => None,
    }
}

fn result(report: &Report, outcome: &Outcome, known: &[&Check]) -> Value {
    let (level, kind) = level(outcome).unwrap_or(("none", "informational"));
    let arn = arn::of(report, outcome);
    let errors: Vec<_> = outcome.errors.iter().map(|error| &error.id).collect();
    let mut result = json!({
        "ruleId": outcome.check,
        "level": level,
        "kind": kind,
        "message": {"text": message(outcome)},
        "locations": [{
            "physicalLocation": {"artifactLocation": {"uri": FILE}, "region": {"startLine": 1}},
            "logicalLocations": [{
                "name": outcome.subject,
                "fullyQualifiedName": arn,
                "kind": "resource",
            }],
        }],
        "partialFingerprints": {
            "checkAndSubject/v1": format!("{}/{arn}/{}", outcome.check, outcome.subject),
        },
        "properties": {"errors": errors, "evidence": outcome.evidence, "remedy": outcome.remedy},
    });
    if outcome.status == Status::Waived {
        let why = remarks::of(outcome).unwrap_or_default();
        result["suppressions"] = json!([{"kind": "external", "justification": why}]);
    }
    if let Some(index) = known.iter().position(|check| check.id == outcome.check) {
        result["ruleIndex"] = index.into();
    }
    result
}

/// What was seen, what follows, and how to mend it, as plain text.
fn message(outcome: &Outcome) -> String {
    let mut lines =
        vec![format!("{}: {}", clean(&outcome.subject), sentence(&clean(&outcome.seen)))];
    if !outcome.effect.is_empty() {
        lines.push(clean(&outcome.effect));
    }
    if let Some(remedy) = &outcome.remedy {
        lines.push(format!("To mend: {}", clean(&remedy.words)));
        lines.extend(remedy.steps.iter().map(|step| match step {
            Step::Command { command } => command.clone(),
            Step::Document { file, document } => format!("{file}:\n{document}"),
        }));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::{CHECKS, report, written};

    fn sarif(reports: &[Report], known: &[&Check]) -> Value {
        serde_json::from_str(&written(|out| write_with(reports, &[], known, out))).unwrap()
    }

    #[test]
    fn logs_keep_to_the_official_schema() {
        let text = include_str!("../../tests/data/schemas/sarif-2.1.0.json");
        let mut schemas = boon::Schemas::new();
        let mut compiler = boon::Compiler::new();
        compiler.add_resource("sarif.json", serde_json::from_str(text).unwrap()).unwrap();
        let compiled = compiler.compile("sarif.json", &mut schemas).unwrap();
        let samples = ["problems", "all-well", "empty", "hostile"].map(report);
        for known in [&CHECKS[..], checks::ALL] {
            let log = sarif(&samples, known);
            if let Err(fault) = schemas.validate(&log, compiled) {
                panic!("{fault}");
            }
        }
        let mut wrong = sarif(&samples, &CHECKS);
        wrong["runs"][0]["results"][0]["level"] = "bad".into();
        assert!(schemas.validate(&wrong, compiled).is_err(), "the schema refuses something");
    }

    #[test]
    fn results_are_what_to_look_at() {
        let log = sarif(&[report("problems")], &CHECKS);
        let results = log["runs"][0]["results"].as_array().unwrap();
        let found: Vec<_> = results
            .iter()
            .map(|result| {
                let text = |pointer| result.pointer(pointer).and_then(Value::as_str).unwrap();
                (text("/ruleId"), text("/level"), text("/kind"))
            })
            .collect();
        assert_eq!(
            found,
            [
                ("discovered-subnets", "warning", "fail"),
                ("imds-defaults", "none", "open"),
                ("node-role-trust", "error", "fail"),
                ("node-role-access-entry", "error", "fail"),
                ("node-role-access-entry", "none", "open"),
            ]
        );
        for result in results {
            let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
            let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            assert_eq!(rules[index]["id"], result["ruleId"]);
            let arn = &result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"];
            assert!(arn.as_str().unwrap().starts_with("arn:aws:"), "{arn}");
        }
    }
}
