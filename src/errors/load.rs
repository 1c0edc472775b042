//! Reads the data files into entries.

use serde::Deserialize;

use super::entry::DocumentedError;

/// Every data file, as its area and its text.
pub const DATA: &[(&str, &str)] = &[
    ("auto-mode", include_str!("data/auto-mode.toml")),
    ("disruption", include_str!("data/disruption.toml")),
    ("identity", include_str!("data/identity.toml")),
    ("images", include_str!("data/images.toml")),
    ("install", include_str!("data/install.toml")),
    ("interruption", include_str!("data/interruption.toml")),
    ("join", include_str!("data/join.toml")),
    ("launch", include_str!("data/launch.toml")),
    ("network", include_str!("data/network.toml")),
    ("nodeclass", include_str!("data/nodeclass.toml")),
    ("permissions", include_str!("data/permissions.toml")),
    ("pods", include_str!("data/pods.toml")),
    ("pricing", include_str!("data/pricing.toml")),
    ("quotas", include_str!("data/quotas.toml")),
    ("scheduling", include_str!("data/scheduling.toml")),
    ("storage", include_str!("data/storage.toml")),
    ("versions", include_str!("data/versions.toml")),
    ("windows", include_str!("data/windows.toml")),
];

/// A data file that cannot be read. The tests rule this out for the files of a release.
#[derive(Debug, thiserror::Error)]
#[error("the error catalogue's file data/{area}.toml cannot be read: {fault}")]
pub struct LoadError {
    area: &'static str,
    fault: toml::de::Error,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    error: Vec<DocumentedError>,
}

/// All entries of all files, in the order of the files.
pub(super) fn entries() -> Result<Vec<DocumentedError>, LoadError> {
    let mut all = Vec::new();
    for &(area, text) in DATA {
        let file: File = toml::from_str(text).map_err(|fault| LoadError { area, fault })?;
        all.extend(file.error.into_iter().map(|mut entry| {
            area.clone_into(&mut entry.area);
            entry
        }));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn slug(text: &str) -> bool {
        text.split('-').all(|word| {
            !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        })
    }

    #[test]
    fn ids_are_slugs_and_used_once() {
        let entries = entries().unwrap();
        let ids: BTreeSet<_> = entries.iter().map(|entry| &entry.id).collect();
        assert_eq!(ids.len(), entries.len());
        assert_eq!(ids.iter().filter(|id| !slug(id)).count(), 0);
    }

    #[test]
    fn every_id_that_an_entry_names_exists() {
        let entries = entries().unwrap();
        let ids: BTreeSet<_> = entries.iter().map(|entry| &entry.id).collect();
        for entry in &entries {
            for id in entry.follows.iter().chain(&entry.shares) {
                assert!(ids.contains(id), "{} names {id}", entry.id);
                assert_ne!(*id, entry.id);
            }
        }
    }

    #[test]
    fn every_entry_is_filled_in() {
        for entry in entries().unwrap() {
            let id = &entry.id;
            assert!(!entry.title.is_empty() && !entry.title.ends_with('.'), "{id}: title");
            assert!(!entry.printed.is_empty(), "{id}: printed");
            assert!(!entry.patterns.is_empty(), "{id}: patterns");
            assert!(!entry.causes.is_empty(), "{id}: causes");
            assert!(!entry.sources.is_empty(), "{id}: sources");
            assert!(entry.sources.iter().all(|url| url.starts_with("https://")), "{id}: sources");
            for cause in &entry.causes {
                for text in [&cause.text, &cause.signs, &cause.fix] {
                    assert!(text.ends_with('.') || text.ends_with('`'), "{id}: {text}");
                }
                for check in cause.checks.iter().chain(&cause.planned_checks) {
                    assert!(slug(check), "{id}: {check}");
                }
            }
        }
    }

    #[test]
    fn version_ranges_are_versions() {
        for entry in entries().unwrap() {
            for version in entry.since.iter().chain(&entry.until) {
                let parts =
                    version.split('.').map(str::parse::<u16>).collect::<Result<Vec<_>, _>>();
                assert_eq!(parts.map(|parts| parts.len()), Ok(3), "{}: {version}", entry.id);
            }
        }
    }

    #[test]
    fn follow_ups_form_no_circle() {
        let entries = entries().unwrap();
        let follows = |id: &str| {
            entries.iter().find(|entry| entry.id == id).map(|entry| &entry.follows).unwrap()
        };
        for entry in &entries {
            let mut reached = BTreeSet::new();
            let mut open: Vec<&str> = entry.follows.iter().map(String::as_str).collect();
            while let Some(id) = open.pop() {
                assert_ne!(id, entry.id, "{} follows itself", entry.id);
                if reached.insert(id) {
                    open.extend(follows(id).iter().map(String::as_str));
                }
            }
        }
    }
}
