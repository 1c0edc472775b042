//! `explain`: what a check looks at, why, and how to mend it.

use super::{Failure, console, selection};
use crate::{
    checks,
    cli::{ExplainArgs, TextFormat},
    outcome::ExitCode,
    report::catalogue,
};

pub fn run(args: &ExplainArgs) -> Result<ExitCode, Failure> {
    let check = checks::get(&args.id)
        .ok_or_else(|| Failure::Usage(selection::unknown(&args.id, "check", &selection::ids())))?;
    console::print(|out| match args.output {
        TextFormat::Human => catalogue::explain_check(check, console::style(), out),
        TextFormat::Json => catalogue::explain_check_json(check, out),
    })?;
    Ok(ExitCode::Ok)
}
