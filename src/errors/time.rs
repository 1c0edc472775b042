//! Times as logs print them.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

/// How far into a line a time is looked for, in bytes.
const REACH: usize = 400;

/// When a line was printed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Moment {
    /// As printed.
    pub text: String,
    /// The point in time, if the text says its time zone.
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub at: Option<Timestamp>,
}

/// The first time in a line.
pub fn find(line: &[u8]) -> Option<Moment> {
    let line = &line[..line.len().min(REACH)];
    iso(line).or_else(|| klog(line)).or_else(|| syslog(line)).or_else(|| epoch(line))
}

/// Whether a line begins with a time, as the first line of a log record does.
pub fn leads(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    shaped(line, "dddd-dd-dd") || shaped(line, "wdddd dd:dd:dd") || syslog(line).is_some()
}

/// Whether `text` begins with the shape: `d` a digit, `w` a capital, else the character.
fn shaped(text: &[u8], shape: &str) -> bool {
    text.len() >= shape.len()
        && shape.bytes().zip(text).all(|(wanted, byte)| match wanted {
            b'd' => byte.is_ascii_digit(),
            b'w' => byte.is_ascii_uppercase(),
            _ => wanted == *byte,
        })
}

/// `2024-12-18T04:37:19.123Z`, with or without the fraction and the zone.
fn iso(line: &[u8]) -> Option<Moment> {
    let start = memchr::memchr_iter(b':', line)
        .filter_map(|colon| colon.checked_sub("2024-12-18T04".len()))
        .find(|&start| {
            let text = &line[start..];
            shaped(text, "dddd-dd-ddTdd:dd:dd") || shaped(text, "dddd-dd-dd dd:dd:dd")
        })?;
    let text = &line[start..];
    let mut end = "2024-12-18T04:37:19".len();
    if matches!(text.get(end), Some(b'.' | b',')) {
        end += 1 + text[end + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    }
    let zone = match text.get(end) {
        Some(b'Z') => 1,
        Some(b'+' | b'-') if shaped(&text[end + 1..], "dd:dd") => 6,
        Some(b'+' | b'-') if shaped(&text[end + 1..], "dddd") => 5,
        _ => 0,
    };
    let printed = std::str::from_utf8(&text[..end + zone]).ok()?;
    let at = if zone == 0 { None } else { printed.replace(',', ".").parse().ok() };
    Some(Moment { text: printed.to_owned(), at })
}

/// `E0924 11:59:54.270285`, as Kubernetes components print it: no year.
fn klog(line: &[u8]) -> Option<Moment> {
    let start = memchr::memchr_iter(b':', line)
        .filter_map(|colon| colon.checked_sub("E0924 11".len()))
        .find(|&start| shaped(&line[start..], "wdddd dd:dd:dd"))?;
    let text = line.get(start + 1..start + "E0924 11:59:54".len())?;
    Some(Moment { text: String::from_utf8_lossy(text).into_owned(), at: None })
}

/// `Sep 24 11:59:54` at the start of a line: no year and no zone.
fn syslog(line: &[u8]) -> Option<Moment> {
    const MONTHS: &[u8] = b"JanFebMarAprMayJunJulAugSepOctNovDec";
    let text = line.get(.."Sep 24 11:59:54".len())?;
    let month = MONTHS.chunks(3).any(|month| text.starts_with(month));
    let day = shaped(&text[3..], " dd ") || shaped(&text[3..], "  d ");
    (month && day && shaped(&text[7..], "dd:dd:dd"))
        .then(|| Moment { text: String::from_utf8_lossy(text).into_owned(), at: None })
}

/// `"ts":1733000000.123`, as some JSON loggers print it, in seconds.
fn epoch(line: &[u8]) -> Option<Moment> {
    let start = memchr::memmem::find(line, b"\"ts\":")? + "\"ts\":".len();
    let digits = line[start..].iter().take_while(|byte| matches!(byte, b'0'..=b'9' | b'.')).count();
    let text = std::str::from_utf8(&line[start..start + digits]).ok()?;
    let seconds = text.split('.').next()?.parse().ok()?;
    Some(Moment { text: text.to_owned(), at: Timestamp::from_second(seconds).ok() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_every_logger_are_read() {
        for (line, text, at) in [
            ("  Last Transition Time:  2024-12-18T04:37:19Z", "2024-12-18T04:37:19Z", true),
            (
                r#"{"level":"ERROR","time":"2025-01-02T03:04:05.678Z"}"#,
                "2025-01-02T03:04:05.678Z",
                true,
            ),
            ("2025-01-02T03:04:05.678+09:00 ERROR x", "2025-01-02T03:04:05.678+09:00", true),
            ("2025-01-02T03:04:05.678+0900\tERROR", "2025-01-02T03:04:05.678+0900", true),
            ("2025-01-02 03:04:05,678 ERROR x", "2025-01-02 03:04:05,678", false),
            ("E0924 11:59:54.270285    2105 kubelet_node_status.go:96]", "0924 11:59:54", false),
            ("Sep  4 11:59:54 ip-192-168-66-178 kubelet[2105]: x", "Sep  4 11:59:54", false),
            (r#"{"level":"error","ts":1733000000.5}"#, "1733000000.5", true),
        ] {
            let moment = find(line.as_bytes()).unwrap();
            assert_eq!((moment.text.as_str(), moment.at.is_some()), (text, at), "{line}");
        }
        assert_eq!(find(b"sha256:0123 30s (x13 over 60m) 12:30:01"), None);
    }
}
