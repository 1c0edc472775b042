//! Cuts JSON text apart without reading it: which stretches are the documents of a line.

/// The end of the value that begins at `at`, which is no blank. `None` where the text ends
/// first; whether the value is right JSON is for whoever reads it.
fn end_of_value(text: &[u8], at: usize) -> Option<usize> {
    match text.get(at)? {
        b'"' => end_of_string(text, at),
        b'{' | b'[' => end_of_nest(text, at),
        _ => {
            let ends = |byte: &u8| byte.is_ascii_whitespace() || b",]}".contains(byte);
            Some(at + text[at..].iter().position(ends).unwrap_or(text.len() - at))
        }
    }
}

fn end_of_string(text: &[u8], at: usize) -> Option<usize> {
    let mut at = at + 1;
    loop {
        match text.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

fn end_of_nest(text: &[u8], at: usize) -> Option<usize> {
    let (mut at, mut depth) = (at, 0_usize);
    loop {
        match text.get(at)? {
            b'"' => {
                at = end_of_string(text, at)?;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return Some(at);
        }
    }
}

fn skip_blank(text: &[u8], at: usize) -> usize {
    at + text[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

/// From where to where in a text.
pub(crate) type Range = (usize, usize);

/// The members of the object at `at`: each key with its quotes, and where its value stands.
pub(crate) fn members(text: &[u8], at: usize) -> Option<Vec<(&[u8], Range)>> {
    let mut members = Vec::new();
    let mut at = enter(text, at, b'{')?;
    while text.get(at)? != &b'}' {
        let key = (at, end_of_string(text, at).filter(|_| text[at] == b'"')?);
        at = skip_blank(text, key.1);
        at = skip_blank(text, (text.get(at)? == &b':').then_some(at + 1)?);
        let end = end_of_value(text, at)?;
        members.push((&text[key.0..key.1], (at, end)));
        at = after_comma(text, end)?;
    }
    Some(members)
}

/// The elements of the list at `at`, as ranges of `text`.
pub(crate) fn elements(text: &[u8], at: usize) -> Option<Vec<Range>> {
    let mut elements = Vec::new();
    let mut at = enter(text, at, b'[')?;
    while text.get(at)? != &b']' {
        let end = end_of_value(text, at)?;
        elements.push((at, end));
        at = after_comma(text, end)?;
    }
    Some(elements)
}

fn enter(text: &[u8], at: usize, open: u8) -> Option<usize> {
    let at = skip_blank(text, at);
    (text.get(at)? == &open).then(|| skip_blank(text, at + 1))
}

/// Where the next part begins, or where the whole ends.
fn after_comma(text: &[u8], at: usize) -> Option<usize> {
    let at = skip_blank(text, at);
    match text.get(at)? {
        b',' => Some(skip_blank(text, at + 1)),
        b'}' | b']' => Some(at),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_and_elements() {
        let text = br#" { "a" : [1, {"b": "}]\\"}] , "c":"x\"y","d":{}} "#;
        let found = members(text, 0).unwrap();
        let shown: Vec<_> = found
            .iter()
            .map(|(key, (from, to))| [key, &text[*from..*to]].map(String::from_utf8_lossy))
            .collect();
        assert_eq!(shown[0], [r#""a""#, r#"[1, {"b": "}]\\"}]"#]);
        assert_eq!(shown[1], [r#""c""#, r#""x\"y""#]);
        assert_eq!(shown[2], [r#""d""#, "{}"]);
        let inner = elements(text, found[0].1.0).unwrap();
        let shown: Vec<_> = inner.iter().map(|(from, to)| &text[*from..*to]).collect();
        assert_eq!(shown, [&b"1"[..], br#"{"b": "}]\\"}"#]);
    }

    #[test]
    fn what_is_cut_short_is_no_part() {
        let text = br#"{"a": [1, {"b": "c\"d"}], "e": null}"#;
        for end in 0..text.len() {
            assert_eq!(members(&text[..end], 0), None, "{end}");
        }
        for text in ["{", "{\"a\"}", "{1: 2}", "{\"a\" 1}", "[]", "", "{\"a\": ]}"] {
            let _ = members(text.as_bytes(), 0);
        }
    }
}
