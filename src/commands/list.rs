//! `list`: what there is.

use super::{Failure, console};
use crate::{
    checks,
    cli::{ListArgs, ListWhat, TextFormat},
    outcome::ExitCode,
    report::catalogue,
};

pub fn run(args: &ListArgs) -> Result<ExitCode, Failure> {
    match args.what {
        ListWhat::Checks { output } => console::print(|out| match output {
            TextFormat::Human => catalogue::list_checks(checks::ALL, console::style(), out),
            TextFormat::Json => catalogue::list_checks_json(checks::ALL, out),
        })?,
    }
    Ok(ExitCode::Ok)
}
