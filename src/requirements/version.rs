//! Karpenter versions: parsing, the range this tool knows, and their Kubernetes range.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// A Karpenter version, always with all three parts (`1.6` is read as `1.6.0`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct KarpenterVersion {
    pub major: u16,
    pub minor: u16,
    pub patch: u16,
}

impl KarpenterVersion {
    /// The oldest minor whose requirements are known.
    pub const OLDEST: Self = Self::new(0, 32, 0);
    /// The newest release whose requirements are known (tag v1.14.1, 2026-08-20).
    pub const NEWEST: Self = Self::new(1, 14, 1);

    pub const fn new(major: u16, minor: u16, patch: u16) -> Self {
        Self { major, minor, patch }
    }

    /// Whether this version is newer than every release whose requirements are known.
    pub fn is_newer_than_known(self) -> bool {
        (self.major, self.minor) > (Self::NEWEST.major, Self::NEWEST.minor)
    }
}

/// Why a text is not a Karpenter version.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("`{0}` is not a Karpenter version: write it like 1.6.2 or v1.6")]
pub struct NotAVersion(String);

impl FromStr for KarpenterVersion {
    type Err = NotAVersion;

    fn from_str(text: &str) -> Result<Self, NotAVersion> {
        let bad = || NotAVersion(text.to_owned());
        let bare = text.trim().trim_start_matches('v');
        // A pre-release or build suffix does not change what is asked of the account.
        let core = bare.split(['-', '+']).next().unwrap_or_default();
        let parts = core
            .split('.')
            .map(str::parse::<u16>)
            .collect::<Result<Vec<_>, _>>()
            .map_err(|_| bad())?;
        match parts[..] {
            [major, minor] => Ok(Self::new(major, minor, 0)),
            [major, minor, patch] => Ok(Self::new(major, minor, patch)),
            _ => Err(bad()),
        }
    }
}

impl fmt::Display for KarpenterVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl From<KarpenterVersion> for String {
    fn from(version: KarpenterVersion) -> Self {
        version.to_string()
    }
}

impl TryFrom<String> for KarpenterVersion {
    type Error = NotAVersion;

    fn try_from(text: String) -> Result<Self, NotAVersion> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_forms_people_write() {
        for (text, expected) in [
            ("1.6.2", (1, 6, 2)),
            ("v1.6.2", (1, 6, 2)),
            ("1.6", (1, 6, 0)),
            (" v0.37.8 ", (0, 37, 8)),
            ("1.15.0-rc.1", (1, 15, 0)),
        ] {
            let (major, minor, patch) = expected;
            assert_eq!(text.parse(), Ok(KarpenterVersion::new(major, minor, patch)), "{text}");
        }
        for text in ["", "latest", "1", "1.x", "1.2.3.4"] {
            assert!(text.parse::<KarpenterVersion>().is_err(), "{text}");
        }
    }
}
