//! Finds the file and reads it, with the line of whatever is wrong in it.

use std::{
    fs,
    ops::Range,
    path::{Path, PathBuf},
};

use super::{Config, FILE_NAME};
use crate::{checks, cli::suggest::unknown_of};

/// Why a file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("cannot read {}: {error}", path.display())]
    Unreadable { path: PathBuf, error: std::io::Error },
    #[error("{}{}: {message}", path.display(), line.map(|line| format!(":{line}")).unwrap_or_default())]
    Wrong { path: PathBuf, line: Option<usize>, message: String },
}

/// The file in this folder or the nearest one above it.
pub fn find(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().map(|folder| folder.join(FILE_NAME)).find(|path| path.is_file())
}

/// Reads a file.
///
/// # Errors
/// Where it cannot be read, is no TOML, or says what is not known.
pub fn read(path: &Path) -> Result<Config, ConfigError> {
    let text = fs::read_to_string(path)
        .map_err(|error| ConfigError::Unreadable { path: path.to_path_buf(), error })?;
    parse(&text, path)
}

/// Reads the text of a file.
///
/// # Errors
/// Where it is no TOML, or says what is not known.
pub fn parse(text: &str, path: &Path) -> Result<Config, ConfigError> {
    // A mark that some editors put before a text counts for no place in it.
    let text = text.trim_start_matches('\u{feff}');
    let wrong = |span: Option<Range<usize>>, message: String| ConfigError::Wrong {
        path: path.to_path_buf(),
        line: span.map(|span| line(text, span.start)),
        message,
    };
    let config: Config =
        toml::from_str(text).map_err(|error| wrong(error.span(), in_words(error.message())))?;
    for id in config.select.iter().chain(&config.exclude) {
        known(id.as_ref(), "check or area", &checks::ids_and_areas())
            .map_err(|message| wrong(Some(id.span()), message))?;
    }
    let waived = config.waiver.iter().map(|waiver| &waiver.check);
    for id in config.severity.keys().chain(waived) {
        known(id.as_ref(), "check", &checks::ids())
            .map_err(|message| wrong(Some(id.span()), message))?;
    }
    for waiver in &config.waiver {
        waiver.patterns().map_err(|message| wrong(Some(waiver.check.span()), message))?;
    }
    same_cluster_twice(&config).map_err(|(span, message)| wrong(Some(span), message))?;
    Ok(config)
}

fn known(id: &str, kind: &str, known: &[&str]) -> Result<(), String> {
    if known.contains(&id) {
        return Ok(());
    }
    Err(unknown_of(id, kind, known, "see `karpenter-preflight list checks`"))
}

/// Reports of the same cluster could not be told apart.
fn same_cluster_twice(config: &Config) -> Result<(), (Range<usize>, String)> {
    let mut seen = Vec::new();
    for cluster in &config.cluster {
        let span = cluster.span();
        let cluster = cluster.as_ref().or(&config.target);
        let Some(name) = cluster.name else {
            return Err((span, "a [[cluster]] has no name".to_owned()));
        };
        let key = (name, cluster.region, cluster.profile, cluster.assume_role);
        if seen.contains(&key) {
            return Err((span, format!("the cluster `{}` is there twice", key.0)));
        }
        seen.push(key);
    }
    Ok(())
}

/// The line of a place in the text, from 1.
pub fn line(text: &str, at: usize) -> usize {
    let before = text.trim_start_matches('\u{feff}').as_bytes().iter().take(at);
    before.filter(|byte| **byte == b'\n').count() + 1
}

/// What the parser says, in words of the file: of a key or value that it does not know, with the
/// likeliest one.
fn in_words(message: &str) -> String {
    for (start, kind) in [("unknown field `", "key"), ("unknown variant `", "value")] {
        if message.starts_with(start) {
            // Each name stands between backticks.
            let names: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
            if let [wrong, known @ ..] = names.as_slice() {
                let advice = format!("there are {}", known.join(", "));
                return unknown_of(wrong, kind, known, &advice);
            }
        }
    }
    // The names of number types are no words of the file.
    let mut message = message.trim().replace('\n', ", ").replace("` as i128", "`");
    for number in ["u8", "u32"] {
        message = message.replace(&format!("expected {number}"), "expected a whole number from 0");
    }
    message
}
