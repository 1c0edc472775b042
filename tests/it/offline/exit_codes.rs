//! Each exit code, and that no format changes it.

use super::{FORMATS, Facts};
use crate::cli::Tool;

#[test]
fn every_code_in_every_format() {
    for (name, facts, args, code) in [
        ("healthy", Facts::healthy(), &[][..], 0),
        ("a warning", Facts::with_warning(), &[], 0),
        ("a warning that counts", Facts::with_warning(), &["--fail-on", "warn"], 1),
        ("a failure", Facts::with_failure(), &[], 1),
        ("a failure that is no unknown", Facts::with_failure(), &["--allow-unknown"], 1),
        ("an unknown", Facts::with_unknown(), &[], 3),
        ("an unknown that is allowed", Facts::with_unknown(), &["--allow-unknown"], 0),
        ("an unknown is no warning", Facts::with_unknown(), &["--fail-on", "warn"], 3),
        ("a usage error", Facts::healthy(), &["--select", "no-such-check"], 2),
    ] {
        for format in FORMATS {
            let ran = facts.check().args(["--output", format]).args(args).run();
            assert_eq!(ran.code, code, "{name}, {format}: {ran:#?}");
            assert_eq!(ran.stdout.is_empty(), code == 2, "{name}, {format}: {ran:#?}");
            assert_eq!(ran.stderr.is_empty(), code != 2, "{name}, {format}: {ran:#?}");
            if format == "json" && code != 2 {
                // Holds the code in the report against the process's too.
                ran.report();
            }
        }
    }
}

#[test]
fn could_not_run_is_4_in_every_format() {
    for format in FORMATS {
        let ran = Tool::new(["check", "--cluster", "demo", "--region", "us-west-2"])
            .args(["--output", format])
            .run()
            .exits(4);
        assert_eq!(ran.stdout, "", "{format}");
    }
}

#[test]
fn usage_errors_are_2() {
    for args in [
        &["check"][..],
        &["check", "--no-such-flag"],
        &["check", "--cluster", ""],
        &["check", "--cluster", "demo", "--output", "yaml"],
        &["check", "--cluster", "demo", "--timeout", "soon"],
        &["check", "--cluster", "demo", "--karpenter-version", "latest"],
        &["check", "--cluster", "demo", "--discovery-tag", "=x"],
        &["check", "--facts", "facts.json", "--region", "us-west-2"],
        &["collect", "--cluster", "demo"],
        &["explain"],
        &["no-such-command"],
        &[],
    ] {
        let ran = Tool::new(args).env("AWS_REGION", "us-west-2").run();
        assert_eq!(ran.code, 2, "{args:?}: {ran:#?}");
        assert_eq!(ran.stdout, "", "{args:?}");
        assert!(!ran.stderr.is_empty(), "{args:?}");
    }
}
