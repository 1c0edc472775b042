//! Ranges of Karpenter versions, in the notation of `policies/`.
//!
//! `0.32-0.37, 1.3.5-1.3, 1.7+`: both ends count, and an upper bound without a patch number
//! covers all the patches of its minor.

use std::str::FromStr;

use serde::Deserialize;

use super::version::KarpenterVersion;

/// One or more version ranges; a version is in it when any of them holds it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct VersionRanges(Vec<VersionRange>);

/// From one version to another, both included; `last` is `None` when the range is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VersionRange {
    pub first: KarpenterVersion,
    pub last: Option<KarpenterVersion>,
}

/// Why a text is not a list of version ranges.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("`{0}` is not a version range: write it like 0.32-0.37, 1.3.5-1.3 or 1.7+")]
pub struct NotARange(String);

impl VersionRanges {
    pub fn contains(&self, version: KarpenterVersion) -> bool {
        self.0.iter().any(|range| range.contains(version))
    }

    pub fn iter(&self) -> impl Iterator<Item = &VersionRange> {
        self.0.iter()
    }

    /// The oldest version in it.
    pub fn first(&self) -> Option<KarpenterVersion> {
        self.0.iter().map(|range| range.first).min()
    }
}

impl VersionRange {
    pub fn contains(&self, version: KarpenterVersion) -> bool {
        self.first <= version && self.last.is_none_or(|last| version <= last)
    }
}

impl FromStr for VersionRanges {
    type Err = NotARange;

    fn from_str(text: &str) -> Result<Self, NotARange> {
        text.split(',').map(|part| part.trim().parse()).collect::<Result<_, _>>().map(Self)
    }
}

impl FromStr for VersionRange {
    type Err = NotARange;

    fn from_str(text: &str) -> Result<Self, NotARange> {
        let bad = || NotARange(text.to_owned());
        let lower = |part: &str| part.parse::<KarpenterVersion>().map_err(|_| bad());
        let upper = |part: &str| {
            let version = lower(part)?;
            let whole_minor = part.matches('.').count() == 1;
            let patch = if whole_minor { u16::MAX } else { version.patch };
            Ok(KarpenterVersion { patch, ..version })
        };
        let (first, last) = match (text.strip_suffix('+'), text.split_once('-')) {
            (Some(first), _) => (lower(first)?, None),
            (None, Some((first, last))) => (lower(first)?, Some(upper(last)?)),
            (None, None) => (lower(text)?, Some(upper(text)?)),
        };
        if last.is_some_and(|last| last < first) {
            return Err(bad());
        }
        Ok(Self { first, last })
    }
}

impl TryFrom<String> for VersionRanges {
    type Error = NotARange;

    fn try_from(text: String) -> Result<Self, NotARange> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_what_it_says() {
        for (range, inside, outside) in [
            ("0.32-0.37", vec!["0.32.0", "0.37.99"], vec!["0.31.9", "1.0.0"]),
            ("1.7+", vec!["1.7.0", "2.0.0"], vec!["1.6.9"]),
            ("1.0", vec!["1.0.0", "1.0.14"], vec!["1.1.0"]),
            ("1.6.2", vec!["1.6.2"], vec!["1.6.1", "1.6.3"]),
            ("1.3.5-1.3, 1.7+", vec!["1.3.5", "1.3.8", "1.8.0"], vec!["1.3.4", "1.4.0"]),
        ] {
            let ranges: VersionRanges = range.parse().unwrap();
            for text in inside {
                assert!(ranges.contains(text.parse().unwrap()), "{text} is in {range}");
            }
            for text in outside {
                assert!(!ranges.contains(text.parse().unwrap()), "{text} is not in {range}");
            }
        }
        for text in ["", "1.7-1.6", "1.0-", "newest", "1.0,"] {
            assert!(text.parse::<VersionRanges>().is_err(), "{text}");
        }
    }
}
