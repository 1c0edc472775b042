//! Writes files whole or not at all.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use super::Failure;

/// Who may read a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readers {
    /// Only the user.
    User,
    /// Whoever the umask lets.
    Others,
}

/// Finds out before any call is made whether a file can be written there.
pub fn check_place(flag: &str, path: &Path) -> Result<(), Failure> {
    if path.is_dir() {
        return Err(Failure::Usage(format!("{flag} {} is a directory", path.display())));
    }
    match folder(path) {
        Some(folder) if !folder.is_dir() => {
            Err(Failure::Usage(format!("{flag}: there is no directory {}", folder.display())))
        }
        _ => Ok(()),
    }
}

/// Writes a file. One that is there already is replaced whole or not at all; what is no file,
/// such as a device, is written to.
pub fn write(path: &Path, bytes: &[u8], readers: Readers) -> Result<(), Failure> {
    let written = match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() => {
            fs::OpenOptions::new().write(true).open(path).and_then(|mut file| file.write_all(bytes))
        }
        // Through a link, so that the link stays.
        Ok(_) => fs::canonicalize(path).and_then(|path| replace(&path, bytes, readers)),
        Err(_) => replace(path, bytes, readers),
    };
    written
        .map_err(|error| Failure::Io { what: format!("could not write {}", path.display()), error })
}

fn replace(path: &Path, bytes: &[u8], readers: Readers) -> io::Result<()> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".karpenter-preflight-");
    let permissions = permissions(readers);
    if let Some(permissions) = permissions {
        builder.permissions(permissions);
    }
    let mut file = builder.tempfile_in(folder(path).unwrap_or(PathBuf::from(".")))?;
    file.write_all(bytes)?;
    file.persist(path).map(|_| ()).map_err(|error| error.error)
}

/// Before the umask; a temporary file is the user's own otherwise.
#[cfg(unix)]
fn permissions(readers: Readers) -> Option<fs::Permissions> {
    use std::os::unix::fs::PermissionsExt;
    (readers == Readers::Others).then(|| fs::Permissions::from_mode(0o666))
}

#[cfg(not(unix))]
fn permissions(_: Readers) -> Option<fs::Permissions> {
    None
}

fn folder(path: &Path) -> Option<PathBuf> {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).map(Path::to_path_buf)
}
