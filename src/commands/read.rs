//! Reads the facts of one cluster from AWS, with a progress line and Ctrl-C.

use std::time::Duration;

use aws_config::SdkConfig;
use indicatif::{ProgressBar, ProgressStyle};
use jiff::Timestamp;

use super::{Failure, console};
use crate::{
    cli::{AwsArgs, ScopeArgs, words},
    collect::{self, call_log::CallLog, config, kubernetes::access::Flags},
    target::{
        Origin, Scope,
        saved::{SCHEMA_VERSION, Saved},
    },
};

/// Reads everything that a check could want.
pub fn read(aws: &AwsArgs, scope: &ScopeArgs) -> Result<Saved, Failure> {
    until_interrupted(read_from_aws(aws, scope))
}

/// Waits for what AWS answers, or for Ctrl-C.
pub fn until_interrupted<T>(
    asking: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::Io { what: "could not start".to_owned(), error })?;
    let result = runtime.block_on(async {
        tokio::select! {
            // In this order, so that Ctrl-C is listened for before the first call goes out.
            biased;
            _ = tokio::signal::ctrl_c() => Err(Failure::Interrupted),
            answer = asking => answer,
        }
    });
    // A call that still hangs must not keep the process.
    runtime.shutdown_background();
    result
}

/// The caller's AWS configuration, with what the flags change in it.
pub async fn load_config(aws: &AwsArgs) -> Result<SdkConfig, Failure> {
    let access = config::Access {
        profile: aws.profile.clone(),
        region: aws.region.clone(),
        assume_role: aws.assume_role.clone(),
        timeout: aws.timeout,
    };
    Ok(config::load(&access).await?)
}

async fn read_from_aws(aws: &AwsArgs, args: &ScopeArgs) -> Result<Saved, Failure> {
    // Whoever forgot the cluster need not log in to hear that.
    let cluster = cluster(args)?;
    let log = CallLog::default();
    let progress = progress(&log);
    let config = load_config(aws).await?;
    let region = config.region().map(ToString::to_string).unwrap_or_default();
    // One that the environment or a profile gives was not held against its form yet.
    let region = words::region(&region)
        .map_err(|form| Failure::Usage(format!("region `{region}`: {form}")))?;
    let origin = match &aws.region {
        Some(_) if args.configured.contains("region") => Origin::Configuration,
        Some(_) => Origin::Flag,
        None => Origin::Environment,
    };
    let mut scope = Scope::new(cluster, region, origin);
    apply(args, &mut scope);
    let flags =
        Flags { kubeconfig: aws.kube.kubeconfig.clone(), context: aws.kube.context.clone() };
    let read = collect::collect(&scope, &config, &flags, aws.timeout, &log).await;
    progress.finish_and_clear();
    if aws.verbose {
        say_calls(&log);
    }
    let (facts, effort) = read?;
    Ok(Saved {
        schema_version: SCHEMA_VERSION,
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        collected_at: Timestamp::now(),
        scope,
        effort,
        facts,
    })
}

fn cluster(args: &ScopeArgs) -> Result<String, Failure> {
    args.cluster.clone().filter(|cluster| !cluster.is_empty()).ok_or_else(|| {
        Failure::Usage(
            "name the cluster with --cluster or in karpenter-preflight.toml, or give saved facts \
             with --facts"
                .to_owned(),
        )
    })
}

/// What the flags say overrides what a scope says.
pub fn apply(args: &ScopeArgs, scope: &mut Scope) {
    fn set<T: Clone>(field: &mut Option<T>, flag: Option<&T>) {
        if let Some(value) = flag {
            *field = Some(value.clone());
        }
    }
    scope.product = args.product.unwrap_or(scope.product);
    scope.stage = args.stage.unwrap_or(scope.stage);
    set(&mut scope.karpenter_version, args.karpenter_version.as_ref());
    set(&mut scope.namespace, args.namespace.as_ref());
    set(&mut scope.service_account, args.service_account.as_ref());
    set(&mut scope.controller_role, args.controller_role.as_ref());
    set(&mut scope.interruption_queue, args.interruption_queue.as_ref());
    set(&mut scope.discovery_tag, args.discovery_tag.as_ref());
    scope.no_kube |= args.no_kube;
    if !args.nodeclass_tags.is_empty() {
        scope.nodeclass_tags = args.nodeclass_tags.iter().cloned().collect();
    }
    if !args.node_roles.is_empty() {
        scope.node_roles.clone_from(&args.node_roles);
    }
    scope.thresholds = args.thresholds.or(scope.thresholds);
    for (name, is_said) in [
        ("product", args.product.is_some()),
        ("stage", args.stage.is_some()),
        ("karpenter_version", args.karpenter_version.is_some()),
        ("controller_role", args.controller_role.is_some()),
        ("node_roles", !args.node_roles.is_empty()),
        ("interruption_queue", args.interruption_queue.is_some()),
        ("discovery_tag", args.discovery_tag.is_some()),
    ] {
        if is_said {
            scope.configured.remove(name);
        }
    }
    scope.configured.extend(args.configured.iter().cloned());
}

/// A line on standard error that counts the answers; indicatif draws it only on a terminal.
fn progress(log: &CallLog) -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    let log = log.clone();
    let template = "{spinner} reading the account: {answers} answers";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.with_key(
            "answers",
            move |_: &indicatif::ProgressState, out: &mut dyn std::fmt::Write| {
                let _ = write!(out, "{}", log.calls().len());
            },
        ));
    }
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

pub fn say_calls(log: &CallLog) {
    for call in log.calls() {
        let result = if call.failed { "failed" } else { "ok" };
        console::note(format_args!(
            "{:>6} ms  +{:>5} ms  {:<6}  {}",
            call.started.as_millis(),
            call.took.as_millis(),
            result,
            call.action()
        ));
    }
}
