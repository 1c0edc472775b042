//! Text that came from elsewhere, made safe to print, and laid out in lines.
//!
//! Names, tags and messages come from the account, and anyone who may write a tag there may
//! put terminal escapes in it. Everything that a report prints goes through [`clean`] or
//! [`clean_block`].

use std::{
    borrow::Cow,
    io::{self, Write},
};

use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm, core::display_width};

use super::style::{Ink, Style};

/// Whether a terminal acts on this character, or a reader is misled by it: control
/// characters, line separators, and what turns the direction of text or has no width.
pub(super) fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}')
        || matches!(
            c,
            '\u{fffe}' | '\u{ffff}' | '\u{61c}' | '\u{ad}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}'
        )
}

/// One line of safe text: runs of blanks become one space, and an unsafe character is shown
/// as its escape (`\u{1b}`), so that the reader sees that something is there.
pub(super) fn clean(text: &str) -> String {
    let words: Vec<_> =
        text.split([' ', '\t', '\n', '\r']).filter(|word| !word.is_empty()).collect();
    show_unsafe(&words.join(" "))
}

/// Lines of safe text, their blanks kept: for commands and documents.
pub(super) fn clean_block(text: &str) -> Vec<String> {
    let text = text.replace("\r\n", "\n").replace('\t', "    ");
    text.trim_end_matches('\n').split('\n').map(show_unsafe).collect()
}

fn show_unsafe(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unsafe(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// The first sentence: up to a full stop that a blank and a capital letter follow.
pub(super) fn first_sentence(text: &str) -> &str {
    text.match_indices(". ")
        .find(|(at, _)| text[at + 2..].chars().next().is_some_and(char::is_uppercase))
        .map_or(text, |(at, _)| &text[..=at])
}

/// Lines of at most `columns`, broken at spaces only: an ARN or a URL stays whole even where
/// it is longer, so that it can be copied.
pub(super) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let options = Options::new(columns)
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    textwrap::wrap(text, options).into_iter().map(Cow::into_owned).collect()
}

/// Wrapped lines, all in one ink.
pub(super) fn inked(text: &str, columns: usize, ink: Ink, style: Style) -> Vec<String> {
    wrap(&clean(text), columns).iter().map(|line| style.paint(ink, line)).collect()
}

/// Wrapped prose. In colour, a `code span` loses its backticks and takes the ink of code.
pub(super) fn prose(text: &str, columns: usize, style: Style) -> Vec<String> {
    /// Has no width, and cannot be in clean text.
    const TICK: char = '\u{1}';
    let text = clean(text);
    if !style.color || text.matches('`').count() % 2 == 1 {
        return wrap(&text, columns);
    }
    let mut in_code = false;
    let mut lines = Vec::new();
    for line in wrap(&text.replace('`', "\u{1}"), columns) {
        let mut painted = String::new();
        for (i, piece) in line.split(TICK).enumerate() {
            in_code ^= i > 0;
            painted += &if in_code { style.paint(Ink::Code, piece) } else { piece.to_owned() };
        }
        lines.push(painted);
    }
    lines
}

/// Sets a dim remark behind the last line, or under it where it does not fit.
pub(super) fn beside(lines: &mut Vec<String>, remark: &str, columns: usize, style: Style) {
    let width = display_width(remark) + 2;
    let remark = style.paint(Ink::Dim, remark);
    match lines.last_mut() {
        Some(last) if display_width(last) + width <= columns => *last += &format!("  {remark}"),
        _ => lines.push(remark),
    }
}

/// The text with a capital at its start, unless that is a name such as `iam:GetRole`.
pub(super) fn sentence(text: &str) -> String {
    let first = text.split(' ').next().unwrap_or_default();
    let is_word = !first.is_empty() && first.bytes().all(|byte| byte.is_ascii_lowercase());
    match text.get(..1) {
        Some(initial) if is_word => initial.to_ascii_uppercase() + &text[1..],
        _ => text.to_owned(),
    }
}

/// Writes lines beside a head; those after the first stand under the first.
pub(super) fn hang(out: &mut dyn Write, head: &str, lines: &[String]) -> io::Result<()> {
    let indent = " ".repeat(display_width(head));
    if lines.is_empty() {
        writeln!(out, "{}", head.trim_end())?;
    }
    for (i, line) in lines.iter().enumerate() {
        let head = if i == 0 { head } else { &indent };
        writeln!(out, "{}", format!("{head}{line}").trim_end())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsafe_characters_are_shown_and_not_acted_on() {
        for (text, shown) in [
            ("plain, ünïcode ✓", "plain, ünïcode ✓"),
            ("a\u{1b}[31mred\u{1b}[0m", "a\\u{1b}[31mred\\u{1b}[0m"),
            ("title\u{1b}]0;owned\u{7}", "title\\u{1b}]0;owned\\u{7}"),
            ("c1 \u{9b}2J", "c1 \\u{9b}2J"),
            ("over\u{8}\u{7f}write", "over\\u{8}\\u{7f}write"),
            ("bidi \u{202e}txt", "bidi \\u{202e}txt"),
            ("zero\u{200b}width", "zero\\u{200b}width"),
            ("two\r\nlines\tand a tab", "two lines and a tab"),
            ("  many   blanks ", "many blanks"),
        ] {
            assert_eq!(clean(text), shown);
        }
        assert_eq!(clean_block("{\n\t\"a\": 1\r\n}\n"), ["{", "    \"a\": 1", "}"]);
        assert_eq!(clean_block("a\rb\u{1b}c"), ["a\\u{d}b\\u{1b}c"]);
    }

    #[test]
    fn first_sentences() {
        for (text, first) in [
            ("One. Two.", "One."),
            ("One", "One"),
            ("Asked eks.amazonaws.com. It said no.", "Asked eks.amazonaws.com."),
            ("Version 1.4.0 is old, e.g. here. So", "Version 1.4.0 is old, e.g. here."),
            ("", ""),
        ] {
            assert_eq!(first_sentence(text), first);
        }
    }

    #[test]
    fn sentences_start_with_a_capital_and_names_stay() {
        for (text, shown) in [
            ("not allowed", "Not allowed"),
            ("eks:ListNodegroups failed", "eks:ListNodegroups failed"),
            ("ünï", "ünï"),
            ("", ""),
        ] {
            assert_eq!(sentence(text), shown);
        }
    }

    #[test]
    fn long_names_stay_whole() {
        let arn = format!("arn:aws:iam::111122223333:role/{}", "a-b/".repeat(20));
        let text = format!("The role {arn} is not there");
        assert_eq!(wrap(&text, 40), ["The role", &arn, "is not there"]);
    }

    #[test]
    fn code_spans_over_a_line_break() {
        let colored = Style { color: true, width: 80 };
        assert_eq!(
            prose("run `aws ec2 x` now", 10, colored),
            ["run \u{1b}[36maws\u{1b}[0m", "\u{1b}[36mec2 x\u{1b}[0m now"]
        );
        assert_eq!(prose("a lone ` stays", 40, colored), ["a lone ` stays"]);
        assert_eq!(prose("`a` b", 40, Style { color: false, width: 80 }), ["`a` b"]);
    }
}
