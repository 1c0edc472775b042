//! Reading the data files of `policies/`, which are built into the program.

use serde::de::DeserializeOwned;

/// Parses one embedded TOML file.
///
/// The text is a compile-time constant and every file is read by a test, so that a fault in it
/// is a fault of the build, never of a run.
#[expect(clippy::expect_used, reason = "the text is a compile-time constant that a test reads")]
pub(super) fn embedded<T: DeserializeOwned>(text: &'static str) -> T {
    toml::from_str(text).expect("the data files of policies/ are well-formed")
}

/// Parses one embedded JSON file, as [`embedded`] does TOML.
#[expect(clippy::expect_used, reason = "the text is a compile-time constant that a test reads")]
pub(super) fn embedded_json(text: &'static str) -> serde_json::Value {
    serde_json::from_str(text).expect("the data files of policies/ are well-formed")
}

/// Where the facts of one data file come from, and when they were last held against it.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// The day of the last comparison with the sources, as YYYY-MM-DD.
    pub checked: String,
    /// Public URLs, or `path@tag` in aws/karpenter-provider-aws.
    pub sources: Vec<String>,
}

#[cfg(test)]
impl About {
    /// Fails the test unless the sources and the date are there.
    pub(super) fn assert_sound(&self) {
        let parts: Vec<usize> = self.checked.split('-').map(str::len).collect();
        assert_eq!(parts, [4, 2, 2], "`{}` is not a date", self.checked);
        assert!(!self.sources.is_empty(), "no source is given");
        for source in &self.sources {
            assert!(source.starts_with("https://") || source.contains('@'), "{source}");
        }
    }
}
