//! `generate`: what is derived from the code.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

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
