//! `completions`: what a shell needs to complete our command line.

use clap::CommandFactory;
use clap_complete::Shell;

use super::{Failure, console};
use crate::{cli::Cli, outcome::ExitCode};

pub fn run(shell: Shell) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "karpenter-preflight", &mut script);
    console::print(|out| out.write_all(&script))?;
    Ok(ExitCode::Ok)
}
