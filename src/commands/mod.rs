//! The subcommands, one file each: they tie the other rooms together.

mod check;
mod collect;
mod completions;
mod configuration;
mod console;
mod explain;
mod facts_file;
mod files;
mod generate;
mod list;
mod outputs;
mod places;
mod policy;
mod prove;
mod read;
mod selection;
mod simulate;
mod waive;

use std::io;

use crate::{
    cli::{Cli, Command},
    collect::CannotRun,
    outcome::ExitCode,
};

/// Why a command ended without doing its work.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error("{0}")]
    Usage(String),
    #[error(transparent)]
    CannotRun(#[from] CannotRun),
    #[error("{what}: {error}")]
    Io { what: String, error: io::Error },
    #[error("cluster {cluster}: {why}")]
    OfCluster { cluster: String, why: Box<Failure> },
    #[error("interrupted")]
    Interrupted,
}

impl Failure {
    fn code(&self) -> u8 {
        match self {
            Self::Usage(_)
            | Self::CannotRun(
                CannotRun::NoRegion
                | CannotRun::EmptyEndpoint { .. }
                | CannotRun::Kubeconfig { .. },
            ) => ExitCode::Usage as u8,
            Self::CannotRun(_) | Self::Io { .. } => ExitCode::CouldNotRun as u8,
            Self::OfCluster { why, .. } => why.code(),
            // What shells expect of a process that Ctrl-C ended: 128 + SIGINT.
            Self::Interrupted => 130,
        }
    }
}

/// Runs a command and gives the process's exit code.
pub fn run(cli: Cli) -> u8 {
    let result = match cli.command {
        Command::Check(args) => check::run(*args),
        Command::Collect(args) => collect::run(&args),
        Command::List(args) => list::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Policy(args) => policy::run(&args),
        Command::Waive(args) => waive::run(&args),
        Command::Completions { shell } => completions::run(shell),
        Command::Generate(args) => generate::run(&args),
    };
    match result {
        Ok(code) => code as u8,
        Err(failure) => {
            console::error(&failure);
            failure.code()
        }
    }
}
