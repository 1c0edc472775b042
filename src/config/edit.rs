//! Adds a waiver to a file, or renews one. Every other byte of the file stays as it is.

use std::ops::Range;

use jiff::civil::Date;
use toml_edit::{ArrayOfTables, Document, DocumentMut, Item, Table, TomlError, Value};

/// The mark that some editors put before a text.
const MARK: char = '\u{feff}';

/// What `waive` adds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewWaiver {
    pub check: String,
    pub subject: String,
    pub cluster: Option<String>,
    pub reason: String,
    pub owner: Option<String>,
    pub until: Option<Date>,
}

/// Why there is nowhere to add one.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    #[error(transparent)]
    NotToml(#[from] TomlError),
    #[error("`waiver` is there, but not as [[waiver]] tables: write it so, then run this again")]
    NotTables,
}

/// The text of the file with one waiver more.
///
/// # Errors
/// Where the text is no TOML, or has its waivers in another form.
pub fn append(text: &str, waiver: &NewWaiver) -> Result<String, EditError> {
    tables(&Document::parse(text.trim_start_matches(MARK))?)?;
    let mut table = Table::new();
    let entries = [
        ("check", Some(Value::from(&waiver.check))),
        ("subject", Some(Value::from(&waiver.subject))),
        ("cluster", waiver.cluster.as_ref().map(Value::from)),
    ];
    for (key, value) in entries.into_iter().chain(entries_that_change(waiver)) {
        if let Some(value) = value {
            table.insert(key, Item::Value(value));
        }
    }
    let mut document = DocumentMut::new();
    document.insert("waiver", Item::ArrayOfTables(ArrayOfTables::from_iter([table])));
    let line_end = line_end(text);
    let added = document.to_string().replace('\n', line_end);
    let between = match text {
        _ if text.trim_start_matches(MARK).trim().is_empty() => String::new(),
        _ if text.ends_with('\n') => line_end.to_owned(),
        _ => line_end.repeat(2),
    };
    Ok(format!("{text}{between}{added}"))
}

/// The text of the file in which the waiver of that place among the waivers says until when it
/// holds now, why, and who decided so.
///
/// # Errors
/// As for [`append`].
pub fn renew(text: &str, place: usize, waiver: &NewWaiver) -> Result<String, EditError> {
    let body = text.trim_start_matches(MARK);
    let document = Document::parse(body)?;
    let table = tables(&document)?.and_then(|tables| tables.get(place));
    let table = table.ok_or(EditError::NotTables)?;
    let line_end = line_end(text);
    let after_reason = table.get("reason").and_then(Item::span).map_or(body.len(), |span| {
        let rest = &body[span.end..];
        span.end + rest.find(['\r', '\n']).unwrap_or(rest.len())
    });
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    for (key, value) in entries_that_change(waiver) {
        let Some(value) = value else { continue };
        edits.push(match table.get(key).and_then(Item::span) {
            Some(span) => (span, value.to_string()),
            None => (after_reason..after_reason, format!("{line_end}{key} = {value}")),
        });
    }
    // From the last to the first, so that the places before an edit stay true, and what is new
    // stands in this order.
    edits.reverse();
    edits.sort_by_key(|(place, _)| std::cmp::Reverse(place.start));
    let mut body = body.to_owned();
    for (place, new) in edits {
        body.replace_range(place, &new);
    }
    let mark = if text.starts_with(MARK) { MARK.to_string() } else { String::new() };
    Ok(mark + &body)
}

/// What a waiver says beside what it is for.
fn entries_that_change(waiver: &NewWaiver) -> [(&'static str, Option<Value>); 3] {
    let date = waiver.until.and_then(|until| until.to_string().parse::<toml_edit::Datetime>().ok());
    [
        ("reason", Some(Value::from(&waiver.reason))),
        ("owner", waiver.owner.as_ref().map(Value::from)),
        ("until", date.map(Value::from)),
    ]
}

/// The waivers of a file, if it has any.
fn tables<S: AsRef<str>>(document: &Document<S>) -> Result<Option<&ArrayOfTables>, EditError> {
    let Some(waivers) = document.as_table().get("waiver") else { return Ok(None) };
    waivers.as_array_of_tables().map(Some).ok_or(EditError::NotTables)
}

/// How the lines of a text end.
fn line_end(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config;

    fn waiver() -> NewWaiver {
        NewWaiver {
            check: "queue-exists".to_owned(),
            subject: "*".to_owned(),
            cluster: None,
            reason: "it's \"fine\" \\ so far".to_owned(),
            owner: Some("team-b".to_owned()),
            until: Some(jiff::civil::date(2999, 12, 31)),
        }
    }

    #[test]
    fn what_is_there_stays() {
        for before in [
            "# only a comment",
            "# ours\nfail_on = \"warn\" # soon\n",
            "# ours\r\nfail_on = \"warn\" # soon\r\n",
            "\u{feff}fail_on = \"warn\"\r\n",
            "[target]\nname = \"demo\"",
            "[[waiver]]\ncheck = \"subnets-zones\"\nreason = \"r\"\n\n[[cluster]]\nname = \"a\"\n",
        ] {
            let after = append(before, &waiver()).unwrap();
            let added = after.strip_prefix(before).unwrap_or_else(|| panic!("{before}: {after}"));
            assert_eq!(
                after.matches("\r\n").count(),
                if before.contains('\r') { after.matches('\n').count() } else { 0 },
                "{after}"
            );
            assert!(added.trim_start().starts_with("[[waiver]]"), "{added}");
            let config = config::parse(&after, Path::new("c.toml")).unwrap();
            let last = config.waiver.last().unwrap();
            assert_eq!((&last.reason, &last.owner), (&waiver().reason, &waiver().owner));
            assert_eq!(last.until, waiver().until);
        }
        assert!(append("", &waiver()).unwrap().starts_with("[[waiver]]\n"));
        assert!(append("waiver = []", &waiver()).is_err());
        assert!(append("x = ", &waiver()).is_err());
    }

    #[test]
    fn a_renewed_waiver_keeps_its_place() {
        let first = "[[waiver]]\r\ncheck = \"subnets-zones\"\r\nreason = \"r\"\r\n\r\n";
        for (mark, old, new) in [
            (
                "",
                "until = 2020-01-01 # a date\r\nreason = \"old\" # why\r\nowner = 'a'",
                "until = 2999-12-31 # a date\r\nreason = R # why\r\nowner = \"team-b\"",
            ),
            (
                "\u{feff}",
                "reason = \"\"\"\r\nold\"\"\" # why",
                "reason = R # why\r\nowner = \"team-b\"\r\nuntil = 2999-12-31",
            ),
            ("", "reason = 'old'", "reason = R\r\nowner = \"team-b\"\r\nuntil = 2999-12-31"),
        ] {
            let whole = |of: &str| {
                let tail = "\r\n# end\r\n[[cluster]]\r\nname = \"a\"";
                format!("{mark}{first}[[waiver]]\r\ncheck = \"queue-exists\"\r\n{of}{tail}")
            };
            let after = renew(&whole(old), 1, &waiver()).unwrap();
            let reason = Value::from(&waiver().reason).to_string();
            assert_eq!(after, whole(&new.replace('R', &reason)), "{old}");
            let config = config::parse(&after, Path::new("c.toml")).unwrap();
            assert_eq!(config.waiver[1].until, waiver().until);
            assert_eq!(config.waiver[1].reason, waiver().reason);
        }
    }
}
