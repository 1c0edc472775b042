//! Loads and saves facts files.

use std::{
    fs,
    io::{self, Read},
    path::Path,
};

use super::{
    Failure, console,
    files::{self, Readers},
    read,
};
use crate::{
    cli::{ScopeArgs, is_standard},
    target::saved::Saved,
};

/// Loads a facts file, or standard input where the path is `-`; what the flags say overrides what
/// was asked then.
pub fn load(path: &Path, flags: &ScopeArgs) -> Result<Saved, Failure> {
    let bytes = if is_standard(path) {
        let mut bytes = Vec::new();
        io::stdin().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        fs::read(path)
    };
    let bytes = bytes
        .map_err(|error| Failure::Usage(format!("cannot read {}: {error}", path.display())))?;
    let text = String::from_utf8(bytes).map_err(|_| {
        Failure::Usage(format!(
            "cannot use {}: it is not UTF-8 text, as when a shell redirects into UTF-16; save it \
             with `collect --out` instead",
            path.display()
        ))
    })?;
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

/// Saves a facts file, or prints it where the path is `-`. Facts tell much of an account, so
/// only the user may read the file; one that is there already is replaced whole or not at all.
pub fn save(saved: &Saved, path: &Path) -> Result<(), Failure> {
    let text = saved
        .to_text()
        .map_err(|error| Failure::Usage(format!("the facts cannot be written: {error}")))?;
    if is_standard(path) {
        return console::print(|out| out.write_all(text.as_bytes()));
    }
    files::write(path, text.as_bytes(), Readers::User)
}
