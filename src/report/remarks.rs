//! What the configuration did to an outcome, in words.

use super::{Report, causes::Cause};
use crate::outcome::{Outcome, Status};

/// Why the outcome does not have the status that its check gave, or that its waiver has expired.
pub(super) fn of(outcome: &Outcome) -> Option<String> {
    if let Some(waiver) = &outcome.waiver {
        return Some(waiver.words());
    }
    let judged = outcome.judged.filter(|judged| *judged != outcome.status)?;
    Some(format!(
        "the check says {}; the configuration makes it {}",
        judged.as_str(),
        outcome.status.as_str()
    ))
}

/// What is waived for one reason, in one line.
pub(super) fn waived(cause: &Cause<'_>) -> String {
    let why = of(cause.first).unwrap_or_default();
    let judged = cause.first.judged().as_str();
    format!("{} ({judged}): {why}", cause.subjects())
}

/// The waivers that fit nothing.
pub(super) fn stale(report: &Report) -> impl Iterator<Item = String> {
    report.stale_waivers.iter().map(super::StaleWaiver::words)
}

/// The outcomes that are waived.
pub(super) fn waived_outcomes(report: &Report) -> impl Iterator<Item = &Outcome> {
    report.outcomes.iter().filter(|outcome| outcome.status == Status::Waived)
}
