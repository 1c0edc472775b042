//! What only a person can fill in: `FILL_IN_<WHAT>` or `<what>` in a command.

use std::collections::BTreeSet;

/// The start of a blank's name, in commands and as a variable of the script.
const PREFIX: &str = "FILL_IN_";

/// The command with each blank as a variable that the shell fills in, whatever quotes it is in.
pub(super) fn filled(command: &str, blanks: &mut BTreeSet<String>) -> String {
    let mut out = String::with_capacity(command.len());
    let mut quote = None;
    let mut rest = command;
    while let Some(c) = rest.chars().next() {
        if let Some((name, length)) = blank(rest) {
            out += &match quote {
                None => format!("\"${name}\""),
                Some('"') => format!("${{{name}}}"),
                Some(_) => format!("'\"${name}\"'"),
            };
            blanks.insert(name);
            rest = &rest[length..];
            continue;
        }
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            _ => {}
        }
        out.push(c);
        rest = &rest[c.len_utf8()..];
    }
    out
}

/// Whether there is a blank in a text.
pub(super) fn any_in(text: &str) -> bool {
    text.char_indices().any(|(at, _)| blank(&text[at..]).is_some())
}

/// The blank that a text begins with, and how long it is there.
fn blank(text: &str) -> Option<(String, usize)> {
    if text.starts_with(PREFIX) {
        let part = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        let length = text.find(|c: char| !part(c)).unwrap_or(text.len());
        return Some((text[..length].to_owned(), length));
    }
    let inner = text.strip_prefix('<')?;
    let end = inner.find('>')?;
    let word = &inner[..end];
    let plain = |c: char| c.is_ascii_alphanumeric() || " -_".contains(c);
    if !word.starts_with(|c: char| c.is_ascii_alphabetic()) || !word.chars().all(plain) {
        return None;
    }
    let name = word.to_ascii_uppercase().replace([' ', '-'], "_");
    Some((format!("{PREFIX}{name}"), end + 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_become_variables() {
        for (command, expected) in [
            ("a --b c", "a --b c"),
            ("a --ids FILL_IN_SUBNET_IDS", "a --ids \"$FILL_IN_SUBNET_IDS\""),
            ("a ids=FILL_IN_IDS,x", "a ids=\"$FILL_IN_IDS\",x"),
            ("a '{\"b\":\"<ami id>\"}'", "a '{\"b\":\"'\"$FILL_IN_AMI_ID\"'\"}'"),
            ("a \"x <ami> y\"", "a \"x ${FILL_IN_AMI} y\""),
            ("a <(b) >c", "a <(b) >c"),
        ] {
            let mut blanks = BTreeSet::new();
            assert_eq!(filled(command, &mut blanks), expected);
            assert_eq!(blanks.len(), usize::from(command != expected), "{blanks:?}");
            assert_eq!(any_in(command), command != expected);
        }
    }
}
