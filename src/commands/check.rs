//! `check`: read the facts, judge them, print the report.

use super::{Failure, facts_file, outputs, read, selection};
use crate::{
    checks::{self, Context},
    cli::CheckArgs,
    outcome::{Counts, ExitCode, exit_code},
    report::Report,
    target::{mismatch, resolve::resolve, saved::Saved},
};

pub fn run(args: CheckArgs) -> Result<ExitCode, Failure> {
    // A wrong id must not cost a run.
    let checks = selection::select(&args.select, &args.exclude).map_err(Failure::Usage)?;
    outputs::check(&args.output)?;
    let saved = match &args.facts {
        Some(path) => facts_file::load(path, &args.scope)?,
        None => read::read(&args.aws, &args.scope)?,
    };
    if let Some(why) = mismatch::of_named(&saved.scope, &saved.facts) {
        return Err(Failure::Usage(why));
    }
    let report = judge(&saved, &checks, &args);
    let code = exit_code(&report.counts, args.fail_on, args.allow_unknown);
    outputs::write(&[report], &args.output)?;
    Ok(code)
}

fn judge(saved: &Saved, checks: &[&'static checks::Check], args: &CheckArgs) -> Report {
    let target = resolve(&saved.scope, &saved.facts);
    let outcomes = checks::run::run(checks, &Context::new(&target, &saved));
    let code = exit_code(&Counts::of(&outcomes), args.fail_on, args.allow_unknown);
    let report = Report::new(saved, &target, outcomes, code);
    Report { fail_on: args.fail_on, allow_unknown: args.allow_unknown, ..report }
}
