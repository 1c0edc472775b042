//! How a run judges, from flags and configuration.

use super::super::{
    Failure,
    configuration::{self, Loaded},
    selection,
};
use super::baseline::{self, Baseline};
use crate::{
    checks::Check,
    cli::{CheckArgs, ScopeArgs},
    config::waiver,
    outcome::FailOn,
    report::Report,
};

pub struct Settings {
    pub checks: Vec<&'static Check>,
    pub fail_on: FailOn,
    pub allow_unknown: bool,
    pub loaded: Loaded,
    /// Whether AWS's own simulator is asked too.
    pub simulate: bool,
    /// Whether launches are tried with the controller's credentials.
    pub prove: bool,
    baseline: Option<Baseline>,
    fail_on_new: bool,
}

impl Settings {
    pub fn new(args: &CheckArgs) -> Result<Self, Failure> {
        let loaded = configuration::load(&args.config)?;
        let config = &loaded.config;
        // A flag decides alone: who selects by hand wants to see just that.
        let ids = |flags: &[String], configured: &[toml::Spanned<String>]| {
            let configured = configured.iter().map(|id| id.as_ref().clone());
            if flags.is_empty() { configured.collect() } else { flags.to_vec() }
        };
        let select = ids(&args.select, &config.select);
        let exclude = ids(&args.exclude, &config.exclude);
        Ok(Self {
            checks: selection::select(&select, &exclude).map_err(Failure::Usage)?,
            fail_on: args.fail_on.or(config.fail_on).unwrap_or_default(),
            allow_unknown: args.allow_unknown || config.allow_unknown,
            baseline: args
                .baseline
                .as_deref()
                .map(|path| Baseline::read(path, args))
                .transpose()?,
            fail_on_new: args.fail_on_new,
            simulate: args.simulate,
            prove: args.prove,
            loaded,
        })
    }

    /// What is said anew over saved facts: the flags, and what the configuration demands. Which
    /// cluster it is, the facts say.
    pub fn over_facts(&self, args: &CheckArgs) -> ScopeArgs {
        ScopeArgs { thresholds: self.loaded.config.thresholds, ..args.scope.clone() }
    }

    /// The report with what changed since the earlier one, if there is one to hold it against.
    pub fn compared(&self, report: Report) -> Result<Report, Failure> {
        let Some(baseline) = &self.baseline else { return Ok(report) };
        let changes = baseline.compare(&report)?;
        let exit_code = if self.fail_on_new {
            baseline::exit_code_of_new(&report, &changes) as u8
        } else {
            report.exit_code
        };
        Ok(Report { exit_code, changes: Some(changes), ..report })
    }

    pub fn note_stale(&self, reports: &mut [Report]) {
        waiver::note_stale(&self.loaded.config, reports);
    }
}
