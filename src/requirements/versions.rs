//! The Karpenter releases whose requirements are known.

use std::sync::LazyLock;

use serde::Deserialize;

use super::load::{About, embedded};
use super::version::KarpenterVersion;

/// A minor release line.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Minor {
    /// Its first release, always with patch 0.
    pub first: KarpenterVersion,
    /// The day of its first release, as YYYY-MM-DD.
    pub released: String,
    /// Its newest known patch release.
    pub newest: KarpenterVersion,
    /// The day of its newest patch release, as YYYY-MM-DD.
    pub updated: String,
}

/// Where the data comes from.
pub fn about() -> &'static About {
    &FILE.about
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    about: About,
    minor: Vec<Minor>,
}

static FILE: LazyLock<File> =
    LazyLock::new(|| embedded(include_str!("../../policies/karpenter/versions.toml")));

/// Every known minor, oldest first.
pub fn minors() -> &'static [Minor] {
    &FILE.minor
}

/// The version whose requirements stand for `version`: itself where it is known, the newest
/// known one for anything newer, the oldest for anything older.
pub fn judged_as(version: KarpenterVersion) -> KarpenterVersion {
    if version.is_newer_than_known() {
        KarpenterVersion::NEWEST
    } else {
        version.max(KarpenterVersion::OLDEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_agrees_with_the_constants() {
        about().assert_sound();
        assert_eq!(minors().len(), 21);
        assert_eq!(minors().first().map(|m| m.first), Some(KarpenterVersion::OLDEST));
        assert_eq!(minors().last().map(|m| m.newest), Some(KarpenterVersion::NEWEST));
        for pair in minors().windows(2) {
            assert!(pair[0].newest < pair[1].first, "{:?}", pair[1]);
            assert!(pair[0].released < pair[1].released, "{:?}", pair[1]);
        }
        for minor in minors() {
            assert_eq!(minor.first.patch, 0);
            let line = |v: KarpenterVersion| (v.major, v.minor);
            assert_eq!(line(minor.first), line(minor.newest));
            assert!(minor.released <= minor.updated);
        }
    }

    #[test]
    fn unknown_versions_are_judged_by_the_nearest_known() {
        for (asked, judged) in
            [("0.31.1", "0.32.0"), ("1.6.2", "1.6.2"), ("1.15.0", "1.14.1"), ("2.0.0", "1.14.1")]
        {
            assert_eq!(judged_as(asked.parse().unwrap()), judged.parse().unwrap(), "{asked}");
        }
    }
}
