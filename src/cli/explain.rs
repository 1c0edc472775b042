//! `explain`: the command line.

use std::path::PathBuf;

use clap::{Args, builder::StringValueParser};

use super::{
    AwsArgs, ScopeArgs, TextFormat,
    offered::{self, offered},
};

/// What stands under the help of `explain`.
pub const AFTER_HELP: &str = "\
Examples:
  karpenter-preflight explain \"no subnets exist given constraints\"
  kubectl logs -n kube-system deploy/karpenter | karpenter-preflight explain -
  kubectl describe nodeclaim | karpenter-preflight explain - --cluster my-cluster
  karpenter-preflight explain node-not-registered

Exit codes:
  0  something was recognised; with --cluster or --facts: and no check that was run failed
  1  nothing was recognised, or one of those checks failed
  2  usage error
  3  some of those checks are unknown and none failed
  4  could not run: no credentials, no such cluster, no network";

#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// An error as it is printed, the id of an error or a check, or - to read standard input
    #[arg(value_name = "TEXT", value_parser = offered(StringValueParser::new(), offered::checks_and_errors), hide_possible_values = true)]
    pub text: Vec<String>,
    /// Read this file: a log, the output of `kubectl describe`, anything
    #[arg(long, short, value_name = "FILE", conflicts_with = "text")]
    pub file: Option<PathBuf>,
    /// How to print the answer
    #[arg(long, short, value_enum, default_value_t)]
    pub output: TextFormat,
    /// Let AWS decode encoded authorization messages (needs sts:DecodeAuthorizationMessage)
    #[arg(long)]
    pub decode: bool,
    /// Say which cause holds, from these saved facts
    #[arg(long, value_name = "FILE")]
    pub facts: Option<PathBuf>,
    #[command(flatten)]
    pub aws: AwsArgs,
    #[command(flatten)]
    pub scope: ScopeArgs,
}
