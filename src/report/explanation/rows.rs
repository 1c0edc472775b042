//! Labels with text beside them.

use std::io::{self, Write};

use crate::{
    errors::Seen,
    report::{
        style::{Ink, Style},
        text::{beside, clean, hang, inked, prose},
    },
};

/// A column of labels and a column of text.
#[derive(Clone, Copy)]
pub(super) struct Rows {
    pub style: Style,
    /// Of the labels, in columns.
    pub indent: usize,
    /// Of the label column without its indent, in columns.
    pub labels: usize,
}

impl Rows {
    pub fn columns(self) -> usize {
        self.style.columns().saturating_sub(self.indent + self.labels).max(20)
    }

    pub fn row(self, label: &str, text: &str, out: &mut dyn Write) -> io::Result<()> {
        hang(out, &self.head(label), &prose(text, self.columns(), self.style))
    }

    /// A text as it is printed elsewhere.
    pub fn quote(self, label: &str, text: &str, out: &mut dyn Write) -> io::Result<()> {
        // A JSON log line has no blanks to break it at.
        let text = format!("“{}”", text.trim()).replace("\",\"", "\", \"");
        hang(out, &self.head(label), &inked(&text, self.columns(), Ink::Quote, self.style))
    }

    /// One line each, never broken.
    pub fn lines<'a>(
        self,
        label: &str,
        lines: impl IntoIterator<Item = &'a str>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let lines: Vec<_> = lines.into_iter().map(clean).collect();
        hang(out, &self.head(label), &lines)
    }

    fn head(self, label: &str) -> String {
        let padding = " ".repeat(self.labels.saturating_sub(label.chars().count()));
        format!("{}{}{padding}", " ".repeat(self.indent), self.style.paint(Ink::Label, label))
    }
}

/// `Denied call: ec2:RunInstances  (twice, first in line 3)`.
pub(super) fn heading(
    what: &str,
    name: &str,
    seen: &Seen,
    out: &mut dyn Write,
    style: Style,
) -> io::Result<()> {
    let name = vec![style.paint(Ink::Code, &clean(name))];
    let mut lines = name;
    let remark = format!("({}, {})", times(seen.count), line(seen));
    beside(&mut lines, &remark, style.columns() - 2 - what.len() - 2, style);
    hang(out, &format!("  {}: ", style.paint(Ink::Label, what)), &lines)
}

/// `in line 3`, `first in line 3`.
pub(super) fn line(seen: &Seen) -> String {
    let first = if seen.count == 1 { "" } else { "first " };
    format!("{first}in line {}", grouped(seen.line))
}

/// `once`, `twice`, `3 times`.
pub(super) fn times(count: u64) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        _ => format!("{} times", grouped(count)),
    }
}

/// `1,234,567`.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (12_345_678, "12,345,678")]
        {
            assert_eq!(grouped(number), text);
        }
        assert_eq!((times(1), times(1200)), ("once".to_owned(), "1,200 times".to_owned()));
    }
}
