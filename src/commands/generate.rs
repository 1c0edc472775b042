//! `generate`: the files that are derived from the code.

use super::{Failure, console};
use crate::{
    checks,
    cli::Generated,
    errors,
    outcome::ExitCode,
    report::{catalogue, explanation, json},
};

pub fn run(what: Generated) -> Result<ExitCode, Failure> {
    let text = match what {
        Generated::ChecksDoc => catalogue::docs_checks(checks::ALL),
        Generated::ErrorsDoc => {
            catalogue::docs_errors(&errors::catalogue().iter().collect::<Vec<_>>())
        }
        Generated::ExplanationSchema => explanation::json::schema_text(),
        Generated::ReportSchema => json::schema_text(),
    };
    console::print(|out| out.write_all(text.as_bytes()))?;
    Ok(ExitCode::Ok)
}
