//! Tags that were meant to be the discovery tag, and are not.

use std::collections::{BTreeMap, BTreeSet};

use super::may_take;
use crate::{checks::remedies::listed, target::Tag};

/// Edits between two words that are still taken for a slip of the pen.
const SLIP: usize = 1;

/// Letters below which one edit makes another word: `dev1` is not a slip of `dev2`.
const LONG: usize = 5;

/// What is tagged: an id and its tags.
pub type Tagged<'a> = (&'a str, &'a BTreeMap<String, String>);

/// Near misses, in words and by id.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct NearMisses {
    /// `subnet-01 and subnet-02 have Karpenter.sh/discovery=demo (…)`, one for each tag.
    pub words: Vec<String>,
    /// Those that carry the right value under a wrong key, or the right value but for case and
    /// spaces: the ones that were meant. A value that differs in a letter is not meant, because
    /// it may be another cluster's: `payments-2` beside `payments-1`.
    pub meant: Vec<String>,
}

/// The tags of `all` that come close to `wanted` without being it.
pub fn near_misses<'a>(wanted: &Tag, all: impl Iterator<Item = Tagged<'a>>) -> NearMisses {
    let mut by_tag: BTreeMap<(&str, &str, String, bool), Vec<&str>> = BTreeMap::new();
    for (id, tags) in all {
        for (key, value) in tags {
            if let Some((why, meant)) = slip(wanted, key, value) {
                let meant = meant && may_take(wanted, tags);
                by_tag.entry((key, value, why, meant)).or_default().push(id);
            }
        }
    }
    let mut meant = BTreeSet::new();
    let mut words = Vec::new();
    for ((key, value, why, is_meant), ids) in by_tag {
        let have = if ids.len() == 1 { "has" } else { "have" };
        words.push(format!("{} {have} {} ({why})", listed(&ids), shown(key, value)));
        if is_meant {
            meant.extend(ids.into_iter().map(str::to_owned));
        }
    }
    NearMisses { words, meant: meant.into_iter().collect() }
}

/// Why a tag comes close, and whether its bearer was surely meant.
fn slip(wanted: &Tag, key: &str, value: &str) -> Option<(String, bool)> {
    let value_fits = wanted.value.as_deref().is_none_or(|wanted| wanted == value);
    if key != wanted.key {
        return Some((format!("the key {}", difference(&wanted.key, key)?), value_fits));
    }
    let wanted = wanted.value.as_deref().filter(|_| !value_fits)?;
    Some(match difference(wanted, value) {
        Some(why) => (format!("the value {why}"), is_same_word(wanted, value)),
        None => ("another value, as another cluster would have".to_owned(), false),
    })
}

/// Whether they differ at most in case and in spaces around them.
pub fn is_same_word(wanted: &str, found: &str) -> bool {
    found.trim().eq_ignore_ascii_case(wanted)
}

fn difference(wanted: &str, found: &str) -> Option<&'static str> {
    if found.trim() == wanted {
        Some("has a space too many")
    } else if is_same_word(wanted, found) {
        Some("differs in case")
    } else if wanted.chars().count() >= LONG && strsim::osa_distance(wanted, found) <= SLIP {
        Some("is one letter off")
    } else {
        None
    }
}

/// The tag, with quotes where a space would not be seen.
fn shown(key: &str, value: &str) -> String {
    if key.contains(char::is_whitespace) || value.contains(char::is_whitespace) {
        format!("`{key}`=`{value}`")
    } else {
        format!("{key}={value}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_what_was_meant() {
        let wanted: Tag = "karpenter.sh/discovery=production".parse().unwrap();
        for (key, value, words, meant) in [
            (
                "Karpenter.sh/Discovery",
                "production",
                "a has Karpenter.sh/Discovery=production (the key differs in case)",
                true,
            ),
            (
                "karpenter.sh/dicovery",
                "production",
                "a has karpenter.sh/dicovery=production (the key is one letter off)",
                true,
            ),
            (
                "karpenter.sh/discovery ",
                "production",
                "a has `karpenter.sh/discovery `=`production` (the key has a space too many)",
                true,
            ),
            (
                "karpenter.sh/discovery",
                "Production",
                "a has karpenter.sh/discovery=Production (the value differs in case)",
                true,
            ),
            (
                "karpenter.sh/discovery",
                "prodution",
                "a has karpenter.sh/discovery=prodution (the value is one letter off)",
                false,
            ),
            (
                "karpenter.sh/discovery",
                "staging",
                "a has karpenter.sh/discovery=staging (another value, as another cluster would have)",
                false,
            ),
            (
                "karpenter.sh/Discovery",
                "staging",
                "a has karpenter.sh/Discovery=staging (the key differs in case)",
                false,
            ),
        ] {
            let tags = BTreeMap::from([(key.to_owned(), value.to_owned())]);
            let found = near_misses(&wanted, [("a", &tags)].into_iter());
            assert_eq!(found.words, [words]);
            assert_eq!(found.meant.is_empty(), !meant, "{words}");
        }
    }

    #[test]
    fn leaves_other_tags_alone() {
        let wanted: Tag = "karpenter.sh/discovery=demo".parse().unwrap();
        for (key, value) in [("Name", "demo"), ("karpenter.sh/discovery", "demo"), ("x", "y")] {
            let tags = BTreeMap::from([(key.to_owned(), value.to_owned())]);
            assert_eq!(near_misses(&wanted, [("a", &tags)].into_iter()), NearMisses::default());
        }
        let any: Tag = "karpenter.sh/discovery".parse().unwrap();
        let tags = BTreeMap::from([("Karpenter.sh/discovery".to_owned(), "x".to_owned())]);
        assert_eq!(near_misses(&any, [("a", &tags)].into_iter()).meant, ["a"]);
    }

    #[test]
    fn another_clusters_tag_is_not_meant() {
        let wanted: Tag = "karpenter.sh/discovery=payments-1".parse().unwrap();
        for tags in [
            vec![("karpenter.sh/discovery", "payments-2")],
            // The right value under a wrong key, but the right key is taken.
            vec![("Karpenter.sh/discovery", "payments-1"), ("karpenter.sh/discovery", "orders")],
        ] {
            let tags = tags.into_iter().map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
            let found = near_misses(&wanted, [("a", &tags)].into_iter());
            assert!(!found.words.is_empty() && found.meant.is_empty(), "{found:?}");
        }
    }

    #[test]
    fn short_values_are_not_one_letter_off() {
        let wanted: Tag = "karpenter.sh/discovery=dev".parse().unwrap();
        let tags = BTreeMap::from([("karpenter.sh/discovery".to_owned(), "de2".to_owned())]);
        assert!(near_misses(&wanted, [("a", &tags)].into_iter()).meant.is_empty());
    }
}
