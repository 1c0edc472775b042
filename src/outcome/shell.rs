//! Shell commands that a person copies from a remedy.

/// Quotes a word for a POSIX shell where that is needed.
pub fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_only_where_needed() {
        for (word, quoted) in [
            ("my-cluster", "my-cluster"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
            ("", "''"),
            ("{\"a\":1}", "'{\"a\":1}'"),
        ] {
            assert_eq!(quote(word), quoted);
        }
    }
}
