//! The command line.

mod configuration;
mod explain;
mod list;
pub mod offered;
mod output;
pub mod policy;
mod policy_help;
pub mod reference;
pub mod suggest;
pub mod words;

use std::{collections::BTreeSet, path::PathBuf, sync::LazyLock, time::Duration};

use clap::{
    Args, Parser, Subcommand, ValueEnum,
    builder::{StringValueParser, TypedValueParser},
};
use clap_complete::Shell;

use crate::{
    outcome::FailOn,
    report::Format,
    requirements::version::KarpenterVersion,
    target::{ProductChoice, StageChoice, Tag, Thresholds},
};
pub use configuration::{ConfigArgs, WaiveArgs};
pub use explain::ExplainArgs;
pub use list::{ErrorsArgs, ListArgs, ListWhat};
use offered::{Offered, offered};
pub use output::{Output, is_standard};

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
    #[arg(long, value_name = "DURATION", value_parser = duration, conflicts_with = "facts")]
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

/// How to reach AWS.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "AWS")]
pub struct AwsArgs {
    /// Region of the cluster [default: from the environment or profile]
    #[arg(long, value_parser = words::region)]
    pub region: Option<String>,
    /// Profile of the shared AWS configuration
    #[arg(long, value_parser = words::profile)]
    pub profile: Option<String>,
    /// Assume this role first
    #[arg(long, value_name = "ARN", value_parser = words::role)]
    pub assume_role: Option<String>,
    /// How long the whole run may take, such as 45s or 2m
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = duration)]
    pub timeout: Duration,
    /// Show each API call and how long it took, on standard error
    #[arg(long, short)]
    pub verbose: bool,
    #[command(flatten)]
    pub kube: KubeArgs,
}

/// How to reach the cluster's API server.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Kubernetes")]
pub struct KubeArgs {
    /// Read the cluster through this kubeconfig [default: as the pod that this runs in, or with a
    /// token made from the AWS credentials]
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// Read the cluster through this context [default: the kubeconfig's current one]
    #[arg(long, value_name = "NAME")]
    pub context: Option<String>,
}

/// What is to be checked; whatever is not said is read from the account.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Target")]
pub struct ScopeArgs {
    /// Name of the EKS cluster
    #[arg(long, short, value_parser = words::cluster)]
    pub cluster: Option<String>,
    /// The Karpenter version that runs or will run, such as 1.6.2 [default: the newest known]
    #[arg(long, value_name = "VERSION", value_parser = version_of_karpenter(), hide_possible_values = true)]
    pub karpenter_version: Option<KarpenterVersion>,
    /// What runs the nodes [default: auto]
    #[arg(long, value_enum)]
    pub product: Option<ProductChoice>,
    /// Before or after Karpenter was installed [default: auto]
    #[arg(long, value_enum)]
    pub stage: Option<StageChoice>,
    /// Namespace of the controller [default: kube-system]
    #[arg(long, value_parser = words::kubernetes_name)]
    pub namespace: Option<String>,
    /// Service account of the controller [default: karpenter]
    #[arg(long, value_parser = words::kubernetes_name)]
    pub service_account: Option<String>,
    /// Role of the controller, name or ARN
    #[arg(long, value_name = "ROLE", value_parser = words::role)]
    pub controller_role: Option<String>,
    /// A role that nodes run with, name or ARN; may be given several times
    #[arg(long = "node-role", value_name = "ROLE", value_parser = words::role)]
    pub node_roles: Vec<String>,
    /// The queue in `settings.interruptionQueue`
    #[arg(long, value_name = "NAME", value_parser = words::queue)]
    pub interruption_queue: Option<String>,
    /// The tag that selects subnets and security groups
    /// [default: karpenter.sh/discovery=<cluster>]
    #[arg(long, value_name = "KEY[=VALUE]", value_parser = words::tag)]
    pub discovery_tag: Option<Tag>,
    /// A tag in `spec.tags` of a NodeClass that is yet to come, or that cannot be read; may be given
    /// several times
    #[arg(long = "nodeclass-tag", value_name = "KEY=VALUE", value_parser = words::user_tag)]
    pub nodeclass_tags: Vec<(String, String)>,
    /// Leave the cluster alone: ask AWS only
    #[arg(long, help_heading = "Kubernetes", conflicts_with_all = ["kubeconfig", "context"])]
    pub no_kube: bool,
    /// What the configuration demands.
    #[arg(skip)]
    pub thresholds: Thresholds,
    /// Which of these the configuration says, by name.
    #[arg(skip)]
    pub configured: BTreeSet<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum TextFormat {
    #[default]
    Human,
    Json,
}

#[derive(Debug, Args)]
pub struct GenerateArgs {
    #[arg(value_enum)]
    pub what: Generated,
    /// The folder for what is more than one file
    #[arg(long, value_name = "DIR", required_if_eq("what", "man-pages"))]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Generated {
    /// docs/checks.md
    ChecksDoc,
    /// docs/errors.md
    ErrorsDoc,
    /// docs/formats.md
    FormatsDoc,
    /// docs/configuration.md
    ConfigDoc,
    /// docs/cli.md
    CliDoc,
    /// schema/report.v1.json
    ReportSchema,
    /// schema/reports.v1.json
    ReportsSchema,
    /// schema/config.v1.json
    ConfigSchema,
    /// schema/explanation.v1.json
    ExplanationSchema,
    /// The manual pages of the program and of each subcommand
    ManPages,
}

fn ids() -> Offered<StringValueParser> {
    offered(StringValueParser::new(), offered::checks_and_areas)
}

fn version_of_karpenter() -> impl TypedValueParser<Value = KarpenterVersion> {
    offered(|text: &str| text.parse::<KarpenterVersion>(), offered::karpenter_versions)
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

fn duration(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<u64>().map(Duration::from_secs);
    let duration = seconds.or_else(|_| {
        let parsed = text.parse::<jiff::SignedDuration>().map_err(|_| ())?;
        Duration::try_from(parsed).map_err(|_| ())
    });
    match duration {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        _ => Err("write a time such as 45s or 2m".to_owned()),
    }
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

    #[test]
    fn durations() {
        assert_eq!(duration("45"), Ok(Duration::from_secs(45)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
        for text in ["0", "-3s", "soon", ""] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
