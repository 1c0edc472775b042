//! Text from the account in Markdown: shown as it is, and never read as markup.

use crate::report::text::{clean, clean_block};

/// Prose, of which `code spans` stay code.
pub(super) fn prose(text: &str) -> String {
    let text = clean(text);
    if text.matches('`').count() % 2 == 1 {
        return plain(&text);
    }
    let mut shown = String::new();
    for (i, piece) in text.split('`').enumerate() {
        shown += &if i % 2 == 1 { code(piece) } else { plain(piece) };
    }
    shown
}

/// A code span, whatever the text holds. A bar would end a cell of a table.
pub(super) fn code(text: &str) -> String {
    let text = clean(text).replace('|', "\\|");
    if text.is_empty() {
        return String::new();
    }
    let fence = "`".repeat(longest_run(&text) + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// A fenced block.
pub(super) fn block(language: &str, text: &str) -> String {
    let text = clean_block(text).join("\n");
    let fence = "`".repeat(longest_run(&text).max(2) + 1);
    format!("{fence}{language}\n{text}\n{fence}\n")
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or_default()
}

/// Words, with everything escaped that would be markup, HTML or the mention of a person.
fn plain(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut before = ' ';
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let within_word =
            before.is_alphanumeric() && rest.peek().is_some_and(|next| next.is_alphanumeric());
        match c {
            '\\' | '`' | '*' | '[' | ']' | '<' | '|' | '~' => shown.extend(['\\', c]),
            '_' if !within_word => shown += "\\_",
            '&' => shown += "&amp;",
            // GitHub tells whoever is named after it.
            '@' if !before.is_alphanumeric() => shown += "@<!-- -->",
            _ => shown.push(c),
        }
        before = c;
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_markup() {
        for (text, shown) in [
            ("lets only `eks.amazonaws.com` in", "lets only `eks.amazonaws.com` in"),
            ("a lone ` stays", "a lone \\` stays"),
            ("<img src=x> [a](b) *c* | d", "\\<img src=x> \\[a\\](b) \\*c\\* \\| d"),
            ("snake_case and _this_", "snake_case and \\_this\\_"),
            ("ask @octocat or me@example.com", "ask @<!-- -->octocat or me@example.com"),
            ("two\nlines", "two lines"),
        ] {
            assert_eq!(prose(text), shown);
        }
        for (text, shown) in
            [("a", "`a`"), ("a`b", "``a`b``"), ("`", "`` ` ``"), ("a|b", "`a\\|b`"), ("", "")]
        {
            assert_eq!(code(text), shown);
        }
        assert_eq!(block("sh", "echo '```'"), "````sh\necho '```'\n````\n");
    }
}
