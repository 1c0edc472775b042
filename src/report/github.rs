//! Annotations of GitHub Actions: a line a problem, which the runner shows at the run.
//!
//! GitHub shows ten errors and ten warnings a step, so the step summary
//! ([`summary`]) holds them all.

use std::io::{self, Write};

use super::{
    Report, Reports,
    causes::{Cause, said_once},
    markdown, remarks, summary,
    text::{clean, first_sentence, sentence},
    unread,
};
use crate::outcome::Status;

/// GitHub refuses a step summary above 1 MiB.
const SUMMARY_LIMIT: usize = 1_000_000;

/// Writes the annotations of the reports.
///
/// # Errors
/// Where `out` cannot be written to.
pub fn write(all: &Reports, out: &mut dyn Write) -> io::Result<()> {
    let reports = &all.reports;
    for report in reports {
        for cause in said_once(report) {
            writeln!(out, "{}", annotation(report, &cause))?;
        }
    }
    for report in reports {
        for words in remarks::stale(report) {
            writeln!(out, "::notice title=Stale waiver::{}", data(&clean(&sentence(&words))))?;
        }
        writeln!(out, "{}: {}", clean(&report.target.cluster), summary::verdict(report).1)?;
    }
    unread::github(&all.not_run, out)
}

/// The step summary: the Markdown report, or only its overview where GitHub would refuse it.
pub fn summary(all: &Reports) -> io::Result<String> {
    let mut text = Vec::new();
    markdown::write(all, &mut text)?;
    if text.len() > SUMMARY_LIMIT {
        text.clear();
        for report in &all.reports {
            markdown::write_overview(report, &mut text)?;
        }
        unread::markdown(&all.not_run, &mut text)?;
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn annotation(report: &Report, cause: &Cause<'_>) -> String {
    let outcome = cause.first;
    let command = if outcome.status == Status::Fail { "error" } else { "warning" };
    let (status, cluster) = (outcome.status.as_str(), &report.target.cluster);
    let title = match cause.checks().as_slice() {
        [check] => format!("{check} {status} in {cluster}"),
        checks => format!("{} checks {status} in {cluster}", checks.len()),
    };
    let mut lines = vec![format!("{}: {}", cause.subjects(), sentence(&clean(&outcome.seen)))];
    if !outcome.effect.is_empty() {
        lines.push(clean(&outcome.effect));
    }
    if let Some(remedy) = &outcome.remedy {
        lines.push(format!("To mend: {}", clean(first_sentence(&remedy.words))));
    }
    format!("::{command} title={}::{}", property(&clean(&title)), data(&lines.join("\n")))
}

/// The escapes of a message.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The escapes of a parameter.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::{report, written};

    #[test]
    fn the_failed_come_first() {
        let text = written(|out| write(&Reports::one(report("problems")), out));
        let starts: Vec<_> =
            text.lines().map(|line| line.split_once("::").map_or("", |_| &line[..9])).collect();
        assert_eq!(
            starts,
            ["::error t", "::error t", "::warning", "::warning", "::warning", ""],
            "{text}"
        );
        assert!(text.contains("title=node-role-trust fail in prod::arn:aws:iam"), "{text}");
        assert!(text.ends_with(
            "prod: 2 findings will stop or break Karpenter here. 2 things could not be judged.\n"
        ));
    }

    #[test]
    fn nothing_from_the_account_is_a_command() {
        let mut hostile = report("problems");
        hostile.outcomes.truncate(3);
        hostile.outcomes[2].subject = "x\n::stop-commands::t,a:b%0A".to_owned();
        let text = written(|out| write(&Reports::one(hostile), out));
        let commands = text.lines().filter(|line| line.starts_with("::")).count();
        assert_eq!(commands, 1, "{text}");
        assert!(text.contains("t,a:b%250A"), "{text}");
        assert_eq!(property("a:b,c%"), "a%3Ab%2Cc%25");
    }
}
