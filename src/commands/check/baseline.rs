//! `--baseline`: what changed since an earlier report, and `--fail-on-new`.

use std::{fs, io, path::Path};

use super::super::{Failure, console, files};
use crate::{
    outcome::{ExitCode, Status},
    report::{
        Report,
        changes::{self, Changes},
        printable,
    },
};

/// The earlier reports; none where the file is not there yet.
pub struct Baseline(Vec<Report>);

impl Baseline {
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let text = match fs::read_to_string(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                files::check_place("--baseline", path)?;
                let like = like(path).map(|name| format!(" (there is {name})"));
                console::note(format_args!(
                    "note: {} is not there yet, so everything is new{}",
                    path.display(),
                    printable(&like.unwrap_or_default())
                ));
                return Ok(Self(Vec::new()));
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
        Ok(Self(reports))
    }

    /// What changed in a cluster.
    pub fn compare(&self, report: &Report) -> Result<Changes, Failure> {
        let before = self.0.iter().find(|before| is_same_cluster(before, report));
        if let (None, [other]) = (before, self.0.as_slice()) {
            let [earlier, now] = [other, report].map(described);
            return Err(Failure::Usage(format!(
                "the baseline is of {earlier}, and this is {now}: they cannot be compared"
            )));
        }
        Ok(changes::between(before, report))
    }
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
