//! Reads the data files into entries.

use memchr::memmem;
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

/// The line with which each entry begins.
const BEGINNING: &str = "[[error]]";

/// An entry as it stands in its file. Reading all of them as TOML takes longer than an answer
/// about one line may: each is read when it is wanted, and only its patterns before.
#[derive(Debug, Clone, Copy)]
pub(super) struct Written {
    area: &'static str,
    text: &'static str,
}

/// All entries of all files, in the order of the files.
pub(super) fn written() -> impl Iterator<Item = Written> {
    DATA.iter().flat_map(|&(area, text)| {
        let found = memmem::find_iter(text.as_bytes(), BEGINNING);
        let starts: Vec<usize> = found.chain([text.len()]).collect();
        let whole = move |place: &[usize]| Written { area, text: &text[place[0]..place[1]] };
        starts.windows(2).map(whole).collect::<Vec<_>>()
    })
}

/// A file of the catalogue, or a part of one.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    error: Vec<DocumentedError>,
}

#[derive(Deserialize)]
struct Patterns {
    patterns: Vec<String>,
}

impl Written {
    /// The first key of each entry.
    pub fn id(self) -> &'static str {
        let (_, rest) = self.text.split_once("id = \"").unwrap_or_default();
        rest.split('"').next().unwrap_or_default()
    }

    /// The entry. The tests prove that each can be read.
    pub fn read(self) -> Option<DocumentedError> {
        let file: File = toml::from_str(self.text).ok()?;
        let entry = file.error.into_iter().next()?;
        Some(DocumentedError { area: self.area.to_owned(), ..entry })
    }

    /// Nothing but the patterns; what follows them is indented or ends their list.
    pub fn patterns(self) -> Vec<String> {
        let start = memmem::find(self.text.as_bytes(), b"\npatterns = ").map_or(0, |at| at + 1);
        let lines = self.text[start..].split_inclusive('\n');
        let is_more = |line: &&str| line.starts_with([' ', ']']);
        let more: usize = lines.skip(1).take_while(is_more).map(str::len).sum();
        let first = self.text[start..].find('\n').map_or(0, |at| at + 1);
        let list = toml::from_str(&self.text[start..start + first + more]);
        list.map(|Patterns { patterns }| patterns).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn entries() -> Vec<DocumentedError> {
        written().map(|entry| entry.read().unwrap()).collect()
    }

    #[test]
    fn an_entry_cut_out_is_the_entry_in_its_file() {
        let mut cut = written();
        for &(area, text) in DATA {
            let file: File = toml::from_str(text).unwrap();
            for entry in file.error {
                let cut = cut.next().unwrap();
                assert_eq!((cut.id(), cut.patterns()), (&*entry.id, entry.patterns.clone()));
                assert_eq!(cut.read().unwrap(), DocumentedError { area: area.into(), ..entry });
            }
        }
        assert!(cut.next().is_none());
    }

    fn slug(text: &str) -> bool {
        text.split('-').all(|word| {
            !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        })
    }

    #[test]
    fn ids_are_slugs_and_used_once() {
        let entries = entries();
        let ids: BTreeSet<_> = entries.iter().map(|entry| &entry.id).collect();
        assert_eq!(ids.len(), entries.len());
        assert_eq!(ids.iter().filter(|id| !slug(id)).count(), 0);
    }

    #[test]
    fn every_id_that_an_entry_names_exists() {
        let entries = entries();
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
        for entry in entries() {
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
        for entry in entries() {
            for version in entry.since.iter().chain(&entry.until) {
                let parts =
                    version.split('.').map(str::parse::<u16>).collect::<Result<Vec<_>, _>>();
                assert_eq!(parts.map(|parts| parts.len()), Ok(3), "{}: {version}", entry.id);
            }
        }
    }

    #[test]
    fn follow_ups_form_no_circle() {
        let entries = entries();
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
