//! `policy diff`: what an upgrade changes.

use super::{
    Failure,
    names::{Place, setup},
    notice_of_version,
};
use crate::{
    cli::{
        TextFormat,
        policy::{DiffArgs, Features},
    },
    commands::console,
    facts::arn::partition_of_region,
    iam::Principal,
    outcome::ExitCode,
    report::policy::{diff, diff_json},
    requirements::{self, Feature},
};

pub fn run(args: &DiffArgs) -> Result<ExitCode, Failure> {
    for version in [args.from, args.to] {
        notice_of_version(version);
    }
    let difference = difference(args).map_err(Failure::Usage)?;
    console::print(|out| match args.output {
        TextFormat::Human => diff::write(&difference, console::style(), out),
        TextFormat::Json => diff_json::write(&difference, out),
    })?;
    Ok(ExitCode::Ok)
}

/// The difference for every feature, unless the user says which are in use: each change says
/// what it depends on. Names that the user does not give are made up; no verdict turns on them.
fn difference(args: &DiffArgs) -> Result<requirements::diff::Diff, String> {
    let mut names = args.names.clone();
    names.cluster.get_or_insert_with(|| "CLUSTER".to_owned());
    if names.uses.is_empty() {
        names.uses.push(Features(Feature::ALL.to_vec()));
    }
    let region = names.region.clone().unwrap_or_else(|| "us-east-1".to_owned());
    let place = Place {
        partition: partition_of_region(&region).to_owned(),
        region,
        account: names.account.clone().unwrap_or_else(|| "111122223333".to_owned()),
    };
    let mut setup = setup(&names, &place)?;
    if setup.features.contains(&Feature::SsmParameterAmi) && setup.ami_parameters.is_empty() {
        setup.ami_parameters.push("AMI_PARAMETER".to_owned());
    }
    let role = format!("arn:{}:iam::{}:role/Karpenter", place.partition, place.account);
    let principal = Principal::aws(&role).map_err(|error| error.to_string())?;
    requirements::diff(args.from, args.to, &setup, &principal).map_err(|error| error.to_string())
}
