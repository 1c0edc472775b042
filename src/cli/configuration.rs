//! `--config` and `waive`: the command line.

use std::path::PathBuf;

use clap::{Args, builder::StringValueParser};
use jiff::civil::Date;

use super::{
    offered::{self, offered},
    words,
};
use crate::config::waiver::{parse_date, pattern};

/// Which configuration is read.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Configuration")]
pub struct ConfigArgs {
    /// Read this file [default: karpenter-preflight.toml here or in a folder above]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Read no configuration
    #[arg(long, conflicts_with = "config")]
    pub no_config: bool,
}

#[derive(Debug, Args)]
pub struct WaiveArgs {
    /// The check whose finding is lived with
    #[arg(value_name = "ID", value_parser = offered(StringValueParser::new(), offered::checks), hide_possible_values = true)]
    pub check: String,
    /// Which subjects, as the report shows them; * stands for any text
    #[arg(long, value_name = "PATTERN", value_parser = subject)]
    pub subject: String,
    /// Why it is lived with
    #[arg(long, value_name = "TEXT", value_parser = reason)]
    pub reason: String,
    /// The last day on which it holds, in UTC, such as 2026-12-31
    #[arg(long, value_name = "DATE", value_parser = parse_date)]
    pub until: Option<Date>,
    /// Who decided so
    #[arg(long, value_name = "NAME")]
    pub owner: Option<String>,
    /// Only in this cluster
    #[arg(long, value_name = "NAME", value_parser = words::cluster)]
    pub cluster: Option<String>,
    /// Add it to this file [default: karpenter-preflight.toml here or in a folder above]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

fn subject(text: &str) -> Result<String, String> {
    pattern(text).map(|_| text.to_owned())
}

fn reason(text: &str) -> Result<String, String> {
    if text.trim().is_empty() { Err("say why".to_owned()) } else { Ok(text.to_owned()) }
}
