//! What a terminal, a pipe and a log file get.

use std::io::{BufRead, BufReader, Read};

use super::{FORMATS, Facts};
use crate::cli::Tool;

const ESCAPE: char = '\u{1b}';

#[test]
fn a_pipe_gets_no_escapes_unless_they_are_forced() {
    let facts = Facts::with_failure();
    let human = |name: &str, value: &str| facts.check().env(name, value).run().stdout;
    let plain = facts.check().run().stdout;
    assert!(!plain.contains(ESCAPE), "{plain}");
    assert_eq!(human("TERM", "xterm-256color"), plain);
    assert_eq!(human("NO_COLOR", "1"), plain);
    let forced = human("CLICOLOR_FORCE", "1");
    assert!(forced.contains(ESCAPE), "{forced}");
    assert_eq!(without_escapes(&forced), plain);
    // https://no-color.org: it prevails over everything but an explicit flag.
    let both = facts.check().env("NO_COLOR", "1").env("CLICOLOR_FORCE", "1").run().stdout;
    assert_eq!(without_escapes(&both), plain);
}

#[test]
fn what_programs_read_is_never_coloured() {
    for format in FORMATS.into_iter().filter(|format| !["human", "short"].contains(format)) {
        let forced = Facts::with_failure()
            .check()
            .args(["--output", format])
            .env("CLICOLOR_FORCE", "1")
            .run()
            .stdout;
        assert!(!forced.contains(ESCAPE), "{forced}");
    }
}

fn without_escapes(text: &str) -> String {
    regex::Regex::new("\u{1b}\\[[0-9;]*m").unwrap().replace_all(text, "").into_owned()
}

/// Words of the report fit; a command must stay in one piece to be copied.
#[test]
fn the_report_fits_the_columns_there_are() {
    let facts = Facts::with_failure();
    let at = |columns: &str| facts.check().env("COLUMNS", columns).run().exits(1).stdout;
    for columns in [60, 80, 120] {
        let report = at(&columns.to_string());
        for line in report.lines().filter(|line| !is_unbreakable(line)) {
            assert!(line.chars().count() <= columns, "{columns} columns: {line}\n{report}");
        }
    }
    assert_eq!(at("80"), facts.check().run().stdout, "80 columns are the default");
    assert_ne!(at("60"), at("120"));
    for odd in ["0", "-1", "wide", "1", "5", "100000"] {
        assert!(at(odd).contains("security groups"), "COLUMNS={odd}");
    }
}

/// Steps of a remedy, which stand deeper than all else, and words that no column could hold.
fn is_unbreakable(line: &str) -> bool {
    // The counts stay in one line, which scripts look for.
    let is_counts = line.contains(" pass, ");
    let is_step = line.starts_with("      ") && !line.starts_with("       ");
    is_counts || is_step || line.split_whitespace().any(|word| word.chars().count() > 30)
}

#[test]
fn help_and_version() {
    let version = Tool::new(["--version"]).run().exits(0).stdout;
    assert!(version.starts_with(concat!("karpenter-preflight ", env!("CARGO_PKG_VERSION"))));
    for args in [
        &["--help"][..],
        &["-h"],
        &["check", "--help"],
        &["check", "-h"],
        &["collect", "--help"],
        &["explain", "--help"],
        &["list", "--help"],
        &["list", "checks", "--help"],
    ] {
        for columns in [None, Some("100"), Some("200")] {
            let mut tool = Tool::new(args);
            if let Some(columns) = columns {
                tool = tool.env("COLUMNS", columns);
            }
            let help = tool.run().exits(0).stdout;
            for line in help.lines() {
                assert!(line.chars().count() <= 100, "{args:?}: {line}");
            }
        }
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let facts = Facts::with_failure();
    let all = ["list", "checks"].map(str::to_owned).to_vec();
    let report = |format: &str| {
        ["check", "--facts", &facts.path(), "--output", format].map(str::to_owned).to_vec()
    };
    for args in FORMATS.map(report).into_iter().chain([all]) {
        let (mut child, _home) = Tool::new(&args).env("COLUMNS", "60").spawn();
        drop(child.stdout.take());
        let mut stderr = String::new();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        child.wait().unwrap();
        assert_eq!(stderr, "", "{args:?}");
    }
}

#[test]
fn head_gets_its_line() {
    let facts = Facts::with_failure();
    let (mut child, _home) = facts.check().spawn();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert!(!first.trim().is_empty());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
