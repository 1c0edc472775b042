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
    #[arg(long, value_name = "TEXT", value_parser = line)]
    pub reason: String,
    /// The last day on which it holds, in UTC, such as 2026-12-31; renews a waiver that is there
    #[arg(long, value_name = "DATE", value_parser = parse_date)]
    pub until: Option<Date>,
    /// Who decided so
    #[arg(long, value_name = "NAME", value_parser = line)]
    pub owner: Option<String>,
    /// Only in this cluster
    #[arg(long, value_name = "NAME", value_parser = words::cluster)]
    pub cluster: Option<String>,
    /// Add it to this file [default: karpenter-preflight.toml here or in a folder above]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// In characters; an ARN has up to 2048.
const LONGEST: usize = 2048;

fn subject(text: &str) -> Result<String, String> {
    pattern(&line(text)?).map(|_| text.to_owned())
}

/// A text that a report shows in one piece.
fn line(text: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        return Err("it is empty".to_owned());
    }
    if text.chars().any(char::is_control) {
        return Err("write one line, without control characters".to_owned());
    }
    match text.chars().count() {
        count if count > LONGEST => Err(format!("it has {count} characters, more than {LONGEST}")),
        _ => Ok(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        for text in ["*", "it's \"fine\" \\ [so] far", "déjà vu", &"x".repeat(LONGEST)] {
            assert_eq!(line(text).as_deref(), Ok(text));
            assert_eq!(subject(text).as_deref(), Ok(text));
        }
        for text in ["", " ", "a\nb", "a\u{1b}[31mb", "a\tb", &"x".repeat(LONGEST + 1)] {
            assert!(line(text).is_err(), "{text:?}");
            assert!(subject(text).is_err(), "{text:?}");
        }
    }
}
