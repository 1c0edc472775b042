//! Writes files whole or not at all.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use super::Failure;

/// As many links as Linux follows.
const LINKS: usize = 40;

/// Who may read a file that is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readers {
    /// Only the user, also where the file was there already.
    User,
    /// Whoever the umask lets. One that is there already keeps its mode.
    Others,
}

/// Finds out before any call is made whether a file can be written there.
pub fn check_place(flag: &str, path: &Path) -> Result<(), Failure> {
    let is_named_as_folder = path.to_string_lossy().ends_with(std::path::is_separator);
    if path.is_dir() || is_named_as_folder {
        return Err(Failure::Usage(format!("{flag} {} is a directory", path.display())));
    }
    if !is_replaced(path) {
        return Ok(());
    }
    let resolved = resolved(path);
    let folder = folder(&resolved);
    if !folder.is_dir() {
        return Err(Failure::Usage(format!(
            "{flag}: there is no directory {}",
            self::folder(path).display()
        )));
    }
    let cannot = |why: &dyn std::fmt::Display| {
        Failure::Usage(format!("{flag} {} cannot be written: {why}", path.display()))
    };
    match fs::metadata(&resolved) {
        Ok(metadata) if metadata.permissions().readonly() => {
            return Err(cannot(&"it is read-only"));
        }
        Ok(_) => drop(fs::OpenOptions::new().append(true).open(&resolved).map_err(|e| cannot(&e))?),
        Err(_) => {}
    }
    tempfile::tempfile_in(&folder)
        .map(drop)
        .map_err(|error| cannot(&format!("no file can be made in {}: {error}", folder.display())))
}

/// Writes a file. One that is there already is replaced whole or not at all; what is no file,
/// such as a device, is written to.
pub fn write(path: &Path, bytes: &[u8], readers: Readers) -> Result<(), Failure> {
    let written = if is_replaced(path) {
        replace(&resolved(path), fs::metadata(path).ok(), bytes, readers)
    } else {
        fs::OpenOptions::new().write(true).open(path).and_then(|mut file| file.write_all(bytes))
    };
    written
        .map_err(|error| Failure::Io { what: format!("could not write {}", path.display()), error })
}

/// Whether what is written there is a file of its own, and no device and no pipe. To open a pipe
/// would wait for who reads it.
pub fn is_replaced(path: &Path) -> bool {
    fs::metadata(path).map_or(true, |metadata| metadata.is_file())
}

/// Keeps others who wait for it from changing files beside this one, until it is dropped. Where a
/// folder cannot be locked, nobody waits.
pub fn lock(path: &Path) -> Option<fs::File> {
    let folder = fs::File::open(folder(&resolved(path))).ok()?;
    folder.lock().ok().map(|()| folder)
}

/// Where the bytes go that are written to a path: through links, so that the links stay. What is
/// not there yet resolves too.
pub fn resolved(path: &Path) -> PathBuf {
    let mut path = path.to_path_buf();
    for _ in 0..LINKS {
        if let Ok(path) = fs::canonicalize(&path) {
            return path;
        }
        let folder = folder(&path);
        match fs::read_link(&path) {
            Ok(to) => path = folder.join(to),
            Err(_) => break,
        }
    }
    let folder = folder(&path);
    let folder = fs::canonicalize(&folder).unwrap_or(folder);
    path.file_name().map_or_else(|| path.clone(), |name| folder.join(name))
}

fn replace(
    path: &Path,
    old: Option<fs::Metadata>,
    bytes: &[u8],
    readers: Readers,
) -> io::Result<()> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".karpenter-preflight-");
    let old = old.filter(|_| readers == Readers::Others).map(|old| old.permissions());
    if let Some(permissions) = permissions(readers) {
        builder.permissions(permissions);
    }
    let mut file = builder.tempfile_in(folder(path))?;
    file.write_all(bytes)?;
    if let Some(old) = old {
        file.as_file().set_permissions(old)?;
    }
    // A name must not come to stand for bytes that are not on the disk yet.
    file.as_file().sync_all()?;
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

fn folder(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new(".")).to_path_buf()
}
