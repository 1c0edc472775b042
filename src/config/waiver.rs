//! Findings that are lived with, for a reason and mostly for a time.

use globset::{GlobBuilder, GlobMatcher};
use jiff::{Timestamp, civil::Date, tz::TimeZone};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de::Error};
use toml::Spanned;

use super::{Config, Severity};
use crate::{
    outcome::{Outcome, Status, WaivedBy},
    report::{Report, StaleWaiver},
};

/// One `[[waiver]]`. All that it says must fit.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Waiver {
    /// Id of the check.
    #[schemars(with = "String")]
    pub check: Spanned<String>,
    /// Which subjects, as the report shows them; `*` stands for any text.
    #[serde(default = "everything")]
    pub subject: String,
    /// Which clusters, by name; `*` stands for any text.
    #[serde(default = "everything")]
    pub cluster: String,
    /// Why it is lived with.
    #[serde(deserialize_with = "said")]
    pub reason: String,
    /// Who decided so.
    pub owner: Option<String>,
    /// The last day on which it holds, in UTC, such as `2026-12-31`.
    #[serde(default, deserialize_with = "date")]
    #[schemars(with = "Option<String>", extend("format" = "date"))]
    pub until: Option<Date>,
}

fn everything() -> String {
    "*".to_owned()
}

fn said<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let reason = String::deserialize(from)?;
    if reason.trim().is_empty() {
        return Err(D::Error::custom("a waiver needs a reason"));
    }
    Ok(reason)
}

/// A date of TOML, or one in quotes.
fn date<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Date>, D::Error> {
    let text = match toml::Value::deserialize(from)? {
        toml::Value::Datetime(date) => date.to_string(),
        toml::Value::String(text) => text,
        _ => return Err(D::Error::custom("it is no date such as 2026-12-31")),
    };
    parse_date(&text).map(Some).map_err(D::Error::custom)
}

/// A day such as `2026-12-31`.
pub fn parse_date(text: &str) -> Result<Date, String> {
    text.parse().map_err(|_| format!("`{text}` is no date such as 2026-12-31"))
}

/// The day in UTC.
pub fn today(now: Timestamp) -> Date {
    now.to_zoned_datetime(TimeZone::UTC).date()
}

impl Waiver {
    /// What subject and cluster must look like.
    pub fn patterns(&self) -> Result<[GlobMatcher; 2], String> {
        Ok([pattern(&self.subject)?, pattern(&self.cluster)?])
    }

    fn fits(&self, outcome: &Outcome, cluster: &str) -> bool {
        let Ok([subject, of_cluster]) = self.patterns() else { return false };
        outcome.check == *self.check.as_ref()
            && subject.is_match(&outcome.subject)
            && of_cluster.is_match(cluster)
    }

    fn expired(&self, today: Date) -> bool {
        self.until.is_some_and(|until| until < today)
    }

    fn waived_by(&self, today: Date) -> WaivedBy {
        WaivedBy {
            reason: self.reason.clone(),
            owner: self.owner.clone(),
            until: self.until.map(|until| until.to_string()),
            expired: self.expired(today),
        }
    }
}

/// A pattern in which `*` stands for any text, `/` and `:` of an ARN included, and every other
/// character for itself: subjects have brackets and question marks too.
pub fn pattern(text: &str) -> Result<GlobMatcher, String> {
    if text.trim().is_empty() {
        return Err("an empty pattern fits nothing: write * for everything".to_owned());
    }
    let mut pieces: Vec<_> = text.split('*').map(globset::escape).collect();
    let last = pieces.len() - 1;
    // Several in a row say no more than one.
    let mut place = 0;
    pieces.retain(|piece| {
        place += 1;
        !piece.is_empty() || place == 1 || place == last + 1
    });
    let glob = GlobBuilder::new(&pieces.join("*"))
        .literal_separator(false)
        .backslash_escape(false)
        .build();
    glob.map(|glob| glob.compile_matcher())
        .map_err(|error| format!("`{text}` is no pattern: {}", error.kind()))
}

/// Gives the outcomes the severity that the configuration says, and waives what it waives.
pub fn apply(config: &Config, outcomes: &mut [Outcome], cluster: &str, now: Timestamp) {
    let today = today(now);
    for outcome in outcomes {
        severity(config, outcome);
        if !is_problem(outcome.status) {
            continue;
        }
        let fitting = config.waiver.iter().filter(|waiver| waiver.fits(outcome, cluster));
        // One that holds wins over any that has expired.
        let (held, expired): (Vec<_>, Vec<_>) = fitting.partition(|waiver| !waiver.expired(today));
        outcome.waiver = held.first().or(expired.last()).map(|waiver| waiver.waived_by(today));
        if !held.is_empty() {
            outcome.judged.get_or_insert(outcome.status);
            outcome.status = Status::Waived;
        }
    }
}

fn severity(config: &Config, outcome: &mut Outcome) {
    let status = match config.severity.get(outcome.check.as_str()) {
        Some(Severity::Warn) => Status::Warn,
        Some(Severity::Fail) => Status::Fail,
        None => return,
    };
    let is_finding = matches!(outcome.status, Status::Warn | Status::Fail);
    if is_finding && outcome.status != status {
        outcome.judged = Some(outcome.status);
        outcome.status = status;
    }
}

fn is_problem(status: Status) -> bool {
    matches!(status, Status::Fail | Status::Warn | Status::Unknown)
}

/// Names in each report the waivers that fit nothing in any of them. A check that did not run,
/// or that is unknown, says nothing about its waivers.
pub fn note_stale(config: &Config, reports: &mut [Report]) {
    for waiver in &config.waiver {
        let Ok([_, of_cluster]) = waiver.patterns() else { continue };
        let mut judging = Vec::new();
        let mut fits = false;
        for (i, report) in reports.iter().enumerate() {
            if !of_cluster.is_match(&report.target.cluster) {
                continue;
            }
            let mut of_check =
                report.outcomes.iter().filter(|o| o.check == *waiver.check.as_ref()).peekable();
            let judged = of_check.peek().is_some();
            let open = of_check.clone().any(|outcome| outcome.judged() == Status::Unknown);
            fits |=
                of_check.any(|o| is_problem(o.judged()) && waiver.fits(o, &report.target.cluster));
            if open {
                fits = true;
            } else if judged {
                judging.push(i);
            }
        }
        if !fits {
            for i in judging {
                reports[i].stale_waivers.push(StaleWaiver {
                    check: waiver.check.as_ref().clone(),
                    subject: waiver.subject.clone(),
                    reason: waiver.reason.clone(),
                });
            }
        }
    }
}
