//! What is to be explained: words of the command line, a file, or standard input.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Cursor, IsTerminal},
    path::PathBuf,
};

use clap::CommandFactory;

use crate::{
    cli::{Cli, ExplainArgs},
    commands::Failure,
};

/// Where the text comes from.
pub enum Input {
    Text(String),
    File(PathBuf),
    Stdin,
}

/// What the arguments ask for. Without any, standard input is read, unless a person sits there.
pub fn of(args: &ExplainArgs) -> Result<Input, Failure> {
    let input = match (&args.file, args.text.as_slice()) {
        (Some(path), _) => Input::File(path.clone()),
        (None, [only]) if only == "-" => Input::Stdin,
        (None, []) => {
            if io::stdin().is_terminal() {
                return Err(Failure::Usage(format!("nothing to explain\n\n{}", help())));
            }
            Input::Stdin
        }
        (None, words) => Input::Text(words.join(" ")),
    };
    match &input {
        Input::Text(text) if text.trim().is_empty() => Err(nothing()),
        _ => Ok(input),
    }
}

fn help() -> String {
    let mut command = Cli::command();
    command.build();
    let explain = command.find_subcommand_mut("explain");
    explain.map(|explain| explain.render_help().to_string()).unwrap_or_default()
}

fn nothing() -> Failure {
    Failure::Usage("nothing to explain: the text is empty".to_owned())
}

impl Input {
    /// The text, if it is a single word of the command line.
    pub fn word(&self) -> Option<&str> {
        match self {
            Self::Text(text) => {
                let word = text.trim();
                (!word.contains(char::is_whitespace)).then_some(word)
            }
            Self::File(_) | Self::Stdin => None,
        }
    }

    /// The text as a stream; there must be some.
    pub fn reader(self) -> Result<Box<dyn BufRead>, Failure> {
        let mut reader: Box<dyn BufRead> = match self {
            Self::Text(text) => Box::new(Cursor::new(text)),
            Self::Stdin => Box::new(io::stdin().lock()),
            Self::File(path) => {
                let file = File::open(&path).map_err(|error| {
                    Failure::Usage(format!("cannot read {}: {error}", path.display()))
                })?;
                Box::new(BufReader::new(file))
            }
        };
        match reader.fill_buf() {
            Ok([]) => Err(nothing()),
            Ok(_) => Ok(reader),
            Err(error) => Err(unreadable(error)),
        }
    }
}

/// The text cannot be read to its end, for example because it is a folder.
pub fn unreadable(error: io::Error) -> Failure {
    Failure::Usage(format!("cannot read the text: {error}"))
}
