//! The terminal: where output goes and in which style. The only room that prints.

use std::{
    env,
    fmt::Display,
    io::{self, IsTerminal, Write},
};

use anstream::{AutoStream, ColorChoice};

use super::Failure;
use crate::report::{Style, printable};

/// Columns where nothing says how wide the output is.
const WIDTH: usize = 80;

/// The style of a file.
pub const PLAIN: Style = Style { color: false, width: 100 };

/// The style of standard output: colour on a terminal, or as `NO_COLOR`, `CLICOLOR` and
/// `CLICOLOR_FORCE` say.
pub fn style() -> Style {
    Style { color: AutoStream::choice(&io::stdout()) != ColorChoice::Never, width: width() }
}

fn width() -> usize {
    let from_environment = || env::var("COLUMNS").ok()?.parse().ok();
    let from_terminal = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let terminal = io::stdout().is_terminal().then(from_terminal).flatten();
    terminal.or_else(from_environment).filter(|columns| *columns > 0).unwrap_or(WIDTH)
}

/// Writes to standard output. A reader that has gone away, as `head` does, is no error.
pub fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::Io { what: "could not write to standard output".to_owned(), error })
        }
        _ => Ok(()),
    }
}

/// Says on standard error why a command failed. The text may quote what came from elsewhere.
pub fn error(failure: &Failure) {
    note(format_args!("error: {}", printable(&failure.to_string())));
}

/// One line on standard error; nothing can be done if even that fails.
pub fn note(line: impl Display) {
    let _ = writeln!(io::stderr(), "{line}");
}
