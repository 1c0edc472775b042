//! The files that are derived from the code are up to date.

use crate::cli::Tool;

#[test]
fn generated_files_are_up_to_date() {
    for (what, committed, target) in [
        ("checks-doc", include_str!("../../docs/checks.md"), "docs"),
        ("errors-doc", include_str!("../../docs/errors.md"), "docs"),
        ("explanation-schema", include_str!("../../schema/explanation.v1.json"), "schema"),
        ("report-schema", include_str!("../../schema/report.v1.json"), "schema"),
    ] {
        let run = Tool::new(["generate", what]).run();
        assert!(run.stdout == committed, "`make {target}` would change a committed file");
    }
}
