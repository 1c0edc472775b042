//! `check`: read the facts, judge them, print the reports.

mod baseline;
mod fix_script;
mod judge;
mod notify;
mod places;
mod settings;
mod terraform;
mod wait;

use std::time::Instant;

use super::{
    Failure,
    configuration::Target,
    console, facts_file,
    outputs::{self, both},
    prove, read, simulate,
};
use crate::{
    cli::{CheckArgs, Output},
    outcome::ExitCode,
    report::{Format, NotRun, Report, Reports},
    target::{mismatch, saved::Saved},
};
use settings::Settings;

pub fn run(args: CheckArgs) -> Result<ExitCode, Failure> {
    let is_terraform = args.output.iter().any(|output| output.format == Format::Terraform);
    let args = if is_terraform { terraform::with_query()? } else { args };
    // A wrong id or place must not cost a run.
    let settings = Settings::new(&args)?;
    places::check(&args, settings.loaded.path.as_deref())?;
    let (reports, script) = if args.all_clusters {
        (every_cluster(&settings, &args)?, Ok(()))
    } else {
        let report = one_cluster(&settings, &args)?;
        let script = fix_script::write(&args, &report);
        (Reports::one(report), script)
    };
    tell(&reports, script, &args)?;
    match ExitCode::from_number(reports.exit_code) {
        // Terraform shows a result only of a program that ends well; what was found is in it.
        ExitCode::Findings | ExitCode::Incomplete if is_terraform => Ok(ExitCode::Ok),
        code => Ok(code),
    }
}

/// Writes the reports, and hands them on. The next run's baseline comes last: what nobody was told
/// of must not be known already.
fn tell(reports: &Reports, script: Result<(), Failure>, args: &CheckArgs) -> Result<(), Failure> {
    let is_next = |output: &&Output| places::is_next_baseline(output, args.baseline.as_deref());
    let (next, others): (Vec<_>, Vec<_>) = args.output.iter().partition(is_next);
    let written = both(outputs::write(reports, &others), script);
    let told = match &args.notify_command {
        Some(command) => notify::notify(command, reports, args.notify_format),
        None => Ok(()),
    };
    let kept = if told.is_ok() {
        outputs::write(reports, &next)
    } else {
        if !next.is_empty() {
            console::note(
                "note: the baseline stays as it is, so that the next run tells this again",
            );
        }
        Ok(())
    };
    both(both(written, told), kept)
}

fn one_cluster(settings: &Settings, args: &CheckArgs) -> Result<Report, Failure> {
    if let Some(path) = &args.facts {
        let saved = facts_file::load(path, &settings.over_facts(args))?;
        return finished(judged(&saved, settings)?, settings);
    }
    let target = settings.loaded.target(&args.aws, &args.scope)?;
    let end = args.wait.map(|wait| Instant::now() + wait);
    finished(settled(&target, settings, end)?, settings)
}

/// The report on a cluster, where there is an end to wait for the one in which nothing is missing.
fn settled(target: &Target, settings: &Settings, end: Option<Instant>) -> Result<Report, Failure> {
    let Some(end) = end else { return read_and_judge(target, settings) };
    wait::until_settled(end, target.0.timeout, |timeout| {
        let (mut aws, scope) = target.clone();
        aws.timeout = timeout;
        read_and_judge(&(aws, scope), settings)
    })
}

/// Each cluster in turn; one that cannot be read keeps no other back.
fn every_cluster(settings: &Settings, args: &CheckArgs) -> Result<Reports, Failure> {
    let mut reports = Vec::new();
    let mut not_run = Vec::new();
    // The clusters settle side by side: one end for all.
    let end = args.wait.map(|wait| Instant::now() + wait);
    for target in settings.loaded.targets(&args.aws, &args.scope)? {
        let cluster = target.1.cluster.clone().unwrap_or_default();
        match settled(&target, settings, end) {
            Ok(report) => reports.push(settings.compared(report)?),
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
    let mut saved = if settings.simulate { simulate::read } else { read::read }(aws, scope)?;
    if settings.prove {
        prove::add(&mut saved, aws)?;
    }
    judged(&saved, settings)
}

fn judged(saved: &Saved, settings: &Settings) -> Result<Report, Failure> {
    match mismatch::of_named(&saved.scope, &saved.facts) {
        Some(why) => Err(Failure::Usage(why)),
        None => Ok(judge::judge(saved, settings)),
    }
}

/// With the waivers that fit nothing, and what changed.
fn finished(report: Report, settings: &Settings) -> Result<Report, Failure> {
    let mut reports = [settings.compared(report)?];
    settings.note_stale(&mut reports);
    let [report] = reports;
    Ok(report)
}
