//! `--wait`: asks again until nothing is missing any more, or the time is over.

use std::time::{Duration, Instant};

use super::super::{Failure, console, read};
use crate::{
    collect::CannotRun,
    outcome::{Outcome, Status},
    report::{Report, changes::counting, printable},
};

/// Between the first two answers; each later pause is half as long again.
const FIRST: Duration = Duration::from_secs(3);
const LONGEST: Duration = Duration::from_secs(30);
/// Less time than this is not worth another question.
const SHORTEST: Duration = Duration::from_secs(1);

/// Asks until nothing is missing or the end has come, and gives the last report. `ask` is told how long it may take.
pub fn until_settled(
    end: Instant,
    timeout: Duration,
    ask: impl Fn(Duration) -> Result<Report, Failure>,
) -> Result<Report, Failure> {
    let mut pause = FIRST;
    let mut said = None;
    // The first answer may take its time; without it there is nothing to say.
    let mut answer = ask(timeout);
    loop {
        let Some(missing) = missing(&answer) else { return answer };
        let left = end.saturating_duration_since(Instant::now());
        if left < SHORTEST {
            console::note(format_args!("the time is over: {missing}"));
            return answer;
        }
        let sleep = pause.min(left);
        let note = (said.as_ref() != Some(&missing))
            .then(|| format!("waiting, {} s left: {missing}", left.as_secs()));
        said = Some(missing);
        rest(sleep, note)?;
        let left = end.saturating_duration_since(Instant::now());
        if left < SHORTEST {
            continue;
        }
        answer = better(answer, ask(timeout.min(left)));
        pause = (pause + pause / 2).min(LONGEST);
    }
}

/// An answer that ran out of time tells less than the one before.
fn better(
    before: Result<Report, Failure>,
    now: Result<Report, Failure>,
) -> Result<Report, Failure> {
    match (before, now) {
        (_, Err(Failure::Interrupted)) => Err(Failure::Interrupted),
        (Ok(before), Err(_)) => Ok(before),
        (Ok(before), Ok(now)) if now.counts.unknown > before.counts.unknown => Ok(before),
        (_, now) => now,
    }
}

/// What is still missing, in one line; `None` where asking again would change nothing.
fn missing(answer: &Result<Report, Failure>) -> Option<String> {
    match answer {
        Err(failure @ Failure::CannotRun(CannotRun::NoSuchCluster { .. })) => {
            Some(printable(&failure.to_string()))
        }
        Err(_) => None,
        Ok(report) => {
            let open: Vec<_> = report
                .outcomes
                .iter()
                .filter(|outcome| may_settle(outcome, report))
                .map(|o| format!("{} ({}, {})", o.check, o.status.as_str(), o.subject))
                .collect();
            (!open.is_empty()).then(|| printable(&open.join("; ")))
        }
    }
}

/// A permission that the caller lacks does not come by waiting.
fn may_settle(outcome: &Outcome, report: &Report) -> bool {
    let unknown = outcome.status == Status::Unknown && !report.allow_unknown;
    counting(report.fail_on).contains(&outcome.status)
        || outcome.status == Status::Fail
        || unknown && outcome.missing_action.is_none()
}

/// Sleeps, unless Ctrl-C ends it. Whoever reads the note may press it at once, so that it is
/// printed only when somebody listens.
fn rest(sleep: Duration, note: Option<String>) -> Result<(), Failure> {
    read::until_interrupted(async {
        if let Some(note) = note {
            console::note(format_args!("{note}"));
        }
        tokio::time::sleep(sleep).await;
        Ok(())
    })
}
