//! Parse, run, exit code.

use std::process::ExitCode;

use clap::Parser;
use karpenter_preflight::{cli::Cli, commands};

fn main() -> ExitCode {
    ExitCode::from(commands::run(Cli::parse()))
}
