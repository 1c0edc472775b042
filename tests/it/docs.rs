//! The files that are derived from the code are up to date.

use std::fs;

use crate::{cli::Tool, emulator};

#[test]
fn generated_files_are_up_to_date() {
    for (what, committed, target) in [
        ("checks-doc", "docs/checks.md", "docs"),
        ("errors-doc", "docs/errors.md", "docs"),
        ("formats-doc", "docs/formats.md", "docs"),
        ("config-doc", "docs/configuration.md", "docs"),
        ("cli-doc", "docs/cli.md", "docs"),
        ("explanation-schema", "schema/explanation.v1.json", "schema"),
        ("report-schema", "schema/report.v1.json", "schema"),
        ("reports-schema", "schema/reports.v1.json", "schema"),
        ("config-schema", "schema/config.v1.json", "schema"),
    ] {
        let text = fs::read_to_string(emulator::root().join(committed)).unwrap_or_default();
        let run = Tool::new(["generate", what]).run();
        assert!(run.stdout == text, "`make {target}` would change {committed}");
    }
}
