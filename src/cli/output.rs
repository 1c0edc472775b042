//! `--output`: a format, and where to.

use std::path::{Path, PathBuf};

use clap::ValueEnum;

use crate::report::Format;

/// A format and where it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    pub format: Format,
    /// Standard output where there is none.
    pub file: Option<PathBuf>,
}

/// `FORMAT` or `FORMAT=FILE`; a file of `-` is standard output.
pub fn parse(text: &str) -> Result<Output, String> {
    let (name, file) = match text.split_once('=') {
        Some((name, file)) => (name, Some(file)),
        None => (text, None),
    };
    let format = Format::from_str(name, false).map_err(|_| unknown(name))?;
    let file = match file {
        Some("") => return Err(format!("name a file after `{name}=`, or leave the = out")),
        Some(file) if !is_standard(Path::new(file)) => Some(PathBuf::from(file)),
        _ => None,
    };
    Ok(Output { format, file })
}

/// Whether a path stands for standard input or output.
pub fn is_standard(path: &Path) -> bool {
    ["-", "/dev/stdin", "/dev/stdout"].iter().any(|name| path == Path::new(name))
}

fn unknown(name: &str) -> String {
    let names: Vec<_> = Format::all().iter().map(|format| format.name()).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let advice = format!("there are {}", names.join(", "));
    super::suggest::unknown_of(name, "format", &names, &advice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_and_files() {
        let output = |format, file: Option<&str>| Output { format, file: file.map(PathBuf::from) };
        for (text, expected) in [
            ("human", output(Format::Human, None)),
            ("sarif=out.sarif", output(Format::Sarif, Some("out.sarif"))),
            ("json=-", output(Format::Json, None)),
            ("json=/dev/stdout", output(Format::Json, None)),
            ("json=a=b", output(Format::Json, Some("a=b"))),
        ] {
            assert_eq!(parse(text), Ok(expected), "{text}");
        }
        for (text, says) in [
            ("yaml", "there are human, short"),
            ("sarf", "did you mean `sarif`?"),
            ("sarif=", "name a file"),
            ("", "there are human"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
