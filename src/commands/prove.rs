//! `check --prove`: the facts, and what AWS says to dry runs of a launch with the controller's
//! own credentials.

use super::{
    Failure, console,
    read::{load_config, say_calls, until_interrupted},
};
use crate::{
    checks::{Context, Stop, proof_questions},
    cli::AwsArgs,
    collect::{self, call_log::CallLog, kubernetes::access::Flags},
    facts::{
        Fact,
        proof::{Question, Way},
    },
    report::printable,
    target::{resolve::resolve, saved::Saved},
};

/// Says what will be called, calls it, and adds what was learned to the facts: what to ask follows
/// from what was read.
pub fn add(saved: &mut Saved, aws: &AwsArgs) -> Result<(), Failure> {
    let target = resolve(&saved.scope, &saved.facts);
    let questions = match proof_questions(&Context::new(&target, saved)) {
        Ok(questions) => questions,
        Err(stop) => {
            saved.facts.proofs = unasked(stop);
            return Ok(());
        }
    };
    if questions.is_empty() {
        saved.facts.proofs = Fact::Known(Vec::new());
        return Ok(());
    }
    questions.iter().for_each(announce);
    let flags =
        Flags { kubeconfig: aws.kube.kubeconfig.clone(), context: aws.kube.context.clone() };
    let log = CallLog::default();
    let proofs = until_interrupted(async {
        let config = load_config(aws).await?;
        let asking =
            collect::prove(questions, &saved.scope, &config, &flags, aws.timeout, &log).await;
        Ok(asking?)
    })?;
    if aws.verbose {
        say_calls(&log);
    }
    saved.effort.calls += log.calls().len();
    saved.facts.proofs = Fact::Known(proofs);
    Ok(())
}

/// Why nothing could be asked, as a question without an answer.
fn unasked<T>(stop: Stop) -> Fact<T> {
    let why = match stop {
        Stop::Unknown(unknown) | Stop::LeftOut(unknown) => unknown.why,
        Stop::Skipped(why) => why,
    };
    Fact::Failed { action: "the dry runs of --prove".to_owned(), message: why }
}

/// What will be called, on standard error.
fn announce(question: &Question) {
    let say = |text: &str| console::note(printable(text));
    say(&format!("--prove tries to launch as {}. It calls:", question.arn));
    match &question.way {
        Way::Own => {}
        Way::WebIdentity { namespace, service_account, audience } => {
            say(&format!(
                "  create serviceaccounts/token (Kubernetes), a token of {namespace}/{service_account} \
                 for {audience}"
            ));
            say("  sts:AssumeRoleWithWebIdentity, with that token");
        }
        Way::AssumeRole => say("  sts:AssumeRole"),
    }
    for launch in &question.launches {
        say(&format!("  for {}, each with DryRun=true, so that nothing is made:", launch.subject));
        say("    ec2:CreateLaunchTemplate");
        say("    ec2:CreateFleet");
        say(&format!("    ec2:RunInstances in {}", launch.subnets.join(", ")));
    }
}
