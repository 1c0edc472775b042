//! The command line of `policy`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use serde::de::{IntoDeserializer, value::Error};

use crate::{
    outcome::FailOn,
    report::Format,
    requirements::{Feature, KarpenterVersion, versions},
};

use super::{
    TextFormat,
    offered::{self, offered},
    policy_help::{DIFF_HELP, PRINT_HELP, SIMULATE_HELP, TEST_HELP},
};

#[derive(Debug, Args)]
pub struct PolicyArgs {
    #[command(subcommand)]
    pub what: PolicyWhat,
}

#[derive(Debug, Subcommand)]
pub enum PolicyWhat {
    /// Print the policies of a role or of the queue, ready to attach
    #[command(after_long_help = PRINT_HELP)]
    Print(PrintArgs),
    /// Judge policies on disk, without AWS
    #[command(after_long_help = TEST_HELP)]
    Test(TestArgs),
    /// Say what an upgrade of Karpenter changes in what it asks of the account
    #[command(after_long_help = DIFF_HELP)]
    Diff(DiffArgs),
    /// Decide requests: one JSON line in, one JSON line out
    #[command(after_long_help = SIMULATE_HELP)]
    Simulate,
}

/// Whose policies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum RoleKind {
    /// The role of the Karpenter controller
    #[default]
    Controller,
    /// The role of the nodes
    Node,
    /// The role of the EKS cluster
    Cluster,
    /// The interruption queue
    Queue,
    /// The identity that runs karpenter-preflight
    Preflight,
}

/// What runs the nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum PolicyProduct {
    #[default]
    Karpenter,
    AutoMode,
}

/// The names that the policies are filled with.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Names")]
pub struct NamesArgs {
    /// Name of the EKS cluster
    #[arg(long, short)]
    pub cluster: Option<String>,
    /// Region of the cluster; the partition follows from it
    #[arg(long)]
    pub region: Option<String>,
    /// Account of the cluster, twelve digits
    #[arg(long)]
    pub account: Option<String>,
    /// What runs the nodes; matters to the node and cluster roles
    #[arg(long, value_enum, default_value_t)]
    pub product: PolicyProduct,
    /// A role that nodes run with, name or ARN; may be given several times
    /// [default: KarpenterNodeRole-<cluster>]
    #[arg(long = "node-role", value_name = "ROLE")]
    pub node_roles: Vec<String>,
    /// The interruption queue, name or ARN [default: as the cluster]
    #[arg(long, visible_alias = "queue", value_name = "NAME")]
    pub interruption_queue: Option<String>,
    /// The cluster's OIDC issuer, for a controller role of IRSA and not of Pod Identity
    #[arg(long, value_name = "URL")]
    pub oidc_provider: Option<String>,
    /// Namespace of the controller [default: kube-system]
    #[arg(long)]
    pub namespace: Option<String>,
    /// Service account of the controller [default: karpenter]
    #[arg(long)]
    pub service_account: Option<String>,
    /// A tag of a NodeClass; may be given several times
    #[arg(long = "nodeclass-tag", value_name = "KEY=VALUE", value_parser = tag)]
    pub node_class_tags: Vec<(String, String)>,
    /// The name of an SSM parameter that holds an AMI id; may be given several times
    #[arg(long = "ami-parameter", value_name = "NAME")]
    pub ami_parameters: Vec<String>,
    /// Features in use beyond the getting-started guide's, comma-separated; `all` for every one
    #[arg(long, value_name = "FEATURE", value_delimiter = ',', value_parser = offered(features, offered::features), hide_possible_values = true)]
    pub uses: Vec<Features>,
}

/// One feature, or all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Features(pub Vec<Feature>);

/// How `policy print` writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum DocumentFormat {
    #[default]
    Json,
    Terraform,
    Cloudformation,
}

/// One part of what `policy print` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// The trust policy
    Trust,
    /// The policy, where it is one document
    Policy,
}

#[derive(Debug, Args)]
pub struct PrintArgs {
    /// Whose policies to print
    #[arg(value_enum)]
    pub kind: RoleKind,
    /// The Karpenter version, such as 1.14.1; the controller's and its nodes' policies need it
    #[arg(long, value_name = "VERSION", value_parser = offered(version, offered::karpenter_versions), hide_possible_values = true)]
    pub karpenter_version: Option<KarpenterVersion>,
    #[command(flatten)]
    pub names: NamesArgs,
    /// Name of the role that is printed [default: a usual name with the cluster's]
    #[arg(long, value_name = "NAME")]
    pub role_name: Option<String>,
    #[arg(long, value_enum, default_value_t)]
    pub format: DocumentFormat,
    /// Divide the controller's policy as upstream does from 1.9 on, even if it fits in one
    #[arg(long)]
    pub split: bool,
    /// Print this document alone (JSON)
    #[arg(long, value_enum, conflicts_with = "out")]
    pub only: Option<Part>,
    /// Write each document to a file of its own in this directory (JSON)
    #[arg(long, value_name = "DIRECTORY")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct TestArgs {
    /// Policy documents, `terraform show -json`, or `aws iam get-account-authorization-details`;
    /// - for standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// The Karpenter version that runs or will run, such as 1.14.1
    #[arg(long, value_name = "VERSION", value_parser = offered(version, offered::karpenter_versions), hide_possible_values = true)]
    pub karpenter_version: Option<KarpenterVersion>,
    /// Whose policies these are
    #[arg(long, value_enum, default_value_t)]
    pub role_kind: RoleKind,
    /// The role to judge, where the files hold several; where they hold none, the name of the role
    /// that the documents are for
    #[arg(long, value_name = "NAME")]
    pub role: Option<String>,
    /// A file with the role's permissions boundary
    #[arg(long, value_name = "FILE")]
    pub boundary: Option<PathBuf>,
    /// Files with the service control policies of one level of the organisation: of its root, of a
    /// unit, of the account. Give it once for each level
    #[arg(long = "scp", value_name = "FILE[,FILE…]")]
    pub service_control: Vec<String>,
    /// The same of resource control policies
    #[arg(long = "rcp", value_name = "FILE[,FILE…]")]
    pub resource_control: Vec<String>,
    #[command(flatten)]
    pub names: NamesArgs,
    /// How to print the report
    #[arg(long, short, value_enum, default_value_t = Format::Human)]
    pub output: Format,
    /// The lowest status that makes the exit code 1
    #[arg(long, value_enum, default_value_t = FailOn::Fail)]
    pub fail_on: FailOn,
    /// Exit with 0 although something is unknown
    #[arg(long)]
    pub allow_unknown: bool,
}

#[derive(Debug, Args)]
pub struct DiffArgs {
    /// The version that runs
    #[arg(long, value_name = "VERSION", value_parser = offered(version, offered::karpenter_versions), hide_possible_values = true)]
    pub from: KarpenterVersion,
    /// The version to upgrade to
    #[arg(long, value_name = "VERSION", value_parser = offered(version, offered::karpenter_versions), hide_possible_values = true)]
    pub to: KarpenterVersion,
    #[command(flatten)]
    pub names: NamesArgs,
    /// How to print the difference
    #[arg(long, short, value_enum, default_value_t)]
    pub output: TextFormat,
}

/// A version that exists, as far as this build can know: one of a known minor, or newer.
fn version(text: &str) -> Result<KarpenterVersion, String> {
    let minors = versions::minors();
    let name = |v: KarpenterVersion| format!("{}.{}", v.major, v.minor);
    let parsed = text.parse::<KarpenterVersion>().ok();
    let is_known = |v: KarpenterVersion| minors.iter().any(|minor| name(minor.first) == name(v));
    if let Some(version) = parsed.filter(|v| is_known(*v) || v.is_newer_than_known()) {
        return Ok(version);
    }
    let names: Vec<_> = minors.iter().map(|minor| name(minor.first)).collect();
    let bare = text.trim().trim_start_matches('v').replace(',', ".");
    let beginning = bare.split('.').take(2).collect::<Vec<_>>().join(".");
    let likeness = |name: &&String| strsim::jaro_winkler(&beginning, name);
    let nearest = names.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    let hint = match nearest.filter(|name| likeness(name) > 0.8) {
        Some(name) => format!(": did you mean {name}?"),
        None => ".".to_owned(),
    };
    Err(format!("there is no such Karpenter version{hint} Known are {}", names.join(", ")))
}

fn tag(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("write it as KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}

/// The name of a feature as the data files have it.
fn features(text: &str) -> Result<Features, String> {
    use serde::Deserialize;
    if text == "all" {
        return Ok(Features(Feature::ALL.to_vec()));
    }
    let read = Feature::deserialize(IntoDeserializer::<Error>::into_deserializer(text));
    read.map(|feature| Features(vec![feature])).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_that_do_not_exist_get_a_suggestion() {
        for text in ["1.6.2", "v0.32", "1.14.1", "1.15.0", "2.0.0"] {
            assert!(version(text).is_ok(), "{text}");
        }
        for (text, hint) in [
            ("0.38", "did you mean 0.3"),
            ("1.6.x", "did you mean 1.6?"),
            ("1,6", "did you mean 1.6?"),
            ("latest", "Known are 0.32, "),
            ("0.16.3", "Known are 0.32, "),
        ] {
            let error = version(text).unwrap_err();
            assert!(error.contains(hint), "{text}: {error}");
        }
    }

    #[test]
    fn features_go_by_the_names_of_the_data() {
        assert_eq!(features("placement-groups"), Ok(Features(vec![Feature::PlacementGroups])));
        assert_eq!(features("all").map(|all| all.0.len()), Ok(Feature::ALL.len()));
        assert!(features("placement").unwrap_err().contains("placement-groups"));
    }
}
