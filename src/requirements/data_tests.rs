//! The request data is well-formed: sources, names, ranges, placeholders.

use std::collections::BTreeSet;

use super::controller::{controller, files};
use super::entry::{Entry, RequestFile, resource, tag_set};
use super::node::Capability;
use super::request::Consequence;
use super::setup::Setup;
use super::versions::minors;

fn all_files() -> impl Iterator<Item = &'static RequestFile> {
    let nodes = Capability::ALL.into_iter().map(super::node::file);
    files().iter().chain(nodes).chain(super::auto_mode::files()).chain([super::queue::file()])
}

fn entries() -> impl Iterator<Item = &'static Entry> {
    all_files().flat_map(|file| &file.entries)
}

fn is_slug(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

#[test]
fn every_entry_names_known_things_and_its_source() {
    for entry in entries() {
        let id = &entry.id;
        assert!(is_slug(id), "{id}");
        assert!(entry.source.starts_with("https://") || entry.source.contains('@'), "{id}");
        assert!(!entry.on.is_empty(), "{id}");
        for name in &entry.on {
            assert!(resource(name).is_some(), "{id}: {name}");
        }
        for name in [&entry.request_tags, &entry.resource_tags].into_iter().flatten() {
            assert!(tag_set(name).is_some(), "{id}: {name}");
        }
        // What only degrades may show as nothing that is documented.
        let shown = !entry.errors.is_empty() || entry.consequence == Consequence::Degrades;
        assert!(shown, "{id}");
        for error in &entry.errors {
            assert!(is_slug(error), "{id}: {error}");
        }
        let (service, operation) = entry.action.split_once(':').unwrap();
        assert!(is_slug(service) && operation.starts_with(char::is_uppercase), "{id}");
    }
}

#[test]
fn ranges_hold_known_versions_and_stay_open_at_the_new_end() {
    let newest = minors().last().unwrap();
    for entry in entries() {
        let Some(ranges) = &entry.versions else { continue };
        for range in ranges.iter() {
            assert!(minors()[0].first <= range.first, "{}", entry.id);
            assert!(range.last.is_none_or(|last| last < newest.first), "{}: write +", entry.id);
        }
    }
}

#[test]
fn ids_are_unique_and_nothing_is_left_to_fill() {
    let setup = Setup::new("aws", "eu-west-1", "111122223333", "prod").with_every_feature();
    for minor in minors() {
        for version in [minor.first, minor.newest] {
            let mut requests = controller(version, &setup);
            requests.extend(super::auto_mode(&setup));
            requests.extend(super::queue(&setup));
            requests.extend(Capability::ALL.iter().flat_map(|c| super::node(*c, &setup)));
            let ids: BTreeSet<_> = requests.iter().map(|r| &r.id).collect();
            assert_eq!(ids.len(), requests.len(), "{version}");
            for request in &requests {
                let text = serde_json::to_string(request).unwrap();
                assert!(!text.contains("${"), "{version} {text}");
            }
        }
    }
}

/// ≥ 1.0 sends `eks:eks-cluster-name`, before it was `karpenter.sh/managed-by`.
#[test]
fn tags_follow_the_version() {
    let setup = Setup::new("aws", "eu-west-1", "111122223333", "prod");
    for (version, sent, not_sent) in [
        ("0.37.8", "karpenter.sh/managed-by", "eks:eks-cluster-name"),
        ("1.0.0", "eks:eks-cluster-name", "karpenter.sh/managed-by"),
        ("1.14.1", "eks:eks-cluster-name", "karpenter.k8s.aws/cluster"),
    ] {
        for request in controller(version.parse().unwrap(), &setup) {
            if !request.id.starts_with("run-instances-instance")
                && !request.id.starts_with("create-launch")
            {
                continue;
            }
            let keys = &request.known_context()["aws:TagKeys"];
            assert!(keys.iter().any(|key| key == sent), "{version} {}", request.id);
            assert!(!keys.iter().any(|key| key == not_sent), "{version} {}", request.id);
        }
    }
}

#[test]
fn requests_follow_the_version_and_the_features() {
    let all = Setup::new("aws", "eu-west-1", "111122223333", "prod").with_every_feature();
    let mut bare = all.clone();
    bare.features.clear();
    let mut gov = all.clone();
    "aws-us-gov".clone_into(&mut gov.partition);
    for (setup, version, id, asked) in [
        (&all, "1.6.8", "list-instance-profiles", false),
        (&all, "1.8.3", "list-instance-profiles", true),
        (&all, "1.7.0", "list-instance-profiles-in-any-vpc", true),
        (&bare, "1.8.2", "list-instance-profiles-in-any-vpc", true),
        (&bare, "1.8.3", "list-instance-profiles", false),
        (&all, "0.32.3", "describe-availability-zones", true),
        (&all, "0.32.4", "describe-availability-zones", false),
        (&all, "1.3.8", "get-queue-url-at-start", true),
        (&all, "1.4.0", "get-queue-url-at-start", false),
        (&all, "1.4.0", "get-queue-url", true),
        (&bare, "1.14.1", "get-queue-url", false),
        (&bare, "1.14.1", "describe-instance-status", true),
        (&all, "1.11.3", "describe-instance-status", false),
        (&all, "1.0.14", "tag-old-instance-profile", true),
        (&all, "1.1.0", "tag-old-instance-profile", false),
        (&all, "1.7.0", "get-prices", true),
        (&gov, "1.7.0", "get-prices", false),
        (&gov, "1.6.8", "get-prices-any-partition", true),
        (&all, "1.99.0", "get-managed-resource", true),
    ] {
        let requests = controller(version.parse().unwrap(), setup);
        assert_eq!(requests.iter().any(|r| r.id == id), asked, "{version} {id}");
    }
}
