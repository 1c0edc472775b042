//! `docs/configuration.md`: the keys are those of the schema.

use std::fmt::Write;

use serde_json::Value;

const INTRODUCTION: &str = r#"# Configuration

<!-- Generated from src/config/; do not edit. -->

`karpenter-preflight.toml` is searched in the working directory and the folders above it.
`--config FILE` names another file, `--no-config` reads none. What a flag says too, the flag
decides. A key or an id that is not known is an error with its line.

```toml
# What holds for every cluster.
[target]
region = "us-west-2"
karpenter_version = "1.14.1"

[[cluster]]
name = "demo"

[[cluster]]
name = "prod"
region = "eu-west-1"
profile = "prod"
interruption_queue = "prod"

[thresholds]
free_addresses = 64
quota_headroom = 30

[severity]
subnets-zones = "fail"

[[waiver]]
check = "security-groups-discovered"
subject = "karpenter.sh/discovery=*"
reason = "our NodeClasses select by id"
owner = "team-a"
until = 2026-12-31
```

With one `[[cluster]]`, `check` needs no `--cluster`; with several, name one or give
`--all-clusters`. Then each has its own report, and the exit code is the worst of all: a cluster
that could not be read (4) before findings (1), and these before what is incomplete (3).

A [JSON Schema](../schema/config.v1.json) lets editors complete and check the file.

## Waivers

A finding that a `[[waiver]]` fits is *waived*: it is shown with the reason, and does not count.
Within a waiver everything must fit; of several waivers any will do. In a pattern `*` stands for
any text, and every other character for itself. After the last day of `until` the finding counts again and says so. A waiver that fits
nothing any more is reported, so that it can be taken out. An unknown can be waived like a finding.

```sh
karpenter-preflight waive subnets-zones --subject "*" --reason "one zone will do" --until 2999-12-31
```

adds one to the file and leaves all else as it was. Where there is one already for the same check,
subject and cluster, `--until` renews it in its place, also one that has expired. None is added twice,
and none for a cluster that the file does not name, if it names any.
"#;

/// The tables after the introduction: heading, and where in the schema its keys are.
const TABLES: [(&str, &str); 4] = [
    ("The file", ""),
    ("`[target]` and `[[cluster]]`", "/$defs/Cluster"),
    ("`[thresholds]`", "/$defs/Thresholds"),
    ("`[[waiver]]`", "/$defs/Waiver"),
];

/// The page.
pub fn page() -> String {
    let schema = serde_json::from_str(&super::schema_text()).unwrap_or_default();
    let mut page = INTRODUCTION.to_owned();
    for (heading, pointer) in TABLES {
        let _ = write!(page, "\n## {heading}\n\n| key | what it says |\n|---|---|\n");
        page += &rows(&schema, pointer);
    }
    page
}

fn rows(schema: &Value, pointer: &str) -> String {
    let properties = schema.pointer(&format!("{pointer}/properties")).and_then(Value::as_object);
    let row = |(key, property): (&String, &Value)| {
        let text = property["description"].as_str().unwrap_or_default().replace('\n', " ");
        format!("| `{key}` | {text} |\n")
    };
    properties.into_iter().flatten().map(row).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn every_key_is_described_and_the_example_is_one() {
        let page = page();
        for key in ["fail_on", "no_kube", "free_addresses", "until", "severity"] {
            assert!(page.contains(&format!("| `{key}` |")), "{key}\n{page}");
        }
        assert!(!page.contains("|  |"), "a key without a description\n{page}");
        let example = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
        let config = super::super::parse(example, Path::new("c.toml"));
        assert_eq!(config.map(|config| config.cluster.len()).map_err(|e| e.to_string()), Ok(2));
    }
}
