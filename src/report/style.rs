//! How a report for people looks: the width, and ink where colour is wanted.

use anstyle::{AnsiColor, Style as Escapes};

use crate::outcome::Status;

/// Text narrower than this is not worth wrapping, in columns.
const NARROWEST: usize = 48;
/// Longer lines are hard to read, in columns.
const WIDEST: usize = 100;

/// What the terminal can show; the command decides (TTY, `NO_COLOR`, `CLICOLOR_FORCE`,
/// `COLUMNS`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Whether to write ANSI escapes.
    pub color: bool,
    /// Of the terminal, in columns. Prose is wrapped at 48 to 100 of them.
    pub width: usize,
}

impl Style {
    /// Where prose is wrapped, in columns.
    pub(super) fn columns(self) -> usize {
        self.width.clamp(NARROWEST, WIDEST)
    }

    pub(super) fn paint(self, ink: Ink, text: &str) -> String {
        if self.color && !text.is_empty() {
            let escapes = ink.escapes();
            format!("{escapes}{text}{escapes:#}")
        } else {
            text.to_owned()
        }
    }
}

/// What a piece of text is, for its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ink {
    Heading,
    Label,
    /// Of lesser interest.
    Dim,
    /// A name or a command.
    Code,
    /// An error as it is printed elsewhere.
    Quote,
    Status(Status),
}

impl Ink {
    fn escapes(self) -> Escapes {
        let color = |color: AnsiColor| color.on_default();
        match self {
            Self::Heading => Escapes::new().bold(),
            Self::Label | Self::Dim => Escapes::new().dimmed(),
            Self::Code => color(AnsiColor::Cyan),
            Self::Quote => color(AnsiColor::Yellow),
            Self::Status(Status::Pass) => color(AnsiColor::Green),
            Self::Status(Status::Warn) => color(AnsiColor::Yellow).bold(),
            Self::Status(Status::Fail) => color(AnsiColor::Red).bold(),
            Self::Status(Status::Unknown) => color(AnsiColor::Magenta).bold(),
            Self::Status(Status::Waived) => color(AnsiColor::Blue),
            Self::Status(Status::Skipped) => Escapes::new().dimmed(),
        }
    }
}

/// The sign of a status, one column wide. The word always stands beside it.
pub(super) fn mark(status: Status) -> char {
    match status {
        Status::Pass => '✓',
        Status::Warn => '!',
        Status::Fail => '✗',
        Status::Unknown => '?',
        Status::Waived => '~',
        Status::Skipped => '-',
    }
}

/// `✓ pass   `: mark and word, as wide for every status.
pub(super) fn badge(status: Status, style: Style) -> String {
    let padding = " ".repeat(BADGE - 2 - status.as_str().len());
    let badge = format!("{} {}", mark(status), status.as_str());
    style.paint(Ink::Status(status), &badge) + &padding
}

/// The width of a badge, in columns: mark, space, the longest word.
pub(super) const BADGE: usize = 9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn badges_line_up() {
        for color in [false, true] {
            for status in Status::ALL {
                let badge = badge(status, Style { color, width: 80 });
                assert_eq!(textwrap::core::display_width(&badge), BADGE, "{badge:?}");
            }
        }
    }

    #[test]
    fn without_colour_there_is_no_escape() {
        let plain = Style { color: false, width: 80 };
        assert_eq!(plain.paint(Ink::Status(Status::Fail), "fail"), "fail");
        let colored = Style { color: true, width: 80 };
        assert_eq!(colored.paint(Ink::Code, "aws"), "\u{1b}[36maws\u{1b}[0m");
    }
}
