//! `check --simulate`: the facts, and what AWS's own simulator says of the requests judged.

use super::{
    Failure,
    read::{self, load_config, say_calls, until_interrupted},
};
use crate::{
    checks::{Context, simulation_questions},
    cli::{AwsArgs, ScopeArgs},
    collect::{self, call_log::CallLog},
    facts::iam::Simulation,
    target::{resolve::resolve, saved::Saved},
};

/// Reads everything that a check could want, then asks the simulator: what to ask follows from
/// what was read.
pub fn read(aws: &AwsArgs, scope: &ScopeArgs) -> Result<Saved, Failure> {
    let mut saved = read::read(aws, scope)?;
    let target = resolve(&saved.scope, &saved.facts);
    let questions = simulation_questions(&Context::new(&target, &saved));
    let asked: Vec<(String, Simulation)> =
        questions.iter().map(|(_, arn, question)| (arn.clone(), question.clone())).collect();
    let log = CallLog::default();
    let answers = until_interrupted(async {
        let config = load_config(aws).await?;
        Ok(collect::simulate(&asked, &config, aws.timeout, &log).await)
    })?;
    if aws.verbose {
        say_calls(&log);
    }
    saved.effort.calls += log.calls().len();
    for ((role, _, question), answers) in questions.into_iter().zip(answers) {
        let simulations = saved.facts.simulations.entry(role).or_default();
        simulations.push(Simulation { answers, ..question });
    }
    Ok(saved)
}
