//! One canonical form for what is printed in many: `squashed` text.
//!
//! Letters are lowered; white space, quotes of every kind, backslash escapes, colour codes
//! and whatever is not ASCII are dropped; what a web page escapes (`&quot;`) is read as what
//! it stands for. So a text matches however it was wrapped, quoted,
//! escaped into JSON or surrounded by another language. (Dropping zero bytes also makes
//! UTF-16 output readable.)

/// Dropped in the squashed form.
const DROP: u8 = 0;

/// What becomes of each byte that begins no escape.
const LOWERED: [u8; 256] = table(true);
const CASED: [u8; 256] = table(false);

const fn table(lower: bool) -> [u8; 256] {
    let mut table = [DROP; 256];
    let mut byte = 0x21;
    while byte < 0x7f {
        table[byte] = match byte as u8 {
            // `>` and `|` begin the lines of quoted mail and of boxes.
            b'"' | b'\'' | b'`' | b'<' | b'>' | b'|' => DROP,
            other if lower => other.to_ascii_lowercase(),
            other => other,
        };
        byte += 1;
    }
    table
}

const ESCAPE: u8 = 0x1b;

/// The named escapes of HTML that tools and ticket systems write, and what they stand for.
const ENTITIES: [(&[u8], u8); 6] = [
    (b"quot", b'"'),
    (b"apos", b'\''),
    (b"lt", b'<'),
    (b"gt", b'>'),
    (b"amp", b'&'),
    (b"nbsp", b' '),
];

/// The squashed form of a text.
pub fn squash(raw: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(raw.len());
    let mut at = 0;
    while at < raw.len() {
        at = squash_step(raw, at, usize::MAX, &mut out);
    }
    out
}

/// Like [`squash`], with the letters' case and the line ends kept, escaped line ends too.
pub fn squash_cased(raw: &[u8]) -> String {
    let mut out = Vec::with_capacity(raw.len());
    let mut at = 0;
    while at < raw.len() {
        let special =
            raw[at..].iter().position(|&byte| matches!(byte, b'\\' | ESCAPE | b'&' | b'\n'));
        let end = special.map_or(raw.len(), |offset| at + offset);
        copy(&raw[at..end], &CASED, &mut out);
        at = end;
        match raw.get(at) {
            Some(b'\n') => {
                out.push(b'\n');
                at += 1;
            }
            Some(b'\\') if raw.get(at + 1) == Some(&b'n') => {
                out.push(b'\n');
                at += 2;
            }
            Some(_) => at = escape(raw, at, &CASED, &mut out),
            None => {}
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// A text for reading: without colour codes and escapes, white space as single spaces.
pub fn readable(raw: &[u8]) -> String {
    let mut out = Vec::with_capacity(raw.len());
    let mut at = 0;
    while at < raw.len() {
        let byte = raw[at];
        let next = raw.get(at + 1);
        match (byte, next) {
            (ESCAPE, _) => {
                at = after_colour(raw, at + 1);
                continue;
            }
            (b'\\', Some(b'n' | b't' | b'r')) => {
                at += 1;
                out.push(b' ');
            }
            (b'\\', Some(b'"' | b'\\')) => {}
            (b'&', _) => {
                let (byte, length) = entity(&raw[at..]).unwrap_or((b'&', 1));
                out.push(byte);
                at += length;
                continue;
            }
            (b'\\', Some(b'u')) if code_point(raw, at + 2) == Some(u32::from(ESCAPE)) => {
                at = after_colour(raw, at + 6);
                continue;
            }
            _ if byte.is_ascii_control() => out.push(b' '),
            _ => out.push(byte),
        }
        at += 1;
    }
    let text = String::from_utf8_lossy(&out);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Squashes at most `limit` bytes from `at`, or one escape, and returns where it stopped.
/// It never stops inside an escape.
pub fn squash_step(raw: &[u8], at: usize, limit: usize, out: &mut Vec<u8>) -> usize {
    let stop = raw.len().min(at.saturating_add(limit));
    match memchr::memchr3(b'\\', ESCAPE, b'&', &raw[at..stop]) {
        Some(0) => escape(raw, at, &LOWERED, out),
        Some(offset) => {
            copy(&raw[at..at + offset], &LOWERED, out);
            at + offset
        }
        None => {
            copy(&raw[at..stop], &LOWERED, out);
            stop
        }
    }
}

/// The position in `raw`, at or after `at`, of the squashed byte number `wanted`.
pub fn position_of(raw: &[u8], mut at: usize, mut wanted: usize) -> usize {
    let mut out = Vec::new();
    while at < raw.len() {
        if matches!(raw[at], b'\\' | ESCAPE | b'&') {
            out.clear();
            let next = escape(raw, at, &LOWERED, &mut out);
            if out.len() > wanted {
                return at;
            }
            wanted -= out.len();
            at = next;
            continue;
        }
        if LOWERED[usize::from(raw[at])] != DROP {
            if wanted == 0 {
                return at;
            }
            wanted -= 1;
        }
        at += 1;
    }
    raw.len()
}

/// Appends what is kept of `raw`. Written without a branch a byte: this is the hot loop.
fn copy(raw: &[u8], table: &[u8; 256], out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + raw.len(), 0);
    let mut kept = 0;
    let target = &mut out[start..];
    for &byte in raw {
        let mapped = table[usize::from(byte)];
        target[kept] = mapped;
        kept += usize::from(mapped != DROP);
    }
    out.truncate(start + kept);
}

/// Handles the backslash, the ampersand or the escape character at `at`; returns where the
/// rest begins.
fn escape(raw: &[u8], at: usize, table: &[u8; 256], out: &mut Vec<u8>) -> usize {
    if raw[at] == b'&' {
        let (byte, length) = entity(&raw[at..]).unwrap_or((b'&', 1));
        copy(&[byte], table, out);
        return at + length;
    }
    if raw[at] == ESCAPE {
        return after_colour(raw, at + 1);
    }
    match raw.get(at + 1) {
        Some(b'n' | b't' | b'r') => at + 2,
        Some(b'u') => match code_point(raw, at + 2) {
            Some(code) if code == u32::from(ESCAPE) => after_colour(raw, at + 6),
            Some(code) => {
                let byte = u8::try_from(code).unwrap_or(0x80);
                copy(&[byte], table, out);
                at + 6
            }
            None => at + 1,
        },
        _ => at + 1,
    }
}

/// What the HTML escape that `raw` begins with stands for, and how long it is.
fn entity(raw: &[u8]) -> Option<(u8, usize)> {
    let name = &raw[1..raw.len().min(10)];
    let name = &name[..memchr::memchr(b';', name)?];
    let byte = match name {
        [b'#', b'x' | b'X', digits @ ..] => number(digits, 16)?,
        [b'#', digits @ ..] => number(digits, 10)?,
        _ => ENTITIES.iter().find(|(entity, _)| name.eq_ignore_ascii_case(entity))?.1,
    };
    Some((byte, name.len() + 2))
}

/// The ASCII character of that number; another one is as good as a space.
fn number(digits: &[u8], radix: u32) -> Option<u8> {
    let code = u32::from_str_radix(std::str::from_utf8(digits).ok()?, radix).ok()?;
    Some(u8::try_from(code).ok().filter(u8::is_ascii).unwrap_or(b' '))
}

fn code_point(raw: &[u8], at: usize) -> Option<u32> {
    let digits = std::str::from_utf8(raw.get(at..at + 4)?).ok()?;
    u32::from_str_radix(digits, 16).ok()
}

/// Skips the rest of a colour code (`[31m`), if there is one.
fn after_colour(raw: &[u8], at: usize) -> usize {
    if raw.get(at) != Some(&b'[') {
        return at;
    }
    let parameters =
        raw[at + 1..].iter().take_while(|byte| matches!(byte, b'0'..=b'9' | b';' | b'?')).count();
    raw.len().min(at + 2 + parameters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_surrounding_gives_the_same_form() {
        let plain = "err=\"Unauthorized\" node=\"ip-10-0-0-1\"\ncaused by: x";
        let wanted = squash(plain.as_bytes());
        assert_eq!(wanted, b"err=unauthorizednode=ip-10-0-0-1causedby:x");
        let other_forms: [&[u8]; 11] = [
            b"err=&quot;Unauthorized&#34; node=&#x22;ip-10-0-0-1&#39;\ncaused by: x",
            b"&lt;err=&apos;Unauthorized&nbsp;node=&#8220;ip-10-0-0-1&gt;&#10;caused by&#x3A; x",
            b"err=\\\"Unauthorized\\\" node=\\\"ip-10-0-0-1\\\"\\ncaused by: x",
            b"err=\\\\\\\"Unauthorized\\\\\\\" node=ip-10-0-0-1\\\\ncaused by: x",
            b"ERR=\x1b[31m\"Unauthorized\"\x1b[0m NODE=\"IP-10-0-0-1\"\r\ncaused by: x",
            b"err=\\u001b[1;31mUnauthorized\\u001b[0m node=\\u0022ip-10-0-0-1\\u0022 caused by: x",
            "err=“Unauthorized” node=«ip-10-0-0-1» caused by: x".as_bytes(),
            "エラー err=「Unauthorized」 node=ip-10-0-0-1 caused by: x 。".as_bytes(),
            b"err=\xff\xfe'Unauthorized' node=ip-\n10-0-0-1 caused by: x",
            b"> err=Unauthorized\n> node=ip-10-0-0-1\n> caused by: x",
            b"e\0r\0r\0=\0U\0n\0a\0u\0t\0h\0o\0r\0i\0z\0e\0d\0 node=ip-10-0-0-1 caused by: x",
        ];
        for form in other_forms {
            assert_eq!(squash(form), wanted, "{}", String::from_utf8_lossy(form));
        }
    }

    #[test]
    fn an_ampersand_alone_stays() {
        assert_eq!(squash(b"a && b &amp; c?d=1&e;f&"), b"a&&b&c?d=1&e;f&");
        assert_eq!(readable(b"pdb &quot;a&quot; &amp;c"), "pdb \"a\" &c");
        assert_eq!(squash_cased(b"pdb &quot;A&quot;"), "pdbA");
    }

    #[test]
    fn the_cased_form_keeps_line_ends() {
        assert_eq!(squash_cased(b"User: arn:X\\nis\nNot"), "User:arn:X\nis\nNot");
    }

    #[test]
    fn a_cut_escape_is_harmless() {
        for text in ["\\", "\\u", "\\u00", "\x1b", "\x1b[", "\x1b[3"] {
            assert_eq!(squash(text.as_bytes()).len(), text.matches(['u', '0']).count(), "{text:?}");
        }
    }
}
