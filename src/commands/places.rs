//! What a command reads and writes, by the flags that say so: no two may be the same place.

use std::path::{Path, PathBuf};

use super::{Failure, files};
use crate::cli::is_standard;

/// A place, and the flag that names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    flag: String,
    /// Standard input or output where there is none.
    path: Option<PathBuf>,
}

impl Place {
    /// A file, or `-` for standard input or output.
    pub fn new(flag: impl Into<String>, path: &Path) -> Self {
        Self { flag: flag.into(), path: (!is_standard(path)).then(|| path.to_path_buf()) }
    }

    pub fn standard(flag: impl Into<String>) -> Self {
        Self { flag: flag.into(), path: None }
    }
}

/// Finds out before any call is made whether everything can be written, and overwrites nothing
/// that is read or written beside it.
pub fn check(written: &[Place], read: &[Place]) -> Result<(), Failure> {
    for place in written {
        if let Some(path) = &place.path {
            files::check_place(&place.flag, path)?;
        }
    }
    let resolved = |place: &Place| place.path.as_deref().map(files::resolved);
    // What goes into a device or a pipe replaces nothing.
    let is_kept = |place: &&Place| place.path.as_deref().is_none_or(files::is_replaced);
    for (i, place) in written.iter().enumerate().filter(|(_, place)| is_kept(place)) {
        let here = resolved(place);
        if let Some(other) = written[..i].iter().find(|other| resolved(other) == here) {
            return Err(together(other, place));
        }
        let same = |other: &&Place| here.is_some() && resolved(other) == here;
        if let (Some(other), Some(path)) = (read.iter().find(same), &place.path) {
            return Err(Failure::Usage(format!(
                "{} would overwrite {}, which {} reads: name another file",
                place.flag,
                path.display(),
                other.flag
            )));
        }
    }
    Ok(())
}

fn together(one: &Place, other: &Place) -> Failure {
    let name = other
        .path
        .as_ref()
        .map_or_else(|| "standard output".to_owned(), |path| path.display().to_string());
    // The report is what mostly goes to standard output, and may go elsewhere.
    let mover = if one.flag.starts_with("--output") { one } else { other };
    let such = match mover.flag.split_once(' ') {
        Some((flag, format @ ("human" | "short" | "github"))) => {
            format!("{flag} {format}=report.txt")
        }
        Some((flag, format)) => format!("{flag} {format}=report.{format}"),
        None => format!("{} FILE", mover.flag),
    };
    Failure::Usage(format!(
        "{} and {} both go to {name}: give one of them a file of its own, such as {such}",
        one.flag, other.flag
    ))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn one_place_is_for_one_thing() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("sub")).unwrap();
        fs::write(at("facts.json"), "{}").unwrap();
        let json = |name: &str| Place::new("--output json", &at(name));
        let fix = |name: &str| Place::new("--fix-script", &at(name));
        let facts = |name: &str| Place::new("--facts", &at(name));
        let dash = |flag: &str| Place::new(flag, Path::new("-"));
        let mut rows = vec![
            (vec![json("a"), fix("b")], vec![facts("facts.json")], None),
            (vec![json("a"), fix("sub/../a")], vec![], Some("--output json and --fix-script both")),
            (
                vec![fix("sub/../facts.json")],
                vec![facts("facts.json")],
                Some("--fix-script would overwrite"),
            ),
            // What is read need not be there.
            (vec![fix("none")], vec![facts("none")], Some("which --facts reads")),
            (vec![dash("--output human"), fix("b")], vec![dash("--facts")], None),
            (
                vec![
                    Place::new("--output json", Path::new("/dev/null")),
                    Place::new("--fix-script", Path::new("/dev/null")),
                ],
                vec![Place::new("--config", Path::new("/dev/null"))],
                None,
            ),
            (
                vec![dash("--output human"), dash("--fix-script")],
                vec![],
                Some(
                    "both go to standard output: give one of them a file of its own, such as \
                      --output human=report.txt",
                ),
            ),
            (
                vec![dash("--fix-script"), dash("--fix-terraform")],
                vec![],
                Some("--fix-terraform FILE"),
            ),
        ];
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(at("facts.json"), at("link")).unwrap();
            std::os::unix::fs::symlink("later", at("dangling")).unwrap();
            rows.push((vec![fix("link")], vec![facts("facts.json")], Some("would overwrite")));
            rows.push((vec![json("later"), fix("dangling")], vec![], Some("both go to")));
        }
        for (written, read, says) in rows {
            match (check(&written, &read), says) {
                (Ok(()), None) => {}
                (Err(Failure::Usage(error)), Some(says)) => {
                    assert!(error.contains(says), "{says}: {error}");
                }
                (result, says) => panic!("{written:?} {read:?} {says:?}: {result:?}"),
            }
        }
    }
}
