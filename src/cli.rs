//! The command line.

mod configuration;
mod explain;
mod generate;
mod list;
pub mod offered;
mod output;
pub mod policy;
mod policy_help;
pub mod reference;
pub mod suggest;
mod target;
pub mod words;

use std::{path::PathBuf, sync::LazyLock, time::Duration};

use clap::{Args, Parser, Subcommand, ValueEnum, builder::StringValueParser};
use clap_complete::Shell;

use crate::{outcome::FailOn, report::Format, requirements::version::KarpenterVersion};
pub use configuration::{ConfigArgs, WaiveArgs};
pub use explain::ExplainArgs;
pub use generate::{GenerateArgs, Generated};
pub use list::{ErrorsArgs, ListArgs, ListWhat};
use offered::{Offered, offered};
pub use output::{Output, is_standard};
pub use target::{AwsArgs, KubeArgs, ScopeArgs};

/// Says what in an AWS account will stop Karpenter or EKS Auto Mode from working, before it
/// does.
#[derive(Debug, Parser)]
#[command(
    name = "karpenter-preflight",
    version = version(),
    propagate_version = true,
    max_term_width = 100
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Judge one cluster's account
    #[command(after_help = CHECK_EXIT_CODES)]
    Check(Box<CheckArgs>),
    /// Save what `check` would read, to judge it elsewhere
    Collect(CollectArgs),
    /// List what there is
    List(ListArgs),
    /// Say what an error or a check means, and how to mend it
    #[command(after_help = explain::AFTER_HELP)]
    Explain(ExplainArgs),
    /// Live with a finding: add a waiver to the configuration
    Waive(WaiveArgs),
    /// Print, test and compare what Karpenter must be allowed
    Policy(policy::PolicyArgs),
    /// Print the completions of a shell
    #[command(after_help = COMPLETIONS_HELP)]
    Completions {
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Print a file that is derived from the code
    #[command(hide = true)]
    Generate(GenerateArgs),
}

const COMPLETIONS_HELP: &str = "\
Where they go:
  bash        karpenter-preflight completions bash > ~/.local/share/bash-completion/completions/karpenter-preflight
  zsh         karpenter-preflight completions zsh > a folder of $fpath, as _karpenter-preflight
  fish        karpenter-preflight completions fish > ~/.config/fish/completions/karpenter-preflight.fish
  powershell  karpenter-preflight completions powershell >> $PROFILE";

const CHECK_EXIT_CODES: &str = "\
Exit codes, whatever the format:
  0  everything that applies passed (warnings allowed unless --fail-on warn)
  1  at least one finding at or above --fail-on
  2  usage or configuration error
  3  incomplete: some checks are unknown and nothing failed (0 with --allow-unknown)
  4  could not run: no credentials, no such cluster, no network
130  ended by Ctrl-C";

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Judge these saved facts instead of asking AWS; - for standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["region", "profile", "assume_role", "timeout", "verbose", "kubeconfig", "context"])]
    pub facts: Option<PathBuf>,
    /// Compare the permissions with AWS's own simulation (needs iam:SimulatePrincipalPolicy)
    #[arg(long, conflicts_with = "facts")]
    pub simulate: bool,
    /// Prove that AWS lets the controller launch: take its role and make dry runs with it
    ///
    /// It says what it will call before it does, and makes nothing. It needs a token of the
    /// controller's service account, or a role that you may assume.
    #[arg(long, conflicts_with_all = ["facts", "wait"])]
    pub prove: bool,
    /// How to print the report; =FILE writes it there. May be given several times
    ///
    /// Formats: human, short, json, junit, sarif, markdown, github, prometheus, html, terraform.
    #[arg(long, short, value_name = "FORMAT[=FILE]", default_value = "human", value_parser = offered(output::parse, offered::formats), hide_possible_values = true)]
    pub output: Vec<Output>,
    /// The lowest status that makes the exit code 1 [default: fail]
    #[arg(long, value_enum)]
    pub fail_on: Option<FailOn>,
    /// Exit with 0 although some checks are unknown
    #[arg(long)]
    pub allow_unknown: bool,
    /// Run only these checks or areas (ids, comma-separated)
    #[arg(long, value_name = "ID", value_delimiter = ',', value_parser = ids(), hide_possible_values = true)]
    pub select: Vec<String>,
    /// Leave these checks or areas out
    #[arg(long, value_name = "ID", value_delimiter = ',', value_parser = ids(), hide_possible_values = true)]
    pub exclude: Vec<String>,
    /// Ask again until nothing is missing any more, at most this long, such as 5m
    #[arg(long, value_name = "DURATION", value_parser = words::duration, conflicts_with = "facts")]
    pub wait: Option<Duration>,
    /// Say what is new and what is gone since this report (of --output json)
    ///
    /// It may be the file that --output json=FILE writes: then each run is held against the one
    /// before, and the first makes it. Where this run does not write it, a file that is not there
    /// is an error, as is one that is no report, of another cluster, or of a newer schema.
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Let only what is new count for the exit code
    #[arg(long, requires = "baseline")]
    pub fail_on_new: bool,
    /// Run this in a shell with the report on its standard input, if something changed
    #[arg(long, value_name = "COMMAND", requires = "baseline")]
    pub notify_command: Option<String>,
    /// How that report is written
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Format::Human, requires = "notify_command", hide_possible_values = true)]
    pub notify_format: Format,
    /// Judge every [[cluster]] of the configuration
    #[arg(long, conflicts_with_all = ["cluster", "facts"])]
    pub all_clusters: bool,
    #[command(flatten)]
    pub aws: AwsArgs,
    #[command(flatten)]
    pub scope: ScopeArgs,
    #[command(flatten)]
    pub config: ConfigArgs,
    /// Write a shell script that mends what was found, for you to read and run; - for standard
    /// output
    #[arg(long, value_name = "FILE", conflicts_with = "all_clusters")]
    pub fix_script: Option<PathBuf>,
    /// Write what mends the findings as Terraform, where resources can do it; - for standard output
    #[arg(long, value_name = "FILE", conflicts_with = "all_clusters")]
    pub fix_terraform: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct CollectArgs {
    /// Where to save the facts; - for standard output
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Replace account ids and names, each by the same stand-in everywhere
    #[arg(long)]
    pub redact: bool,
    #[command(flatten)]
    pub aws: AwsArgs,
    #[command(flatten)]
    pub scope: ScopeArgs,
    #[command(flatten)]
    pub config: ConfigArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum TextFormat {
    #[default]
    Human,
    Json,
}

fn ids() -> Offered<StringValueParser> {
    offered(StringValueParser::new(), offered::checks_and_areas)
}

/// `0.1.0 (1a2b3c4; knows Karpenter 0.32 to 1.14.1)`. The commit is there in released programs.
fn version() -> &'static str {
    static VERSION: LazyLock<String> = LazyLock::new(|| {
        let commit = option_env!("KARPENTER_PREFLIGHT_COMMIT").map(|commit| format!("{commit}; "));
        let (oldest, newest) = (KarpenterVersion::OLDEST, KarpenterVersion::NEWEST);
        format!(
            "{} ({}knows Karpenter {}.{} to {newest})",
            env!("CARGO_PKG_VERSION"),
            commit.unwrap_or_default(),
            oldest.major,
            oldest.minor
        )
    });
    &VERSION
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_help_names_every_format() {
        let help = Cli::command().find_subcommand_mut("check").unwrap().render_long_help();
        let help = help.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        let names: Vec<_> = crate::report::Format::all().iter().map(|f| f.name()).collect();
        let formats = format!("Formats: {}", names.join(", "));
        assert!(help.contains(&formats), "{formats} not in {help}");
    }
}
