//! How a run judges, from flags and configuration.

use super::super::{
    Failure,
    configuration::{self, Loaded},
    selection,
};
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
            loaded,
        })
    }

    /// What is said anew over saved facts: the flags, and what the configuration demands. Which
    /// cluster it is, the facts say.
    pub fn over_facts(&self, args: &CheckArgs) -> ScopeArgs {
        ScopeArgs { thresholds: self.loaded.config.thresholds, ..args.scope.clone() }
    }

    pub fn note_stale(&self, reports: &mut [Report]) {
        waiver::note_stale(&self.loaded.config, reports);
    }
}
