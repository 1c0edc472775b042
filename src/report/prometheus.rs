//! Metrics in the text format of Prometheus, for the textfile collector or a Pushgateway.
//!
//! Every check that ran has a series for each status, 0 included, so that none comes and goes
//! with what is found.

use std::{
    fmt::{Display, Write as _},
    io::{self, Write},
};

use super::{NotRun, Report, Reports, text::clean};
use crate::{
    checks::{self, Check},
    outcome::Status,
};

/// Writes the reports as metrics.
///
/// # Errors
/// Where `out` cannot be written to.
pub fn write(all: &Reports, out: &mut dyn Write) -> io::Result<()> {
    write_with(&all.reports, checks::ALL, out)?;
    write_unread(&all.not_run, out)
}

pub(super) fn write_with(
    reports: &[Report],
    known: &[&Check],
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut text = String::new();
    // The samples of a metric stand together, whichever cluster they are of.
    for metric in &METRICS {
        let _ = writeln!(text, "# HELP {PREFIX}{} {}", metric.name, metric.help);
        let _ = writeln!(text, "# TYPE {PREFIX}{} gauge", metric.name);
        for report in reports {
            for (labels, value) in (metric.samples)(report, known) {
                let labels = labels_of(report, &labels);
                let _ = writeln!(text, "{PREFIX}{}{{{labels}}} {value}", metric.name);
            }
        }
    }
    out.write_all(text.as_bytes())
}

const PREFIX: &str = "karpenter_preflight_";

type Labels = Vec<(&'static str, String)>;
type Samples = Vec<(Labels, f64)>;

struct Metric {
    name: &'static str,
    help: &'static str,
    samples: fn(&Report, &[&Check]) -> Samples,
}

const METRICS: [Metric; 9] = [
    Metric {
        name: "outcomes",
        help: "Subjects of a check that came out with a status.",
        samples: outcomes,
    },
    Metric {
        name: "findings",
        help: "Subjects of all checks that came out with a status.",
        samples: |report, _| {
            let sample = |status: Status| {
                (vec![("status", status.as_str().to_owned())], number(report.counts.get(status)))
            };
            Status::ALL.map(sample).into()
        },
    },
    Metric {
        name: "stale_waivers",
        help: "Waivers of the configuration that fit nothing.",
        samples: |report, _| vec![(Vec::new(), number(report.stale_waivers.len()))],
    },
    Metric {
        name: "exit_code",
        help: "What the run exits with: 0 fine, 1 findings, 3 incomplete.",
        samples: |report, _| vec![(Vec::new(), f64::from(report.exit_code))],
    },
    Metric {
        name: "last_success_timestamp_seconds",
        help: "When the account was last read, in seconds since 1970; a run that cannot read it \
               leaves the file as it is.",
        samples: |report, _| vec![(Vec::new(), seconds(report.collected_at.as_millisecond()))],
    },
    Metric {
        name: "run_duration_seconds",
        help: "What reading the account took.",
        samples: |report, _| {
            let milliseconds = i64::try_from(report.effort.milliseconds).unwrap_or(i64::MAX);
            vec![(Vec::new(), seconds(milliseconds))]
        },
    },
    Metric {
        name: "api_calls",
        help: "API calls that reading the account took.",
        samples: |report, _| vec![(Vec::new(), number(report.effort.calls))],
    },
    Metric {
        name: "info",
        help: "Always 1; the versions are in the labels.",
        samples: |report, _| {
            let karpenter = report.target.karpenter_version.as_ref();
            let labels = vec![
                ("version", report.tool_version.clone()),
                ("karpenter_version", karpenter.map(|v| v.value.clone()).unwrap_or_default()),
                (
                    "kubernetes_version",
                    report.target.kubernetes_version.clone().unwrap_or_default(),
                ),
            ];
            vec![(labels, 1.0)]
        },
    },
    // The last one: those that were not read come behind it.
    Metric {
        name: UNREAD,
        help: "1 where the configuration names the cluster and it could not be read.",
        samples: |_, _| vec![(Vec::new(), 0.0)],
    },
];

const UNREAD: &str = "cluster_unread";

/// Their account and region are not known.
fn write_unread(all: &[NotRun], out: &mut dyn Write) -> io::Result<()> {
    for unread in all {
        let cluster = escaped(&unread.cluster);
        writeln!(out, "{PREFIX}{UNREAD}{{account=\"\",region=\"\",cluster=\"{cluster}\"}} 1")?;
    }
    Ok(())
}

fn outcomes(report: &Report, known: &[&Check]) -> Samples {
    let mut checks: Vec<&str> = Vec::new();
    for outcome in &report.outcomes {
        if !checks.contains(&outcome.check.as_str()) {
            checks.push(&outcome.check);
        }
    }
    let area = |id: &str| {
        let check = known.iter().find(|check| check.id == id);
        check.map_or("other", |check| check.area.as_str())
    };
    let of_check = |id: &&str| {
        let found = report.outcomes.iter().filter(|outcome| outcome.check == *id);
        Status::ALL.map(|status| {
            let labels = vec![
                ("area", area(id).to_owned()),
                ("check", (*id).to_owned()),
                ("status", status.as_str().to_owned()),
            ];
            (labels, number(found.clone().filter(|outcome| outcome.status == status).count()))
        })
    };
    checks.iter().flat_map(of_check).collect()
}

/// Which cluster, then these.
fn labels_of(report: &Report, labels: &Labels) -> String {
    let target = &report.target;
    let cluster = [
        ("account", target.account.as_deref().unwrap_or_default()),
        ("region", &target.region.value),
        ("cluster", &target.cluster),
    ];
    let more = labels.iter().map(|(name, value)| (*name, value.as_str()));
    let label = |(name, value): (&str, &str)| format!("{name}=\"{}\"", escaped(value));
    cluster.into_iter().chain(more).map(label).collect::<Vec<_>>().join(",")
}

/// The escapes of a label's value; what a terminal might obey is shown instead.
fn escaped(value: impl Display) -> String {
    let value = value.to_string();
    let safe = value.split('\n').map(clean).collect::<Vec<_>>().join("\n");
    safe.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

fn number(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::MAX, f64::from)
}

/// Milliseconds as seconds.
fn seconds(milliseconds: i64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "exact up to the year 287396")]
    let milliseconds = milliseconds as f64;
    milliseconds / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::{CHECKS, report, written};

    #[test]
    fn one_cluster() {
        let text = written(|out| write_with(&[report("problems")], &CHECKS, out));
        let cluster = r#"account="111122223333",region="eu-west-1",cluster="prod""#;
        for line in [
            "# TYPE karpenter_preflight_outcomes gauge".to_owned(),
            format!(
                r#"karpenter_preflight_outcomes{{{cluster},area="launch",check="discovered-subnets",status="pass"}} 2"#
            ),
            format!(
                r#"karpenter_preflight_outcomes{{{cluster},area="launch",check="discovered-subnets",status="fail"}} 0"#
            ),
            format!(r#"karpenter_preflight_findings{{{cluster},status="fail"}} 2"#),
            format!("karpenter_preflight_exit_code{{{cluster}}} 1"),
            format!(
                "karpenter_preflight_last_success_timestamp_seconds{{{cluster}}} 1793534400.25"
            ),
            format!("karpenter_preflight_run_duration_seconds{{{cluster}}} 2.345"),
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
    }

    #[test]
    fn series_stay_while_findings_come_and_go() {
        let series = |name| {
            let text = written(|out| write_with(&[report(name)], &CHECKS, out));
            let lines = text.lines().filter(|line| !line.contains("_info{"));
            lines.map(|line| line.rsplit_once(' ').unwrap().0.to_owned()).collect::<Vec<_>>()
        };
        let help = |line: &String| line.starts_with('#');
        let of = |name| series(name).into_iter().filter(|line| !help(line)).collect::<Vec<_>>();
        assert_eq!(of("problems"), of("all-well"));
    }

    #[test]
    fn values_are_escaped() {
        assert_eq!(escaped("a\\b\"c\nd"), r#"a\\b\"c\nd"#);
        assert_eq!(escaped("a\u{1b}[31m"), r"a\\u{1b}[31m");
    }
}
