//! The formats by name.

use clap::ValueEnum;

/// How a report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    /// For people, with how to mend each problem.
    #[default]
    Human,
    /// One line a problem, for grep.
    Short,
    /// For programs, by `schema/report.v1.json`.
    Json,
    /// JUnit XML, for CI systems that show tests.
    Junit,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// For a pull request or a runbook.
    Markdown,
    /// Annotations and the step summary of GitHub Actions.
    Github,
    /// Metrics for Prometheus, in its text format.
    Prometheus,
    /// One self-contained page, to look at or to print.
    Html,
    /// A flat map of strings, for Terraform's `external` data source.
    Terraform,
}

impl Format {
    pub fn all() -> &'static [Self] {
        Self::value_variants()
    }

    /// The name on the command line.
    pub fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}
