//! The request context: what is known about each condition key.

use std::collections::BTreeMap;

/// Condition keys and their values. Keys are compared without regard to case. A key that is
/// never mentioned is absent from the request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Context {
    entries: BTreeMap<String, Entry>,
    /// Lower-case beginnings of keys that are unknown unless mentioned.
    unknown_prefixes: Vec<String>,
}

/// What is known about one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// The key is sent with this one value.
    Value(String),
    /// The key holds a list, as `aws:TagKeys` does. It may be empty.
    List(Vec<String>),
    /// The key is not part of the request.
    Absent,
    /// Nobody knows whether the key is sent, nor with which value.
    Unknown,
}

impl Context {
    pub fn new() -> Context {
        Context::default()
    }

    /// Puts `entry` in the place of whatever was known about `key`.
    pub fn set(&mut self, key: &str, entry: Entry) {
        self.entries.insert(key.to_ascii_lowercase(), entry);
    }

    /// Like [`Context::set`], but leaves a key alone that was mentioned already.
    pub fn set_default(&mut self, key: &str, entry: Entry) {
        self.entries.entry(key.to_ascii_lowercase()).or_insert(entry);
    }

    /// Declares unknown every key that begins with `prefix` (such as `aws:PrincipalTag/`)
    /// and is not mentioned itself.
    pub fn unknown_prefix(&mut self, prefix: &str) {
        self.unknown_prefixes.push(prefix.to_ascii_lowercase());
    }

    /// Takes [`Context::unknown_prefix`] back.
    pub fn known_prefix(&mut self, prefix: &str) {
        let prefix = prefix.to_ascii_lowercase();
        self.unknown_prefixes.retain(|unknown| *unknown != prefix);
    }

    /// What is known about `key`, whatever its case.
    pub fn get(&self, key: &str) -> &Entry {
        self.find(&key.to_ascii_lowercase())
    }

    /// What is known about `key`, which is in lower case already.
    pub(crate) fn find(&self, key: &str) -> &Entry {
        match self.entries.get(key) {
            Some(entry) => entry,
            None if self.unknown_prefixes.iter().any(|p| key.starts_with(p.as_str())) => {
                &Entry::Unknown
            }
            None => &Entry::Absent,
        }
    }
}

impl From<&str> for Entry {
    fn from(value: &str) -> Entry {
        Entry::Value(value.to_owned())
    }
}

impl From<String> for Entry {
    fn from(value: String) -> Entry {
        Entry::Value(value)
    }
}

impl From<Vec<String>> for Entry {
    fn from(values: Vec<String>) -> Entry {
        Entry::List(values)
    }
}

impl<const N: usize> From<[&str; N]> for Entry {
    fn from(values: [&str; N]) -> Entry {
        Entry::List(values.iter().map(|&v| v.to_owned()).collect())
    }
}

impl Entry {
    /// The values sent: one, several or none.
    pub(crate) fn values(&self) -> &[String] {
        match self {
            Entry::Value(value) => std::slice::from_ref(value),
            Entry::List(values) => values,
            Entry::Absent | Entry::Unknown => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_no_case_and_prefixes_yield_to_mentions() {
        let mut context = Context::new();
        context.set("aws:ResourceTag/Team", "a".into());
        context.unknown_prefix("aws:PrincipalTag/");
        context.set("aws:PrincipalTag/known", Entry::Absent);
        assert_eq!(context.get("AWS:resourcetag/TEAM"), &Entry::from("a"));
        assert_eq!(context.get("aws:principaltag/other"), &Entry::Unknown);
        assert_eq!(context.get("aws:PrincipalTag/Known"), &Entry::Absent);
        assert_eq!(context.get("aws:SourceIp"), &Entry::Absent);
        context.known_prefix("AWS:PrincipalTag/");
        assert_eq!(context.get("aws:principaltag/other"), &Entry::Absent);
    }
}
