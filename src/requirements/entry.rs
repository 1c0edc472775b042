//! The request entries of the data files, and how they become requests.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::feature::Feature;
use super::fill::Values;
use super::load::{About, embedded};
use super::range::VersionRanges;
use super::request::{Consequence, Request};
use super::setup::Setup;
use super::version::KarpenterVersion;

/// One data file of requests.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestFile {
    pub about: About,
    /// Condition keys that every request of the file is sent with.
    #[serde(default)]
    pub context: BTreeMap<String, String>,
    #[serde(rename = "request")]
    pub entries: Vec<Entry>,
}

/// One action asked of one or more kinds of resources.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    pub id: String,
    pub action: String,
    /// Names of `resources.toml`.
    pub on: Vec<String>,
    /// Every version when it is left out.
    pub versions: Option<VersionRanges>,
    #[serde(default)]
    pub when: Vec<Feature>,
    /// The partitions in which it is not asked.
    #[serde(default)]
    pub not_in: Vec<String>,
    /// Names of sets of `tags.toml`.
    pub request_tags: Option<String>,
    pub resource_tags: Option<String>,
    #[serde(default)]
    pub context: BTreeMap<String, String>,
    pub consequence: Consequence,
    pub errors: Vec<String>,
    #[serde(default)]
    pub note: String,
    pub source: String,
}

/// A kind of resource.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resource {
    pub name: String,
    pub arn: String,
    #[serde(default)]
    pub unknown: Vec<String>,
    #[serde(default)]
    pub stand_in: bool,
}

/// A named set of tags.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TagSet {
    pub name: String,
    #[serde(default)]
    pub user: bool,
    pub tags: Vec<Tag>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tag {
    pub key: String,
    pub value: String,
    pub versions: Option<VersionRanges>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResourceFile {
    pub about: About,
    pub resource: Vec<Resource>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TagFile {
    pub about: About,
    pub set: Vec<TagSet>,
}

/// Every kind of resource that an entry may name.
pub static RESOURCES: LazyLock<[ResourceFile; 3]> = LazyLock::new(|| {
    [
        embedded(include_str!("../../policies/karpenter/resources.toml")),
        embedded(include_str!("../../policies/auto-mode/resources.toml")),
        embedded(include_str!("../../policies/node/resources.toml")),
    ]
});

/// Every set of tags that an entry may name.
pub static TAGS: LazyLock<[TagFile; 2]> = LazyLock::new(|| {
    [
        embedded(include_str!("../../policies/karpenter/tags.toml")),
        embedded(include_str!("../../policies/auto-mode/tags.toml")),
    ]
});

pub fn resource(name: &str) -> Option<&'static Resource> {
    RESOURCES.iter().flat_map(|file| &file.resource).find(|resource| resource.name == name)
}

pub fn tag_set(name: &str) -> Option<&'static TagSet> {
    TAGS.iter().flat_map(|file| &file.set).find(|set| set.name == name)
}

/// The requests of this file that `version` makes in this set-up.
pub fn requests(file: &RequestFile, version: KarpenterVersion, setup: &Setup) -> Vec<Request> {
    let values = Values::new(version, setup);
    let asked = file.entries.iter().filter(|entry| entry.is_asked(version, setup));
    let mut requests: Vec<_> =
        asked.flat_map(|entry| entry.requests(version, setup, &values)).collect();
    for (key, value) in &file.context {
        for request in &mut requests {
            request.context.insert(key.clone(), values.fill(value));
        }
    }
    requests
}

impl Entry {
    fn is_asked(&self, version: KarpenterVersion, setup: &Setup) -> bool {
        self.versions.as_ref().is_none_or(|ranges| ranges.contains(version))
            && setup.uses(&self.when)
            && !self.not_in.contains(&setup.partition)
    }

    fn requests(
        &self,
        version: KarpenterVersion,
        setup: &Setup,
        values: &Values,
    ) -> impl Iterator<Item = Request> {
        let tags = |set: &Option<String>| tags(set.as_deref(), version, setup, values);
        let request_tags = tags(&self.request_tags);
        let resource_tags = tags(&self.resource_tags);
        let kinds = self.on.iter().filter_map(|name| resource(name));
        let asked = kinds
            .flat_map(|kind| values.fill_all(&kind.arn).into_iter().map(move |arn| (kind, arn)));
        asked.map(move |(kind, resource)| Request {
            id: self.id_on(kind),
            action: self.action.clone(),
            stand_in: kind.stand_in
                && (values.is_made_up(&kind.arn) || !kind.arn.starts_with("${")),
            context: self.context(kind, &resource, setup, values),
            resource,
            request_tags: request_tags.clone(),
            resource_tags: resource_tags.clone(),
            unknown: kind.unknown.clone(),
            when: self.when.clone(),
            consequence: self.consequence,
            errors: self.errors.clone(),
            note: self.note.clone(),
            source: self.source.clone(),
        })
    }

    /// An entry for several kinds of resources gives each request the name of its kind.
    fn id_on(&self, kind: &Resource) -> String {
        match self.on.as_slice() {
            [_] => self.id.clone(),
            _ => format!("{}-{}", self.id, kind.name.trim_start_matches("new-")),
        }
    }

    fn context(
        &self,
        kind: &Resource,
        resource: &str,
        setup: &Setup,
        values: &Values,
    ) -> BTreeMap<String, String> {
        let mut context = BTreeMap::from([
            ("aws:RequestedRegion".to_owned(), setup.region.clone()),
            ("aws:SecureTransport".to_owned(), "true".to_owned()),
        ]);
        if self.action.starts_with("ec2:") {
            context.insert("ec2:Region".to_owned(), setup.region.clone());
        }
        let owner = resource.split(':').nth(4).filter(|owner| !owner.is_empty());
        if let Some(owner) = owner
            && !kind.unknown.iter().any(|key| key == "aws:ResourceAccount")
        {
            context.insert("aws:ResourceAccount".to_owned(), owner.to_owned());
        }
        let own = self.context.iter().map(|(key, value)| (key.clone(), values.fill(value)));
        context.extend(own);
        context
    }
}

fn tags(
    name: Option<&str>,
    version: KarpenterVersion,
    setup: &Setup,
    values: &Values,
) -> BTreeMap<String, String> {
    let Some(set) = name.and_then(tag_set) else { return BTreeMap::new() };
    // Karpenter's own tags win over the user's of the same name.
    let mut tags = if set.user { setup.tags.clone() } else { BTreeMap::new() };
    let sent = set
        .tags
        .iter()
        .filter(|tag| tag.versions.as_ref().is_none_or(|ranges| ranges.contains(version)));
    tags.extend(sent.map(|tag| (values.fill(&tag.key), values.fill(&tag.value))));
    tags
}
