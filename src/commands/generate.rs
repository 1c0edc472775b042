//! `generate`: the files that are derived from the code.

use std::path::Path;

use clap::CommandFactory;

use super::{Failure, console};
use crate::{
    checks,
    cli::{Cli, GenerateArgs, Generated, reference},
    config, errors,
    outcome::ExitCode,
    report::{catalogue, explanation, json},
};

pub fn run(args: &GenerateArgs) -> Result<ExitCode, Failure> {
    let text = match args.what {
        Generated::ChecksDoc => catalogue::docs_checks(checks::ALL),
        Generated::ErrorsDoc => {
            catalogue::docs_errors(&errors::catalogue().iter().collect::<Vec<_>>())
        }
        Generated::FormatsDoc => catalogue::docs_formats(),
        Generated::ConfigDoc => config::doc::page(),
        Generated::CliDoc => reference::page(),
        Generated::ExplanationSchema => explanation::json::schema_text(),
        Generated::ReportSchema => json::schema_text(),
        Generated::ReportsSchema => json::reports_schema_text(),
        Generated::ConfigSchema => config::schema_text(),
        Generated::ManPages => return man_pages(args.out.as_deref().unwrap_or(Path::new("."))),
    };
    console::print(|out| out.write_all(text.as_bytes()))?;
    Ok(ExitCode::Ok)
}

fn man_pages(folder: &Path) -> Result<ExitCode, Failure> {
    clap_mangen::generate_to(Cli::command(), folder).map_err(|error| Failure::Io {
        what: format!("could not write manual pages to {}", folder.display()),
        error,
    })?;
    Ok(ExitCode::Ok)
}
