//! `waive`: adds a waiver to the configuration, or renews one.

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
    config::{self, Config, FILE_NAME, NewWaiver, Waiver, waiver::today},
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
    // Of two at once, the second would lose what the first has added.
    let _lock = files::lock(&path);
    let text = match fs::read_to_string(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        read => read
            .map_err(|error| Failure::Usage(format!("cannot read {}: {error}", path.display())))?,
    };
    // Nothing is added to what could not be read afterwards.
    let config = config::parse(&text, &path)?;
    let refuse = |why: String| Err(Failure::Usage(why));
    let already = already(&config, args);
    if let (Some((_, waiver)), None) = (already, args.until) {
        let at = format!("{}:{}", path.display(), config::line(&text, waiver.check.span().start));
        return refuse(format!(
            "{at}: {} is waived for {} there already: renew that with --until, or change it there",
            args.check, args.subject
        ));
    }
    if let Some(why) = args.cluster.as_ref().and_then(|name| no_such_cluster(&config, name)) {
        return refuse(why);
    }
    let waiver = NewWaiver {
        check: args.check.clone(),
        subject: args.subject.clone(),
        cluster: args.cluster.clone(),
        reason: args.reason.clone(),
        owner: args.owner.clone(),
        until: args.until,
    };
    let text = match already {
        Some((place, _)) => config::renew(&text, place, &waiver),
        None => config::append(&text, &waiver),
    };
    let text = text.map_err(|error| Failure::Usage(format!("{}: {error}", path.display())))?;
    config::parse(&text, &path)?;
    files::write(&path, text.as_bytes(), Readers::Others)?;
    let until = args.until.map(|until| format!(" until {until}")).unwrap_or_default();
    let was = already.map(|(_, waiver)| was(waiver)).unwrap_or_default();
    let said =
        format!("{}: {} is waived for {}{until}{was}", path.display(), args.check, args.subject);
    console::print(|out| writeln!(out, "{}", printable(&said)))?;
    Ok(ExitCode::Ok)
}

/// Until when a waiver held that is renewed.
fn was(waiver: &Waiver) -> String {
    match waiver.until {
        Some(until) if until < today(Timestamp::now()) => format!(" (it expired on {until})"),
        Some(until) => format!(" (it was until {until})"),
        None => " (it was for good)".to_owned(),
    }
}

/// The waiver of the same finding, which may have expired, and its place among the waivers.
fn already<'a>(config: &'a Config, args: &WaiveArgs) -> Option<(usize, &'a Waiver)> {
    let cluster = args.cluster.as_deref().unwrap_or("*");
    config.waiver.iter().enumerate().find(|(_, waiver)| {
        *waiver.check.as_ref() == args.check
            && waiver.subject == args.subject
            && waiver.cluster == cluster
    })
}

/// Why a cluster is taken for a slip: the file names others, and not this one.
fn no_such_cluster(config: &Config, name: &str) -> Option<String> {
    let names: Vec<&str> =
        config.cluster.iter().filter_map(|cluster| cluster.as_ref().name.as_deref()).collect();
    let is_known = names.is_empty() || names.contains(&name);
    let advice = format!("the configuration names {}", names.join(", "));
    (!is_known).then(|| selection::unknown_of(name, "cluster", &names, &advice))
}
