//! `--baseline`: what changed since an earlier report, and `--fail-on-new`.

use std::{fs, io, path::Path};

use super::super::{Failure, console};
use super::places::is_next_baseline;
use crate::{
    cli::CheckArgs,
    outcome::{ExitCode, Status, shell::quote},
    report::{
        Report,
        changes::{self, Changes},
        printable,
    },
};

/// The earlier reports; none on the first run.
pub struct Baseline {
    reports: Vec<Report>,
    /// Whether a cluster may be one that the earlier run did not judge.
    may_grow: bool,
}

impl Baseline {
    /// Reads the report of an earlier run. One that is not there is taken for a first run only
    /// where this run writes it: anywhere else its name is a slip, or nothing will ever be known.
    pub fn read(path: &Path, args: &CheckArgs) -> Result<Self, Failure> {
        let is_written = args.output.iter().any(|output| is_next_baseline(output, Some(path)));
        let text = match fs::read_to_string(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && is_written => {
                let name = printable(&path.display().to_string());
                console::note(format_args!("note: {name} is not there yet, so everything is new"));
                return Ok(Self { reports: Vec::new(), may_grow: true });
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(Failure::Usage(missing(path)));
            }
            read => read.map_err(|error| {
                Failure::Usage(format!("cannot read {}: {error}", path.display()))
            })?,
        };
        let reports = changes::read(&text).map_err(|error| {
            Failure::Usage(format!(
                "{} is no report of `check --output json`: {error}",
                path.display()
            ))
        })?;
        Ok(Self { reports, may_grow: args.all_clusters })
    }

    /// What changed in a cluster.
    pub fn compare(&self, report: &Report) -> Result<Changes, Failure> {
        let before = self.reports.iter().find(|before| is_same_cluster(before, report));
        if before.is_none() && !self.may_grow {
            let earlier: Vec<_> = self.reports.iter().map(described).collect();
            let earlier = if earlier.is_empty() { "no cluster".into() } else { earlier.join(", ") };
            return Err(Failure::Usage(format!(
                "the baseline is of {earlier}, and this is {}: they cannot be compared",
                described(report)
            )));
        }
        Ok(changes::between(before, report))
    }
}

/// What to do about a baseline that is not there.
fn missing(path: &Path) -> String {
    let like = like(path).map(|name| format!(" (there is {name})")).unwrap_or_default();
    let named = path.display();
    format!(
        "there is no {named}{like}: name the report of an earlier run, or keep one with \
         --output {}, which also makes the first",
        quote(&format!("json={named}"))
    )
}

/// A file beside it that is called alike: the name may be a slip.
fn like(path: &Path) -> Option<String> {
    const ALIKE: f64 = 0.9;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let name = path.file_name()?.to_str()?;
    let files = fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?.flatten();
    let names = files.filter_map(|file| file.file_name().into_string().ok());
    names.filter(|other| strsim::jaro_winkler(name, other) > ALIKE).min()
}

fn is_same_cluster(a: &Report, b: &Report) -> bool {
    let place =
        |report: &Report| (report.target.cluster.clone(), report.target.region.value.clone());
    let accounts = (&a.target.account, &b.target.account);
    // An account that could not be read is no other account.
    let same_account = !matches!(accounts, (Some(a), Some(b)) if a != b);
    place(a) == place(b) && same_account
}

fn described(report: &Report) -> String {
    let target = &report.target;
    let account = target.account.as_deref().unwrap_or("an unknown account");
    format!("{} in {} of {account}", target.cluster, target.region.value)
}

/// The exit code where only what is new counts.
pub fn exit_code_of_new(report: &Report, changes: &Changes) -> ExitCode {
    if changes.new_of(changes::counting(report.fail_on)) > 0 {
        ExitCode::Findings
    } else if changes.new_of(&[Status::Unknown]) > 0 && !report.allow_unknown {
        ExitCode::Incomplete
    } else {
        ExitCode::Ok
    }
}
