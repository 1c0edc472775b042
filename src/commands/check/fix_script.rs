//! `--fix-script`: the commands that mend what was found, for a person to read and run.

use crate::{
    cli::CheckArgs,
    commands::{
        Failure, console,
        files::{self, Readers},
    },
    report::{Report, fix_script},
};

/// Finds out before any call is made whether the script can be written.
pub fn check(args: &CheckArgs) -> Result<(), Failure> {
    match &args.fix_script {
        Some(path) => files::check_place("--fix-script", path),
        None => Ok(()),
    }
}

pub fn write(args: &CheckArgs, report: &Report) -> Result<(), Failure> {
    let Some(path) = &args.fix_script else { return Ok(()) };
    let mut script = Vec::new();
    fix_script::write(report, &mut script)
        .map_err(|error| Failure::Io { what: "could not write the script".to_owned(), error })?;
    files::write(path, &script, Readers::User)?;
    console::note(format_args!("wrote {0}: read it, then run it with `bash {0}`", path.display()));
    Ok(())
}
