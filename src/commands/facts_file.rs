//! Loads and saves facts files.

use std::{fs, path::Path};

use super::{Failure, console, read};
use crate::{cli::ScopeArgs, target::saved::Saved};

/// Loads a facts file; what the flags say overrides what was asked then.
pub fn load(path: &Path, flags: &ScopeArgs) -> Result<Saved, Failure> {
    let text = fs::read_to_string(path)
        .map_err(|error| Failure::Usage(format!("cannot read {}: {error}", path.display())))?;
    let mut saved = Saved::load(&text)
        .map_err(|error| Failure::Usage(format!("cannot use {}: {error}", path.display())))?;
    match &flags.cluster {
        Some(cluster) if *cluster != saved.scope.cluster => {
            return Err(Failure::Usage(format!(
                "{} holds facts of cluster `{}`, not of `{cluster}`: leave --cluster out",
                path.display(),
                saved.scope.cluster
            )));
        }
        _ => {}
    }
    read::apply(flags, &mut saved.scope);
    Ok(saved)
}

/// Saves a facts file, or prints it where the path is `-`.
pub fn save(saved: &Saved, path: &Path) -> Result<(), Failure> {
    let text = saved
        .to_text()
        .map_err(|error| Failure::Usage(format!("the facts cannot be written: {error}")))?;
    if path == Path::new("-") {
        return console::print(|out| out.write_all(text.as_bytes()));
    }
    fs::write(path, text)
        .map_err(|error| Failure::Io { what: format!("could not write {}", path.display()), error })
}
