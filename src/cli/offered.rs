//! Words that a shell offers for a flag whose value is judged by who knows its context.
//!
//! clap itself would take no other word, and list a hundred ids where one is mistyped.

use std::{ffi::OsStr, sync::LazyLock};

use clap::{
    Arg, Command, Error, ValueEnum,
    builder::{PossibleValue, TypedValueParser},
};

use crate::{
    checks::{self, Area},
    errors,
    report::Format,
    requirements::{Feature, versions},
};

/// A parser, and the words that completions offer beside it.
#[derive(Clone)]
pub struct Offered<P> {
    parser: P,
    words: fn() -> Vec<PossibleValue>,
}

/// Offers these words, and leaves it to the parser what is taken.
pub fn offered<P: TypedValueParser>(parser: P, words: fn() -> Vec<PossibleValue>) -> Offered<P> {
    Offered { parser, words }
}

impl<P: TypedValueParser> TypedValueParser for Offered<P> {
    type Value = P::Value;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<P::Value, Error> {
        self.parser.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.words)().into_iter()))
    }
}

/// The ids of the checks, with their titles.
pub fn checks() -> Vec<PossibleValue> {
    checks::ALL.iter().map(|check| PossibleValue::new(check.id).help(check.title)).collect()
}

/// The areas, and the ids of the checks.
pub fn checks_and_areas() -> Vec<PossibleValue> {
    let areas = Area::ALL.map(|area| PossibleValue::new(area.as_str()).help(area.title()));
    areas.into_iter().chain(checks()).collect()
}

/// Whatever `explain` knows by an id.
pub fn checks_and_errors() -> Vec<PossibleValue> {
    let errors = errors::catalogue().iter().map(|entry| PossibleValue::new(entry.id.as_str()));
    checks().into_iter().chain(errors).collect()
}

/// The areas of documented errors.
pub fn error_areas() -> Vec<PossibleValue> {
    let mut areas: Vec<_> = errors::catalogue().iter().map(|entry| entry.area.as_str()).collect();
    areas.sort_unstable();
    areas.dedup();
    areas.into_iter().map(PossibleValue::new).collect()
}

/// The formats of a report.
pub fn formats() -> Vec<PossibleValue> {
    Format::value_variants().iter().filter_map(ValueEnum::to_possible_value).collect()
}

/// The newest patch of each known Karpenter minor, the newest first.
pub fn karpenter_versions() -> Vec<PossibleValue> {
    static VERSIONS: LazyLock<Vec<String>> = LazyLock::new(|| {
        versions::minors().iter().rev().map(|minor| minor.newest.to_string()).collect()
    });
    VERSIONS.iter().map(|version| PossibleValue::new(version.as_str())).collect()
}

/// The features that `--uses` knows.
pub fn features() -> Vec<PossibleValue> {
    static NAMES: LazyLock<Vec<String>> = LazyLock::new(|| {
        let names = Feature::ALL.iter().filter_map(|feature| serde_json::to_value(feature).ok());
        names.filter_map(|name| name.as_str().map(str::to_owned)).collect()
    });
    let names = NAMES.iter().map(|name| PossibleValue::new(name.as_str()));
    names.chain([PossibleValue::new("all")]).collect()
}
