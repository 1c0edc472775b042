//! `list`: what there is.

use std::collections::BTreeSet;

use super::{Failure, console, selection};
use crate::{
    checks,
    cli::{ErrorsArgs, ListArgs, ListWhat, TextFormat},
    errors::{DocumentedError, catalogue},
    outcome::ExitCode,
    report::catalogue as pages,
};

pub fn run(args: &ListArgs) -> Result<ExitCode, Failure> {
    match &args.what {
        ListWhat::Checks { output } => console::print(|out| match output {
            TextFormat::Human => pages::list_checks(checks::ALL, out, console::style()),
            TextFormat::Json => pages::list_checks_json(checks::ALL, out),
        })?,
        ListWhat::Errors(args) => {
            let errors = select(args)?;
            console::print(|out| match args.output {
                TextFormat::Human => pages::list_errors(&errors, out, console::style()),
                TextFormat::Json => pages::list_errors_json(&errors, out),
            })?;
        }
    }
    Ok(ExitCode::Ok)
}

/// The errors that pass every filter.
fn select(args: &ErrorsArgs) -> Result<Vec<&'static DocumentedError>, Failure> {
    let areas: BTreeSet<_> = catalogue().iter().map(|entry| entry.area.as_str()).collect();
    let areas: Vec<_> = areas.into_iter().collect();
    let known =
        |id: &Option<String>, kind, known: &[&str]| match id {
            Some(id) if !known.contains(&id.as_str()) => Err(Failure::Usage(
                selection::unknown_of(id, kind, known, &format!("there are {}", known.join(", "))),
            )),
            _ => Ok(()),
        };
    known(&args.area, "area", &areas)?;
    known(&args.check, "check", &selection::ids())?;
    let proves = |entry: &DocumentedError, check: &String| {
        entry.causes.iter().any(|cause| cause.checks.contains(check))
    };
    let chosen = catalogue()
        .iter()
        .filter(|entry| args.area.as_ref().is_none_or(|area| *area == entry.area))
        .filter(|entry| args.place.is_none_or(|place| entry.printed.contains(&place)))
        .filter(|entry| args.check.as_ref().is_none_or(|check| proves(entry, check)));
    Ok(chosen.collect())
}
