//! `check`: read the facts, judge them, print the reports.

mod judge;
mod settings;

use super::{Failure, configuration::Target, console, facts_file, outputs, read};
use crate::{
    cli::CheckArgs,
    outcome::ExitCode,
    report::{NotRun, Report, Reports},
    target::{mismatch, saved::Saved},
};
use settings::Settings;

pub fn run(args: CheckArgs) -> Result<ExitCode, Failure> {
    // A wrong id or place must not cost a run.
    let settings = Settings::new(&args)?;
    outputs::check(&args.output)?;
    let reports = if args.all_clusters {
        every_cluster(&settings, &args)?
    } else {
        Reports::one(one_cluster(&settings, &args)?)
    };
    outputs::write(&reports, &args.output)?;
    Ok(ExitCode::from_number(reports.exit_code))
}

fn one_cluster(settings: &Settings, args: &CheckArgs) -> Result<Report, Failure> {
    let saved = match &args.facts {
        Some(path) => facts_file::load(path, &settings.over_facts(args))?,
        None => {
            let (aws, scope) = settings.loaded.target(&args.aws, &args.scope)?;
            read::read(&aws, &scope)?
        }
    };
    let mut reports = [judged(&saved, settings)?];
    settings.note_stale(&mut reports);
    let [report] = reports;
    Ok(report)
}

/// Each cluster in turn; one that cannot be read keeps no other back.
fn every_cluster(settings: &Settings, args: &CheckArgs) -> Result<Reports, Failure> {
    let mut reports = Vec::new();
    let mut not_run = Vec::new();
    for (aws, scope) in settings.loaded.targets(&args.aws, &args.scope)? {
        let cluster = scope.cluster.clone().unwrap_or_default();
        match read_and_judge(&(aws, scope), settings) {
            Ok(report) => reports.push(report),
            Err(Failure::Interrupted) => return Err(Failure::Interrupted),
            Err(failure) => {
                let failure =
                    Failure::OfCluster { cluster: cluster.clone(), why: Box::new(failure) };
                console::error(&failure);
                not_run.push(NotRun { cluster, why: failure.to_string() });
            }
        }
    }
    settings.note_stale(&mut reports);
    Ok(Reports::several(reports, not_run))
}

fn read_and_judge((aws, scope): &Target, settings: &Settings) -> Result<Report, Failure> {
    judged(&read::read(aws, scope)?, settings)
}

fn judged(saved: &Saved, settings: &Settings) -> Result<Report, Failure> {
    match mismatch::of_named(&saved.scope, &saved.facts) {
        Some(why) => Err(Failure::Usage(why)),
        None => Ok(judge::judge(saved, settings)),
    }
}
