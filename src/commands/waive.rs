//! `waive`: adds a waiver to the configuration.

use std::{fs, io, path::PathBuf};

use jiff::Timestamp;

use super::{
    Failure, configuration, console,
    files::{self, Readers},
    selection,
};
use crate::{
    checks,
    cli::WaiveArgs,
    config::{self, FILE_NAME, NewWaiver, waiver::today},
    outcome::ExitCode,
    report::printable,
};

pub fn run(args: &WaiveArgs) -> Result<ExitCode, Failure> {
    if checks::get(&args.check).is_none() {
        return Err(Failure::Usage(selection::unknown(&args.check, "check", &checks::ids())));
    }
    if let Some(until) = args.until.filter(|until| *until < today(Timestamp::now())) {
        return Err(Failure::Usage(format!("--until {until} is over already")));
    }
    let path = args
        .config
        .clone()
        .or_else(configuration::found)
        .unwrap_or_else(|| PathBuf::from(FILE_NAME));
    files::check_place("--config", &path)?;
    let text = match fs::read_to_string(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        read => read
            .map_err(|error| Failure::Usage(format!("cannot read {}: {error}", path.display())))?,
    };
    // Nothing is added to what could not be read afterwards.
    config::parse(&text, &path)?;
    let waiver = NewWaiver {
        check: args.check.clone(),
        subject: args.subject.clone(),
        cluster: args.cluster.clone(),
        reason: args.reason.clone(),
        owner: args.owner.clone(),
        until: args.until,
    };
    let text = config::append(&text, &waiver)
        .map_err(|error| Failure::Usage(format!("{}: {error}", path.display())))?;
    config::parse(&text, &path)?;
    files::write(&path, text.as_bytes(), Readers::Others)?;
    let until = args.until.map(|until| format!(" until {until}")).unwrap_or_default();
    let said = format!("{}: {} is waived for {}{until}", path.display(), args.check, args.subject);
    console::print(|out| writeln!(out, "{}", printable(&said)))?;
    Ok(ExitCode::Ok)
}
