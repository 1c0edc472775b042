//! `--output terraform`: the protocol of Terraform's `external` data source. The query on
//! standard input says what flags say, by the same names.

use std::{
    collections::BTreeMap,
    env,
    ffi::OsString,
    io::{self, Read},
    path::Path,
};

use clap::Parser;

use super::super::{Failure, selection::unknown_of};
use crate::cli::{CheckArgs, Cli, Command};

/// A query is small; more than this is none.
const LIMIT: u64 = 1 << 20;

/// Keys with one value.
const VALUES: [&str; 17] = [
    "cluster",
    "region",
    "profile",
    "assume_role",
    "timeout",
    "context",
    "karpenter_version",
    "product",
    "stage",
    "namespace",
    "service_account",
    "controller_role",
    "interruption_queue",
    "discovery_tag",
    "fail_on",
    "wait",
    "facts",
];
/// Keys with values that a comma parts.
const LISTS: [(&str, &str); 3] =
    [("node_roles", "--node-role"), ("select", "--select"), ("exclude", "--exclude")];
/// Keys that are `true` or `false`.
const SWITCHES: [&str; 2] = ["no_kube", "allow_unknown"];

/// The arguments again, with what the query says.
pub fn with_query() -> Result<CheckArgs, Failure> {
    let mut text = String::new();
    io::stdin()
        .take(LIMIT)
        .read_to_string(&mut text)
        .map_err(|error| Failure::Usage(format!("cannot read the query: {error}")))?;
    let arguments = env::args_os().chain(flags(&text).map_err(Failure::Usage)?);
    let cli = Cli::try_parse_from(arguments).map_err(|error| {
        let message = error.to_string();
        let message = message.lines().next().unwrap_or_default().trim_start_matches("error: ");
        Failure::Usage(format!("in the query: {message}"))
    })?;
    match cli.command {
        Command::Check(args) if args.facts.as_deref() == Some(Path::new("-")) => Err(
            Failure::Usage("standard input holds the query: give the facts as a file".to_owned()),
        ),
        Command::Check(args) => Ok(*args),
        _ => Err(Failure::Usage("--output terraform is for `check`".to_owned())),
    }
}

/// A query as flags. Terraform has no way to leave a key out, so an empty value says nothing.
fn flags(query: &str) -> Result<Vec<OsString>, String> {
    if query.trim().is_empty() {
        return Ok(Vec::new());
    }
    let query: BTreeMap<String, String> = serde_json::from_str(query).map_err(|error| {
        format!("standard input holds no query of Terraform's external data source: {error}")
    })?;
    let mut flags = Vec::new();
    for (key, value) in query.iter().filter(|(_, value)| !value.is_empty()) {
        let list = LISTS.iter().find(|(name, _)| name == key);
        let flag = format!("--{}", key.replace('_', "-"));
        match value.as_str() {
            _ if VALUES.contains(&key.as_str()) => flags.push(format!("{flag}={value}")),
            "true" if SWITCHES.contains(&key.as_str()) => flags.push(flag),
            "false" if SWITCHES.contains(&key.as_str()) => {}
            _ if SWITCHES.contains(&key.as_str()) => {
                return Err(format!("`{key}` in the query is `true` or `false`"));
            }
            _ => {
                let Some((_, flag)) = list else { return Err(unknown(key)) };
                flags.extend(value.split(',').map(|one| format!("{flag}={}", one.trim())));
            }
        }
    }
    Ok(flags.into_iter().map(OsString::from).collect())
}

fn unknown(key: &str) -> String {
    let lists = LISTS.iter().map(|(name, _)| *name);
    let known: Vec<_> = VALUES.into_iter().chain(lists).chain(SWITCHES).collect();
    unknown_of(key, "key of a query", &known, &format!("there are {}", known.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries() {
        for (query, expected) in [
            ("", Ok(vec![])),
            ("{}", Ok(vec![])),
            (
                r#"{"cluster": "demo", "region": "", "node_roles": "a, b", "no_kube": "true"}"#,
                Ok(vec!["--cluster=demo", "--no-kube", "--node-role=a", "--node-role=b"]),
            ),
            (r#"{"allow_unknown": "false"}"#, Ok(vec![])),
            (r#"{"allow_unknown": "yes"}"#, Err("is `true` or `false`")),
            (r#"{"cluser": "demo"}"#, Err("did you mean `cluster`?")),
            (r#"{"cluster": 1}"#, Err("no query of Terraform's")),
            ("[]", Err("no query of Terraform's")),
        ] {
            match (flags(query), expected) {
                (Ok(flags), Ok(expected)) => {
                    let expected: Vec<_> = expected.into_iter().map(OsString::from).collect();
                    assert_eq!(flags, expected, "{query}");
                }
                (Err(error), Err(says)) => assert!(error.contains(says), "{query}: {error}"),
                (found, _) => panic!("{query}: {found:?}"),
            }
        }
    }
}
