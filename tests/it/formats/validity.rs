//! Each format read by a program that is not ours.

use std::{fs, process::Command};

use serde_json::Value;

use super::problems;
use crate::{emulator, offline::Facts};

/// Python with what `tests/emulator/requirements-formats.txt` names.
fn python() -> Command {
    let ensure = emulator::root().join("tests/emulator/ensure_venv.py");
    let output = Command::new("python3").arg(ensure).arg("requirements-formats.txt").output();
    let output = output.expect("python3 runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Command::new(String::from_utf8(output.stdout).unwrap().trim())
}

/// What `tests/formats/read.py` makes of a report.
fn read(format: &str, facts: &Facts) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report");
    fs::write(&file, facts.check().args(["--output", format]).run().stdout).unwrap();
    let output = python()
        .arg(emulator::root().join("tests/formats/read.py"))
        .args([format.as_ref(), file.as_os_str()])
        .output()
        .unwrap();
    assert!(output.status.success(), "{format}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn prometheus_reads_the_metrics() {
    for facts in [problems(), Facts::healthy()] {
        let report = facts.check().report();
        let metrics = read("prometheus", &facts);
        for status in ["pass", "warn", "fail", "unknown", "skipped"] {
            let count = |metric: &str| metrics[metric][status].as_f64().unwrap();
            assert_eq!(count("findings"), count("outcomes"), "{status}: {metrics:#}");
            #[allow(clippy::cast_precision_loss)]
            let expected = report.count(status) as f64;
            assert_eq!(count("outcomes"), expected, "{status}: {metrics:#}");
        }
        assert_eq!(metrics["exit_code"], f64::from(report.code));
        assert!(metrics["last_success_timestamp_seconds"].as_f64().unwrap() > 1.7e9);
    }
}

#[test]
fn an_xml_parser_reads_the_tests() {
    let facts = problems();
    let report = facts.check().report();
    let tests = read("junit", &facts);
    assert_eq!(tests["tests"], report.outcomes().len());
    assert_eq!(tests["failures"], report.count("fail"));
    assert_eq!(tests["errors"], report.count("unknown"));
    assert_eq!(tests["skipped"], report.count("skipped"));
}

#[test]
fn sarif_keeps_to_the_official_schema() {
    let schema = fs::read_to_string(emulator::data("schemas/sarif-2.1.0.json")).unwrap();
    let mut schemas = boon::Schemas::new();
    let mut compiler = boon::Compiler::new();
    compiler.add_resource("sarif.json", serde_json::from_str(&schema).unwrap()).unwrap();
    let compiled = compiler.compile("sarif.json", &mut schemas).unwrap();
    for facts in [problems(), Facts::healthy()] {
        let ran = facts.check().args(["--output", "sarif"]).run();
        if let Err(fault) = schemas.validate(&ran.json(), compiled) {
            panic!("{fault}");
        }
    }
}
