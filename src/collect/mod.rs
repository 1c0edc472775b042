//! The only code that talks to a network: it fills [`Facts`] and judges nothing.

mod account;
mod ask;
pub mod aws;
pub mod call_log;
pub mod config;
mod identities;
mod in_cluster;
pub mod kubernetes;
mod node_classes;
mod network;
mod only_dry_runs;
mod organization;
mod policies;
mod prove;
mod queues;
mod roles;
mod schedule;
mod whole_answer;

use std::{collections::BTreeMap, time::Duration};

use aws_config::SdkConfig;
use futures_util::future::join_all;
use tokio::sync::Semaphore;

use crate::{
    facts::{
        Fact, Facts,
        iam::{Simulated, Simulation},
        proof::{Proof, Question},
    },
    target::{Scope, saved::Effort},
};
use ask::{Asker, Trouble};
use aws::Aws;
use call_log::CallLog;
use kubernetes::{Reach, access::Flags};
use prove::Prover;

/// Why there is nothing to judge at all.
#[derive(Debug, thiserror::Error)]
pub enum CannotRun {
    #[error("{variable} is set but empty: unset it, or give an endpoint")]
    EmptyEndpoint { variable: String },
    #[error("no AWS region: give --region, or set AWS_REGION or a region in the profile")]
    NoRegion,
    #[error(
        "no usable AWS credentials ({message}): log in again (for example `aws sso login`), or \
         choose other credentials with --profile or the AWS_* variables"
    )]
    NoCredentials { message: String },
    #[error(
        "no answer from AWS in {region} ({message}): look at the network, proxy and AWS_ENDPOINT_URL"
    )]
    NoNetwork { region: String, message: String },
    #[error("the kubeconfig cannot be used: {message}")]
    Kubeconfig { message: String },
    #[error("no cluster `{cluster}` in {region} of account {account}{hint}")]
    NoSuchCluster { cluster: String, region: String, account: String, hint: String },
}

/// Reads everything about one cluster, its API server reached as `flags` say. Every call is in
/// `log`, even if this fails.
pub async fn collect(
    scope: &Scope,
    config: &SdkConfig,
    flags: &Flags,
    timeout: Duration,
    log: &CallLog,
) -> Result<(Facts, Effort), CannotRun> {
    let reach = Reach::new(flags, config, Asker::new(timeout, log.elapsed()), log)?;
    let asker = reach.asker();
    let aws = Aws::new(config, asker.clone(), log);
    let facts = schedule::read(&aws, &reach, scope).await;
    if let Some(cannot) = cannot_run(&aws, asker, scope, &facts).await {
        return Err(cannot);
    }
    let effort = Effort {
        calls: log.calls().len(),
        milliseconds: u64::try_from(log.elapsed().as_millis()).unwrap_or(u64::MAX),
    };
    Ok((facts, effort))
}

/// Asks AWS's own simulator; each question comes with the ARN of its role. Every call is in
/// `log`.
pub async fn simulate(
    questions: &[(String, Simulation)],
    config: &SdkConfig,
    timeout: Duration,
    log: &CallLog,
) -> Vec<Fact<BTreeMap<String, Simulated>>> {
    /// IAM slows everybody down that asks too fast.
    const AT_A_TIME: usize = 4;
    let aws = Aws::new(config, Asker::new(timeout, log.elapsed()), log);
    let permits = Semaphore::new(AT_A_TIME);
    let asking = questions.iter().map(|(role_arn, question)| async {
        let _permit = permits.acquire().await.ok();
        aws.simulate(role_arn, question).await
    });
    join_all(asking).await
}

/// Gets credentials of the controller's roles and tries their launches, in their order. Every
/// call is in `log`.
///
/// # Errors
/// Where the kubeconfig that `flags` name cannot be used.
pub async fn prove(
    questions: Vec<Question>,
    scope: &Scope,
    config: &SdkConfig,
    flags: &Flags,
    timeout: Duration,
    log: &CallLog,
) -> Result<Vec<Proof>, CannotRun> {
    let reach = Reach::new(flags, config, Asker::new(timeout, log.elapsed()), log)?;
    let aws = Aws::new(config, reach.asker().clone(), log);
    let (cluster, region) = (scope.cluster.as_str(), scope.region.as_str());
    let prover = Prover { config, aws: &aws, reach: &reach, log, cluster, region };
    Ok(prover.prove(questions).await)
}

/// Decodes the encoded messages of denials, in their order. Every call is in `log`.
pub async fn decode(
    messages: &[&str],
    config: &SdkConfig,
    timeout: Duration,
    log: &CallLog,
) -> Vec<Fact<String>> {
    let aws = Aws::new(config, Asker::new(timeout, log.elapsed()), log);
    join_all(messages.iter().map(|message| aws.authorization_message(message))).await
}

/// A run makes no sense if neither the caller nor the cluster could be read, for a reason that
/// holds for every call, or if there is no such cluster.
async fn cannot_run(aws: &Aws, asker: &Asker, scope: &Scope, facts: &Facts) -> Option<CannotRun> {
    if facts.cluster == Fact::Absent {
        return Some(no_such_cluster(aws, scope, facts).await);
    }
    let of_caller = asker.trouble("sts:GetCallerIdentity")?;
    let of_cluster = asker.trouble("eks:DescribeCluster")?;
    let message = match &facts.cluster {
        Fact::Failed { message, .. } => message.clone(),
        _ => String::new(),
    };
    match (of_caller, of_cluster) {
        (Trouble::Credentials, Trouble::Credentials) => Some(CannotRun::NoCredentials { message }),
        (Trouble::Network, Trouble::Network) => {
            Some(CannotRun::NoNetwork { region: scope.region.clone(), message })
        }
        _ => None,
    }
}

async fn no_such_cluster(aws: &Aws, scope: &Scope, facts: &Facts) -> CannotRun {
    let hint = match aws.cluster_names().await {
        Fact::Known(names) if names.is_empty() => {
            ": there is no cluster at all; is it another region or account?".to_owned()
        }
        Fact::Known(names) if names.len() == 1 => format!("; its only cluster is {}", names[0]),
        Fact::Known(names) => format!("; its clusters are {}", names.join(", ")),
        _ => String::new(),
    };
    CannotRun::NoSuchCluster {
        cluster: scope.cluster.clone(),
        region: scope.region.clone(),
        account: facts
            .caller
            .value()
            .map_or_else(|| "unknown".to_owned(), |caller| caller.account.clone()),
        hint,
    }
}
