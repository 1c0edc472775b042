//! `--output`: the reports in every format that was asked for, each to its place.

use std::{
    env, fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use super::{
    Failure, console,
    files::{self, Readers},
    places::Place,
};
use crate::{
    cli::Output,
    report::{self, Format, Reports, github},
};

/// Where an output goes.
pub fn place(output: &Output) -> Place {
    let flag = format!("--output {}", output.format.name());
    output.file.as_deref().map_or_else(|| Place::standard(&flag), |path| Place::new(&flag, path))
}

/// Writes every output; one that fails does not keep the others back.
pub fn write(reports: &Reports, outputs: &[&Output]) -> Result<(), Failure> {
    let mut result = Ok(());
    for output in outputs {
        result = both(result, write_one(reports, output));
    }
    if outputs.iter().any(|output| output.format == Format::Github) {
        result = both(result, add_step_summary(reports));
    }
    result
}

/// The first failure; of a second one the user hears at once.
pub fn both(first: Result<(), Failure>, second: Result<(), Failure>) -> Result<(), Failure> {
    if let (Err(_), Err(second)) = (&first, &second) {
        console::error(second);
    }
    first.and(second)
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
