//! `docs/formats.md`: the names are those of the command line.

use clap::ValueEnum;

use crate::report::Format;

const INTRODUCTION: &str = "\
# Formats

<!-- Generated from src/report/; do not edit. -->

Every format shows the same report, and none but `terraform` changes the
[exit code](exit-codes.md).

| `--output` | what it is |
|---|---|
";

const REST: &str = "
Several at once, each to a place of its own:

```sh
karpenter-preflight check --cluster demo --output human --output sarif=out.sarif
```

A file is replaced whole or not at all; what is no file, such as a device, is written to. One that
cannot be written makes the exit code 4, and keeps no other output back. Colour is for terminals:
`NO_COLOR` and `CLICOLOR_FORCE` are heeded.

Reports for people say a cause once: subjects that differ only in their name stand together, of
many the first few are named and the rest is counted. The formats for programs keep every outcome.

- **short**: status, check, subject and what was seen, with a tab between them, the failed first.
  With `--baseline` what is new says so, and what is gone has a line that begins with `gone`; a
  waiver that fits nothing begins with `stale`. With `--all-clusters` the cluster is a fifth field.
  The last line holds the counts.
- **json**: by [schema](../schema/report.v1.json); with `--all-clusters` by
  [this one](../schema/reports.v1.json).
- **junit**: a suite an area, a case a check and subject. A fail is a failure, a warning is one
  with `--fail-on warn`, and an unknown is an error unless `--allow-unknown` is given.
- **sarif**: a run a cluster, a rule a check. Results are what a person must look at. The logical
  location is the ARN of the subject, and the cluster's where it has none; code scanning wants a file too, and gets `karpenter-preflight.toml`. A
  waived finding is suppressed.
- **markdown**: an overview in a table, then each finding with its evidence and how to mend it.
- **github**: annotations, of which GitHub shows ten errors and ten warnings a step; the whole report
  is added to the step summary.
- **prometheus**: write it where node_exporter's textfile collector reads it. Each check that ran has
  a series for each status, 0 included. A run that cannot read the account leaves the file as it
  was: alert on the age of `karpenter_preflight_last_success_timestamp_seconds`.
- **html**: fetches nothing, and its one script only copies commands. It prints well, in light and
  dark, and works without the script.
- **terraform**: the protocol of the `external` data source. The query on standard input holds what
  flags say, by the same names with `_`: `cluster`, `region`, `karpenter_version`, `node_roles` (a
  comma between them) and so on. The result is a flat map of strings: `ok`, `exit_code`, `verdict`,
  `problems` (one a line) and the counts. Since Terraform shows no result of a program that fails,
  findings and an incomplete run exit with 0 here; what makes the run impossible does not.
";

/// The page.
pub fn docs_formats() -> String {
    let row = |format: &Format| {
        let value = format.to_possible_value();
        let help = value.as_ref().and_then(|value| value.get_help()).map(ToString::to_string);
        format!("| `{}` | {} |\n", format.name(), help.unwrap_or_default())
    };
    let rows: String = Format::all().iter().map(row).collect();
    format!("{INTRODUCTION}{rows}{REST}")
}
