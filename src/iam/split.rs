//! Cuts JSON text apart without reading it: which stretches are the documents of a line.

/// The end of the value that begins at `at`, which is no blank. `None` where the text ends
/// first; whether the value is right JSON is for whoever reads it.
pub(crate) fn end_of_value(text: &[u8], at: usize) -> Option<usize> {
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
        at += memchr::memchr2(b'"', b'\\', text.get(at..)?)?;
        match text[at] {
            b'"' => return Some(at + 1),
            _ => at += 2,
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

/// Walks the members of the object at `at` and gives its end. `each` is given a key with its
/// quotes and where its value begins, and gives where that ends.
pub(crate) fn members<'t>(
    text: &'t [u8],
    at: usize,
    mut each: impl FnMut(&'t [u8], usize) -> Option<usize>,
) -> Option<usize> {
    let mut at = enter(text, at, b'{')?;
    while text.get(at)? != &b'}' {
        let key = (at, end_of_string(text, at).filter(|_| text[at] == b'"')?);
        at = skip_blank(text, key.1);
        at = skip_blank(text, (text.get(at)? == &b':').then_some(at + 1)?);
        at = after_comma(text, each(&text[key.0..key.1], at)?, b'}')?;
    }
    Some(at + 1)
}

/// The first key of the object at `at`, with its quotes.
pub(crate) fn first_key(text: &[u8], at: usize) -> Option<&[u8]> {
    let at = enter(text, at, b'{')?;
    (text.get(at)? == &b'"').then(|| text.get(at..end_of_string(text, at)?)).flatten()
}

/// The same of the elements of the list at `at`.
pub(crate) fn elements(
    text: &[u8],
    at: usize,
    mut each: impl FnMut(usize) -> Option<usize>,
) -> Option<usize> {
    let mut at = enter(text, at, b'[')?;
    while text.get(at)? != &b']' {
        at = after_comma(text, each(at)?, b']')?;
    }
    Some(at + 1)
}

fn enter(text: &[u8], at: usize, open: u8) -> Option<usize> {
    let at = skip_blank(text, at);
    (text.get(at)? == &open).then(|| skip_blank(text, at + 1))
}

/// Where the next part begins, or where the whole ends.
fn after_comma(text: &[u8], at: usize, close: u8) -> Option<usize> {
    let at = skip_blank(text, at);
    match *text.get(at)? {
        b',' => Some(skip_blank(text, at + 1)),
        byte => (byte == close).then_some(at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The members of an object, as texts.
    fn members_of(text: &[u8], at: usize) -> Option<Vec<(Range, [String; 2])>> {
        let mut found = Vec::new();
        let shown = |part| String::from_utf8_lossy(part).into_owned();
        members(text, at, |key, at| {
            let end = end_of_value(text, at)?;
            found.push(((at, end), [shown(key), shown(&text[at..end])]));
            Some(end)
        })?;
        Some(found)
    }

    #[test]
    fn members_and_elements() {
        let text = br#" { "a" : [1, {"b": "}]\\"}] , "c":"x\"y","d":{}} "#;
        assert_eq!(first_key(text, 0), Some(&br#""a""#[..]));
        let found = members_of(text, 0).unwrap();
        let shown = found.iter().map(|(_, shown)| shown.each_ref().map(String::as_str));
        let shown: Vec<_> = shown.collect();
        assert_eq!(shown[0], [r#""a""#, r#"[1, {"b": "}]\\"}]"#]);
        assert_eq!(shown[1], [r#""c""#, r#""x\"y""#]);
        assert_eq!(shown[2], [r#""d""#, "{}"]);
        let mut shown = Vec::new();
        let end = elements(text, found[0].0.0, |at| {
            let end = end_of_value(text, at)?;
            shown.push(&text[at..end]);
            Some(end)
        });
        assert_eq!(end, Some(found[0].0.1));
        assert_eq!(shown, [&b"1"[..], br#"{"b": "}]\\"}"#]);
    }

    #[test]
    fn what_is_cut_short_is_no_part() {
        let text = br#"{"a": [1, {"b": "c\"d"}], "e": null}"#;
        for end in 0..text.len() {
            assert_eq!(members_of(&text[..end], 0), None, "{end}");
        }
        for text in ["{", "{\"a\"}", "{1: 2}", "{\"a\" 1}", "[]", "", "{\"a\": ]}"] {
            let _ = members_of(text.as_bytes(), 0);
            let _ = first_key(text.as_bytes(), 0);
        }
        // A list that is closed as an object would be has no end, and no end of elements either.
        for text in ["[}", "[1}", "[}]", "[1, }"] {
            let text = text.as_bytes();
            assert_eq!(elements(text, 0, |at| end_of_value(text, at)), None);
        }
    }
}
