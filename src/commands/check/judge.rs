//! From facts to a report.

use jiff::Timestamp;

use super::settings::Settings;
use crate::{
    checks::{self, Check, Context},
    config::waiver,
    outcome::{Counts, exit_code},
    report::Report,
    target::{resolve::resolve, saved::Saved},
};

pub fn judge(saved: &Saved, settings: &Settings) -> Report {
    let target = resolve(&saved.scope, &saved.facts);
    let mut outcomes = checks::run::run(&settings.checks, &Context::new(&target, saved));
    // By the calendar, and not by when the facts were read: an old file waives nothing for ever.
    let now = Timestamp::now();
    waiver::apply(&settings.loaded.config, &mut outcomes, &saved.scope.cluster, now);
    let code = exit_code(&Counts::of(&outcomes), settings.fail_on, settings.allow_unknown);
    let report = Report::new(saved, &target, outcomes, code);
    let is_made = |check: &&&Check| settings.checks.iter().any(|made| made.id == check.id);
    Report {
        left_out: checks::ALL.iter().filter(|c| !is_made(c)).map(|c| c.id.to_owned()).collect(),
        fail_on: settings.fail_on,
        allow_unknown: settings.allow_unknown,
        configuration: settings.loaded.path.as_ref().map(|path| path.display().to_string()),
        ..report
    }
}
