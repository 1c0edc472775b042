//! A flat map of strings, as Terraform's `external` data source takes it.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use super::{
    Report, Reports,
    causes::{Cause, said_once},
    json::write_value,
    summary,
    text::{clean, first_sentence},
};
use crate::outcome::Status;

/// Writes the map. Of several clusters the counts are summed, and each problem names its own.
///
/// # Errors
/// Where `out` cannot be written to.
pub fn write(all: &Reports, out: &mut dyn Write) -> io::Result<()> {
    let mut map = BTreeMap::new();
    map.insert("ok", (all.exit_code == 0).to_string());
    map.insert("exit_code", all.exit_code.to_string());
    for status in Status::ALL {
        map.insert(status.as_str(), all.counts.get(status).to_string());
    }
    let verdicts = all.reports.iter().map(|report| summary::verdict(report).1);
    map.insert("verdict", verdicts.collect::<Vec<_>>().join("\n"));
    map.insert("problems", all.reports.iter().flat_map(problems).collect::<Vec<_>>().join("\n"));
    write_value(&map, out)
}

/// `fail node-role-trust KarpenterNodeRole-demo: The trust policy …`, one a line.
fn problems(report: &Report) -> Vec<String> {
    let line = |cause: &Cause<'_>| {
        let outcome = cause.first;
        let check = match cause.checks().as_slice() {
            [check] => clean(check),
            [check, more @ ..] => format!("{} and {} more checks", clean(check), more.len()),
            [] => String::new(),
        };
        let (status, subjects) = (outcome.status.as_str(), cause.subjects());
        format!("{status} {check} {subjects}: {}", clean(first_sentence(&outcome.seen)))
    };
    said_once(report).iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::{report, written};

    #[test]
    fn a_flat_map_of_strings() {
        let text = written(|out| write(&Reports::one(report("problems")), out));
        let map: BTreeMap<String, String> = serde_json::from_str(&text).unwrap();
        assert_eq!((map["ok"].as_str(), map["exit_code"].as_str()), ("false", "1"));
        assert_eq!((map["fail"].as_str(), map["unknown"].as_str()), ("2", "2"));
        assert_eq!(map["problems"].lines().count(), 5);
        assert!(map["problems"].starts_with("fail node-role-trust arn:aws:iam::"), "{map:?}");
        assert!(map["verdict"].starts_with("2 findings will stop"), "{map:?}");
    }
}
