//! What changed since an earlier report: what is new, what is gone, and what could not be told.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Report, Reports};
use crate::outcome::{FailOn, Status};

/// The difference to an earlier report of the same cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Changes {
    /// When the earlier report's facts were read, RFC 3339 in UTC; `null` where there is none.
    pub since: Option<String>,
    /// Problems that were not there, or not as bad.
    pub new: Vec<Change>,
    /// Problems that are there no longer.
    pub gone: Vec<Change>,
    /// Problems that were there, and whose check could not tell this time or did not run.
    pub not_judged: Vec<Change>,
    /// How many problems are as they were.
    pub unchanged: usize,
}

/// A problem that came or went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// Id of the check.
    pub check: String,
    pub subject: String,
    /// Now, or for what is gone the last.
    pub status: Status,
    /// What it was, where it only became worse.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was: Option<Status>,
}

impl Changes {
    /// Whether anything came or went.
    pub fn any(&self) -> bool {
        !self.new.is_empty() || !self.gone.is_empty()
    }

    /// How many of the new ones have one of these statuses.
    pub fn new_of(&self, statuses: &[Status]) -> usize {
        self.new.iter().filter(|change| statuses.contains(&change.status)).count()
    }

    /// `2 new, 1 gone, 3 unchanged since 2026-11-01T12:00:00Z`.
    pub fn words(&self) -> String {
        let not_judged = match self.not_judged.len() {
            0 => String::new(),
            count => format!(", {count} not judged this time"),
        };
        let since = match &self.since {
            Some(since) => format!(" since {since}"),
            None => "; there is no earlier report".to_owned(),
        };
        let (new, gone, unchanged) = (self.new.len(), self.gone.len(), self.unchanged);
        format!("{new} new, {gone} gone, {unchanged} unchanged{not_judged}{since}")
    }
}

type Key<'a> = (&'a str, &'a str);

/// Holds a report against an earlier one, or against nothing on the first run.
pub fn between(before: Option<&Report>, now: &Report) -> Changes {
    let old = before.map(problems).unwrap_or_default();
    let new = problems(now);
    let change = |(check, subject): &Key<'_>, status, was| Change {
        check: (*check).to_owned(),
        subject: (*subject).to_owned(),
        status,
        was,
    };
    let came = new.iter().filter_map(|(key, status)| match old.get(key) {
        Some(was) if was >= status => None,
        was => Some(change(key, *status, was.copied())),
    });
    let came: Vec<_> = came.collect();
    // What is waived is still there: it is neither new nor gone.
    let left = old.iter().filter(|(key, _)| !new.contains_key(*key) && !is_waived(now, key));
    let judged = judged(now);
    let (gone, not_judged): (Vec<_>, Vec<_>) = left.partition(|(key, _)| judged.contains(key.0));
    let listed = |list: Vec<(&Key<'_>, &Status)>| {
        list.into_iter().map(|(key, status)| change(key, *status, None)).collect()
    };
    Changes {
        since: before.map(|before| before.collected_at.to_string()),
        unchanged: new.len() - came.len(),
        new: came,
        gone: listed(gone),
        not_judged: listed(not_judged),
    }
}

fn is_waived(report: &Report, (check, subject): &Key<'_>) -> bool {
    let mut outcomes = report.outcomes.iter();
    outcomes.any(|o| o.status == Status::Waived && o.check == *check && o.subject == *subject)
}

fn problems(report: &Report) -> BTreeMap<Key<'_>, Status> {
    let outcomes = report.outcomes.iter();
    let problems = outcomes
        .filter(|o| matches!(o.status, Status::Unknown | Status::Warn | Status::Fail))
        .map(|o| ((o.check.as_str(), o.subject.as_str()), o.status));
    problems.collect()
}

/// Checks that ran and of which nothing is unknown: what they do not name is gone.
fn judged(report: &Report) -> BTreeSet<&str> {
    let unknown: BTreeSet<_> = report
        .outcomes
        .iter()
        .filter(|outcome| outcome.status == Status::Unknown)
        .map(|outcome| outcome.check.as_str())
        .collect();
    let ran = report.outcomes.iter().map(|outcome| outcome.check.as_str());
    ran.filter(|check| !unknown.contains(check)).collect()
}

/// The statuses that make the exit code 1.
pub fn counting(fail_on: FailOn) -> &'static [Status] {
    match fail_on {
        FailOn::Fail => &[Status::Fail],
        FailOn::Warn => &[Status::Fail, Status::Warn],
        FailOn::Never => &[],
    }
}

/// An earlier report file: of one cluster or of several.
#[derive(Deserialize)]
#[serde(untagged)]
enum Earlier {
    One(Box<Report>),
    Several(Reports),
}

/// Reads an earlier report (`--output json`).
///
/// # Errors
/// Where the text is none.
pub fn read(text: &str) -> Result<Vec<Report>, String> {
    #[derive(Deserialize)]
    struct Head {
        schema_version: u32,
    }
    // How this program names its parts helps nobody.
    let why = |error: serde_json::Error| match error.is_data() {
        true => "it is JSON, but not what this program writes".to_owned(),
        false => error.to_string(),
    };
    let head: Head = serde_json::from_str(text).map_err(why)?;
    if head.schema_version > super::SCHEMA_VERSION {
        let (found, known) = (head.schema_version, super::SCHEMA_VERSION);
        return Err(format!("it has schema version {found}, and this build reads up to {known}"));
    }
    match serde_json::from_str(text).map_err(why)? {
        Earlier::One(report) => Ok(vec![*report]),
        Earlier::Several(all) => Ok(all.reports),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{outcome::Outcome, report::sample::report};

    fn with(outcomes: &[(&str, &str, Status)]) -> Report {
        let mut made = report("all-well");
        let pattern = made.outcomes[0].clone();
        let outcome = |&(check, subject, status): &(&str, &str, Status)| Outcome {
            check: check.to_owned(),
            subject: subject.to_owned(),
            status,
            ..pattern.clone()
        };
        made.outcomes = outcomes.iter().map(outcome).collect();
        made
    }

    #[test]
    fn came_and_went() {
        use Status::{Fail, Pass, Skipped, Unknown, Waived, Warn};
        type Found<'a> = (&'a [&'a str], &'a [&'a str], &'a [&'a str], usize);
        type Row<'a> =
            (&'a [(&'a str, &'a str, Status)], &'a [(&'a str, &'a str, Status)], Found<'a>);
        let rows: &[Row<'_>] = &[
            (&[], &[("a", "x", Fail)], (&["x"], &[], &[], 0)),
            (&[("a", "x", Fail)], &[("a", "x", Fail)], (&[], &[], &[], 1)),
            (&[("a", "x", Fail)], &[("a", "x", Pass)], (&[], &["x"], &[], 0)),
            // Another subject of the same check.
            (&[("a", "x", Fail)], &[("a", "y", Fail)], (&["y"], &["x"], &[], 0)),
            // Worse counts as new, better does not.
            (&[("a", "x", Warn)], &[("a", "x", Fail)], (&["x"], &[], &[], 0)),
            (&[("a", "x", Fail)], &[("a", "x", Warn)], (&[], &[], &[], 1)),
            (&[("a", "x", Unknown)], &[("a", "x", Fail)], (&["x"], &[], &[], 0)),
            (&[("a", "x", Fail)], &[("a", "x", Unknown)], (&[], &[], &[], 1)),
            // The whole check is unknown, or did not run: not gone.
            (&[("a", "x", Fail)], &[("a", "all", Unknown)], (&["all"], &[], &["x"], 0)),
            (&[("a", "x", Fail)], &[], (&[], &[], &["x"], 0)),
            // Waived: still there. No longer asked for: gone.
            (&[("a", "x", Fail)], &[("a", "x", Waived)], (&[], &[], &[], 0)),
            (&[("a", "x", Fail)], &[("a", "all", Skipped)], (&[], &["x"], &[], 0)),
        ];
        for (before, now, (new, gone, not_judged, unchanged)) in rows {
            let changes = between(Some(&with(before)), &with(now));
            let subjects = |list: &[Change]| {
                list.iter().map(|change| change.subject.clone()).collect::<Vec<_>>()
            };
            assert_eq!(subjects(&changes.new), *new, "{before:?} {now:?}");
            assert_eq!(subjects(&changes.gone), *gone, "{before:?} {now:?}");
            assert_eq!(subjects(&changes.not_judged), *not_judged, "{before:?} {now:?}");
            assert_eq!(changes.unchanged, *unchanged, "{before:?} {now:?}");
        }
    }

    #[test]
    fn earlier_reports() {
        let text = crate::report::sample::text("problems");
        assert_eq!(read(&text).map(|reports| reports.len()), Ok(1));
        let several = Reports::several(vec![report("problems"), report("empty")], Vec::new());
        let text = serde_json::to_string(&several).unwrap();
        assert_eq!(read(&text).map(|reports| reports.len()), Ok(2));
        for (text, says) in [
            ("", "EOF"),
            ("{}", "not what this program writes"),
            ("{\"schema_version\": 1}", "not what this program writes"),
            ("{\"schema_version\": 9}", "schema version 9"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
