//! `--output`: the reports in every format that was asked for, each to its place.

use std::{
    env, fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use super::{
    Failure, console,
    files::{self, Readers},
};
use crate::{
    cli::Output,
    report::{self, Format, Reports, github},
};

/// Finds out before any call is made whether the outputs can be had together.
pub fn check(outputs: &[Output]) -> Result<(), Failure> {
    let mut places: Vec<Option<PathBuf>> = Vec::new();
    for output in outputs {
        if let Some(path) = &output.file {
            files::check_place("--output", path)?;
        }
        let place = output.file.as_deref().map(resolved);
        if places.contains(&place) {
            let name = output
                .file
                .as_ref()
                .map_or_else(|| "standard output".to_owned(), |path| path.display().to_string());
            return Err(Failure::Usage(format!(
                "two outputs go to {name}: give one of them a file of its own, such as \
                 --output {0}=report.{0}",
                output.format.name()
            )));
        }
        places.push(place);
    }
    Ok(())
}

fn resolved(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    fs::canonicalize(&absolute).unwrap_or(absolute)
}

/// Writes every output; one that fails does not keep the others back.
pub fn write(reports: &Reports, outputs: &[Output]) -> Result<(), Failure> {
    let mut result = Ok(());
    for output in outputs {
        result = result.and(write_one(reports, output));
    }
    if outputs.iter().any(|output| output.format == Format::Github) {
        result = result.and(add_step_summary(reports));
    }
    result
}

fn write_one(reports: &Reports, output: &Output) -> Result<(), Failure> {
    let Some(path) = &output.file else {
        let style = console::style();
        return console::print(|out| report::write(reports, output.format, style, out));
    };
    let mut text = Vec::new();
    report::write(reports, output.format, console::PLAIN, &mut text)
        .map_err(|error| not_written(path, error))?;
    files::write(path, &text, Readers::Others)
}

/// Adds the report to the page of a step in GitHub Actions, as the runner asks for it.
fn add_step_summary(reports: &Reports) -> Result<(), Failure> {
    let place = env::var_os("GITHUB_STEP_SUMMARY").filter(|place| !place.is_empty());
    let Some(path) = place.map(PathBuf::from) else { return Ok(()) };
    let file = fs::OpenOptions::new().create(true).append(true).open(&path);
    file.and_then(|mut file| file.write_all(github::summary(reports)?.as_bytes()))
        .map_err(|error| not_written(&path, error))
}

fn not_written(path: &Path, error: io::Error) -> Failure {
    Failure::Io { what: format!("could not write {}", path.display()), error }
}
