//! Which Kubernetes versions a Karpenter release is meant for.

use std::{fmt, str::FromStr, sync::LazyLock};

use serde::{Deserialize, Serialize};

use super::load::{About, embedded};
use super::range::VersionRanges;
use super::version::KarpenterVersion;
use super::versions::{judged_as, minors};

/// A Kubernetes minor version, as `eks:DescribeCluster` gives it: `1.33`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct KubernetesVersion {
    pub major: u16,
    pub minor: u16,
}

/// The Kubernetes versions, both ends included, of one Karpenter release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KubernetesRange {
    pub min: KubernetesVersion,
    /// The newest one of the published compatibility matrix.
    pub max: KubernetesVersion,
    /// The newest one that the controller's own check accepts without logging an error: lower
    /// than `max` in the first patches of 1.6 and 1.7.
    pub checked_max: KubernetesVersion,
}

impl KubernetesRange {
    pub fn contains(&self, version: KubernetesVersion) -> bool {
        self.min <= version && version <= self.max
    }
}

/// The Kubernetes versions that `version` is meant for. Being outside of them does not stop
/// the controller: it logs an error, and is untested there.
pub fn range(version: KarpenterVersion) -> KubernetesRange {
    let judged = judged_as(version);
    let found = FILE.range.iter().find(|row| row.versions.contains(judged));
    // A test proves that every known version has a row.
    let row = found.unwrap_or(&FILE.range[FILE.range.len() - 1]);
    KubernetesRange { min: row.min, max: row.max, checked_max: row.checked_max.unwrap_or(row.max) }
}

/// The oldest known Karpenter release meant for this Kubernetes version, if there is one.
pub fn oldest_supporting(version: KubernetesVersion) -> Option<KarpenterVersion> {
    let firsts = FILE.range.iter().filter(|row| row.min <= version && version <= row.max);
    firsts.filter_map(|row| row.versions.first()).min()
}

/// The newest known Karpenter release meant for this Kubernetes version, if there is one.
pub fn newest_supporting(version: KubernetesVersion) -> Option<KarpenterVersion> {
    let newest_first = minors().iter().rev().map(|minor| minor.newest);
    newest_first.into_iter().find(|karpenter| range(*karpenter).contains(version))
}

/// Where the data comes from.
pub fn about() -> &'static About {
    &FILE.about
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    about: About,
    range: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    versions: VersionRanges,
    min: KubernetesVersion,
    max: KubernetesVersion,
    checked_max: Option<KubernetesVersion>,
}

static FILE: LazyLock<File> =
    LazyLock::new(|| embedded(include_str!("../../policies/karpenter/kubernetes.toml")));

/// Why a text is not a Kubernetes version.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("`{0}` is not a Kubernetes version: write it like 1.33")]
pub struct NotAKubernetesVersion(String);

impl FromStr for KubernetesVersion {
    type Err = NotAKubernetesVersion;

    /// Reads `1.33`, `v1.33`, and the longer forms of a server: `1.33+`, `v1.33.2-eks-abc`.
    fn from_str(text: &str) -> Result<Self, NotAKubernetesVersion> {
        let bad = || NotAKubernetesVersion(text.to_owned());
        let bare = text.trim().trim_start_matches('v');
        let core = bare.split(['-', '+']).next().unwrap_or_default();
        let mut parts = core.split('.').map(|part| part.parse::<u16>().map_err(|_| bad()));
        let major = parts.next().ok_or_else(bad)??;
        let minor = parts.next().ok_or_else(bad)??;
        parts.try_for_each(|part| part.map(drop))?;
        Ok(Self { major, minor })
    }
}

impl fmt::Display for KubernetesVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl From<KubernetesVersion> for String {
    fn from(version: KubernetesVersion) -> Self {
        version.to_string()
    }
}

impl TryFrom<String> for KubernetesVersion {
    type Error = NotAKubernetesVersion;

    fn try_from(text: String) -> Result<Self, NotAKubernetesVersion> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn k8s(text: &str) -> KubernetesVersion {
        text.parse().unwrap()
    }

    #[test]
    fn every_known_release_has_exactly_one_row() {
        about().assert_sound();
        for minor in minors() {
            for patch in minor.first.patch..=minor.newest.patch {
                let version = KarpenterVersion { patch, ..minor.first };
                let rows = FILE.range.iter().filter(|row| row.versions.contains(version));
                assert_eq!(rows.count(), 1, "{version}");
            }
        }
        for row in &FILE.range {
            assert!(row.min <= row.max);
            assert!(row.checked_max.is_none_or(|checked| checked < row.max));
        }
    }

    #[test]
    fn ranges_follow_the_published_matrix() {
        for (karpenter, min, max, checked_max) in [
            ("0.32.0", "1.23", "1.28", "1.28"),
            ("1.0.4", "1.25", "1.30", "1.30"),
            ("1.0.5", "1.25", "1.31", "1.31"),
            ("1.6.5", "1.26", "1.34", "1.33"),
            ("1.7.4", "1.26", "1.34", "1.34"),
            ("1.14.1", "1.26", "1.36", "1.36"),
            ("1.20.0", "1.26", "1.36", "1.36"),
        ] {
            let expected =
                KubernetesRange { min: k8s(min), max: k8s(max), checked_max: k8s(checked_max) };
            assert_eq!(range(karpenter.parse().unwrap()), expected, "{karpenter}");
        }
    }

    #[test]
    fn the_first_and_last_release_for_a_cluster() {
        for (cluster, oldest, newest) in [
            ("1.22", None, None),
            ("1.24", Some("0.32.0"), Some("0.37.8")),
            ("1.30", Some("0.37.0"), Some("1.14.1")),
            ("1.31", Some("1.0.5"), Some("1.14.1")),
            ("1.34", Some("1.6.0"), Some("1.14.1")),
            ("1.36", Some("1.13.0"), Some("1.14.1")),
            ("1.37", None, None),
        ] {
            let release = |text: Option<&str>| text.map(|t| t.parse().unwrap());
            assert_eq!(oldest_supporting(k8s(cluster)), release(oldest), "{cluster}");
            assert_eq!(newest_supporting(k8s(cluster)), release(newest), "{cluster}");
        }
    }

    #[test]
    fn reads_what_clusters_report() {
        for text in ["1.33", "v1.33", "1.33+", "v1.33.2-eks-1a2b3c4"] {
            assert_eq!(k8s(text), KubernetesVersion { major: 1, minor: 33 }, "{text}");
        }
        for text in ["", "1", "latest", "1.x", "1.33.beta"] {
            assert!(text.parse::<KubernetesVersion>().is_err(), "{text}");
        }
    }
}
