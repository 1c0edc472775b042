//! `--output`: several at once, into files, and what goes wrong there.

use std::fs;

use super::problems;
use crate::{cli::Tool, offline::FORMATS};

#[test]
fn a_file_holds_what_a_pipe_gets() {
    let facts = problems();
    let folder = tempfile::tempdir().unwrap();
    for format in FORMATS {
        let file = folder.path().join(format);
        let to = format!("{format}={}", file.display());
        let ran = facts.check().args(["--output", &to]).run().exits(1);
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""), "{format}");
        let piped = facts.check().env("COLUMNS", "100").args(["--output", format]).run().exits(1);
        assert_eq!(fs::read_to_string(&file).unwrap(), piped.stdout, "{format}");
        let dash = format!("{format}=-");
        let ran = facts.check().env("COLUMNS", "100").args(["--output", &dash]).run().exits(1);
        assert_eq!(ran.stdout, piped.stdout, "{format}");
    }
}

#[test]
fn several_at_once() {
    let facts = problems();
    let folder = tempfile::tempdir().unwrap();
    let [sarif, json] = ["out.sarif", "out.json"].map(|name| folder.path().join(name));
    let ran = facts
        .check()
        .args(["--output", "human", "--output", &format!("sarif={}", sarif.display())])
        .args(["-o", &format!("json={}", json.display())])
        .run()
        .exits(1);
    assert!(ran.stdout.starts_with("karpenter-preflight"), "{ran:#?}");
    assert!(fs::read_to_string(sarif).unwrap().contains("\"version\": \"2.1.0\""));
    assert!(fs::read_to_string(json).unwrap().contains("\"schema_version\": 1"));
}

#[test]
fn one_place_takes_one_report() {
    let facts = problems();
    facts.check().args(["-o", "human", "-o", "json"]).run().exits(2).says(&["standard output"]);
    facts.check().args(["-o", "human", "-o", "json=-"]).run().exits(2).says(&["standard output"]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("out");
    let again = folder.path().join(".").join("out");
    facts
        .check()
        .args(["-o", &format!("json={}", file.display())])
        .args(["-o", &format!("sarif={}", again.display())])
        .run()
        .exits(2)
        .says(&["two outputs go to", "out", "sarif=report.sarif"]);
    assert!(!file.exists());
}

#[test]
fn a_place_that_is_none_is_said_before_anything_is_read() {
    // There are no credentials here: had it tried, it would have said so.
    let check = || Tool::new(["check", "--cluster", "demo", "--region", "us-west-2"]);
    check()
        .args(["-o", "json=/nowhere/out.json"])
        .run()
        .exits(2)
        .says(&["--output", "no directory /nowhere"]);
    check().args(["-o", "json=/"]).run().exits(2).says(&["--output", "is a directory"]);
    check().args(["-o", "json="]).run().exits(2).says(&["name a file"]);
    check().args(["-o", "yaml"]).run().exits(2).says(&["no format `yaml`", "there are human"]);
    check().args(["-o", "sarf"]).run().exits(2).says(&["did you mean `sarif`?"]);
}

#[test]
fn a_write_that_fails_is_4_and_keeps_no_other_report_back() {
    let facts = problems();
    let ran = facts
        .check()
        .args(["-o", "json=/dev/full", "-o", "short"])
        .run()
        .exits(4)
        .says(&["could not write /dev/full", "No space left"]);
    assert!(ran.stdout.contains("fail\t"), "{ran:#?}");
    assert!(fs::exists("/dev/full").unwrap());
}

#[test]
#[cfg(unix)]
fn a_file_is_replaced_whole_through_a_link_and_for_others_to_read() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let facts = problems();
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("real.prom"), folder.path().join("link.prom"));
    fs::write(&file, "old\n".repeat(10_000)).unwrap();
    symlink(&file, &link).unwrap();
    facts.check().args(["-o", &format!("prometheus={}", link.display())]).run().exits(1);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.starts_with("# HELP") && !text.contains("old\n"), "{text}");
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o444, 0o444, "node_exporter runs as another user: {mode:o}");
    let left: Vec<_> = fs::read_dir(&folder).unwrap().map(|one| one.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn github_gets_annotations_and_a_summary() {
    let facts = problems();
    let folder = tempfile::tempdir().unwrap();
    let summary = folder.path().join("summary.md");
    fs::write(&summary, "what an earlier step wrote\n").unwrap();
    let ran = facts
        .check()
        .args(["-o", "github"])
        .env("GITHUB_STEP_SUMMARY", summary.to_str().unwrap())
        .run()
        .exits(1);
    assert!(ran.stdout.starts_with("::error title="), "{ran:#?}");
    assert!(ran.stdout.contains("\n::warning title="), "{ran:#?}");
    let text = fs::read_to_string(&summary).unwrap();
    assert!(text.starts_with("what an earlier step wrote\n## ✗ karpenter-preflight"), "{text}");
    facts.check().args(["-o", "github"]).env("GITHUB_STEP_SUMMARY", "").run().exits(1);
    facts
        .check()
        .args(["-o", "github"])
        .env("GITHUB_STEP_SUMMARY", "/nowhere/summary")
        .run()
        .exits(4)
        .says(&["could not write /nowhere/summary"]);
}
