//! Images, instance types, placement groups and capacity reservations (EC2).

use std::collections::{BTreeMap, BTreeSet};

use aws_sdk_ec2::types;
use jiff::Timestamp;

use super::{Aws, ec2::filter, owned};
use crate::{
    facts::{
        Fact,
        ec2::{CapacityReservation, Image, ImageVolume, PlacementGroup, Snapshot},
        kubernetes::node_class::SelectorTerm,
        selected::ImageQuery,
    },
    target::selector,
};

const IMAGES: &str = "ec2:DescribeImages";
const PAGE: i32 = 1000;

/// How many images of one architecture are kept of those that a name or tags select: patterns
/// match every release of a family, and Karpenter takes the first.
const KEPT: usize = 3;

impl Aws {
    /// Images by id, in one call; one that EC2 does not show is absent. Disabled and deprecated
    /// ones are shown too, so that it can be said why Karpenter does not take them.
    pub async fn images(&self, ids: &[String]) -> BTreeMap<String, Fact<Image>> {
        if ids.is_empty() {
            return BTreeMap::new();
        }
        let filters = vec![filter("image-id", ids.to_vec())];
        let answer = self.described_images(filters, Vec::new()).await.map(|images| {
            images.into_iter().map(|image| (image.id.clone(), image)).collect::<BTreeMap<_, _>>()
        });
        let one = |id: &String| {
            let image = answer.clone().and_then(|mut images| match images.remove(id) {
                Some(image) => Fact::Known(image),
                None => Fact::Absent,
            });
            (id.clone(), image)
        };
        ids.iter().map(one).collect()
    }

    /// The images that a term selects by name, owner or tags, as Karpenter asks for them: by name
    /// without an owner, only one's own and Amazon's.
    pub async fn selected_images(&self, query: &ImageQuery) -> Fact<Vec<Image>> {
        let owners = match (&query.owner, &query.name) {
            (Some(owner), _) => vec![owner.clone()],
            (None, Some(_)) => vec!["self".to_owned(), "amazon".to_owned()],
            (None, None) => Vec::new(),
        };
        let name = query.name.iter().map(|name| filter("name", vec![name.clone()]));
        let tags = selector::tag_filters(&query.tags);
        let tags = tags.into_iter().map(|(name, values)| filter(&name, values));
        self.described_images(name.chain(tags).collect(), owners).await.map(first_of_each)
    }

    async fn described_images(
        &self,
        filters: Vec<types::Filter>,
        owners: Vec<String>,
    ) -> Fact<Vec<Image>> {
        let call = self
            .ec2
            .describe_images()
            .set_filters(Some(filters))
            .set_owners((!owners.is_empty()).then_some(owners))
            .include_deprecated(true)
            .include_disabled(true)
            .max_results(PAGE)
            .into_paginator()
            .items()
            .send()
            .collect::<Result<Vec<_>, _>>();
        let answer = self.ask.ask(IMAGES, &[], call).await;
        answer.map(|images| images.into_iter().map(image).collect())
    }

    /// Snapshots by id, in one call; one that EC2 does not show is absent.
    pub async fn snapshots(&self, ids: &[String]) -> BTreeMap<String, Fact<Snapshot>> {
        if ids.is_empty() {
            return BTreeMap::new();
        }
        let pages = self.ec2.describe_snapshots().filters(filter("snapshot-id", ids.to_vec()));
        let pages = pages.max_results(PAGE).into_paginator().items().send();
        let call = pages.collect::<Result<Vec<_>, _>>();
        let answer = self.ask.ask("ec2:DescribeSnapshots", &[], call).await.map(|found| {
            let by_id = |one: types::Snapshot| (owned(one.snapshot_id()), snapshot(one));
            found.into_iter().map(by_id).collect::<BTreeMap<_, _>>()
        });
        let one = |id: &String| {
            let found = answer.clone().and_then(|mut all| match all.remove(id) {
                Some(found) => Fact::Known(found),
                None => Fact::Absent,
            });
            (id.clone(), found)
        };
        ids.iter().map(one).collect()
    }

    /// The zones in which these types are offered; a pattern such as `m5.*` is a whole family.
    pub async fn offerings(
        &self,
        patterns: Vec<String>,
    ) -> Fact<BTreeMap<String, BTreeSet<String>>> {
        let pages = self
            .ec2
            .describe_instance_type_offerings()
            .location_type(types::LocationType::AvailabilityZone)
            .filters(filter("instance-type", patterns))
            .max_results(PAGE)
            .into_paginator();
        let call = pages.items().send().collect::<Result<Vec<_>, _>>();
        let answer = self.ask.ask("ec2:DescribeInstanceTypeOfferings", &[], call).await;
        answer.map(|found| {
            let mut zones: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
            for one in found {
                let kind = owned(one.instance_type().map(types::InstanceType::as_str));
                zones.entry(kind).or_default().extend(one.location);
            }
            zones
        })
    }

    /// A placement group by its name or id.
    pub async fn placement_group(&self, named: &str) -> Fact<PlacementGroup> {
        const ACTION: &str = "ec2:DescribePlacementGroups";
        let call = self.ec2.describe_placement_groups();
        let call = match named.starts_with("pg-") {
            true => call.group_ids(named),
            false => call.group_names(named),
        };
        let absent = ["InvalidPlacementGroup.Unknown", "InvalidPlacementGroupId.NotFound"];
        let answer = self.ask.ask(ACTION, &absent, call.send()).await;
        answer.and_then(|answer| {
            let group = answer.placement_groups.unwrap_or_default().into_iter().next();
            group.map_or(Fact::Absent, |group| Fact::Known(placement_group(&group)))
        })
    }

    /// The active capacity reservations that a term selects.
    pub async fn reservations(&self, term: &SelectorTerm) -> Fact<Vec<CapacityReservation>> {
        const ACTION: &str = "ec2:DescribeCapacityReservations";
        let mut filters = vec![filter("state", vec!["active".to_owned()])];
        let call = self.ec2.describe_capacity_reservations();
        // A request by id takes no page size.
        let call = match &term.id {
            Some(id) => call.capacity_reservation_ids(id),
            None => call.max_results(PAGE),
        };
        if term.id.is_none() {
            let owner = term.owner.iter().map(|owner| filter("owner-id", vec![owner.clone()]));
            let tags = selector::tag_filters(&term.tags);
            filters.extend(owner.chain(tags.into_iter().map(|(n, values)| filter(&n, values))));
        }
        let call = call
            .set_filters(Some(filters))
            .into_paginator()
            .items()
            .send()
            .collect::<Result<Vec<_>, _>>();
        let absent = ["InvalidCapacityReservationId.NotFound"];
        let answer = self.ask.ask(ACTION, &absent, call).await;
        answer.map(|found| found.into_iter().map(reservation).collect())
    }
}

/// Of each architecture the first few in Karpenter's order: what is available and not deprecated
/// first, then the newest (`compareAMI` in `pkg/providers/amifamily/ami.go` at v1.14.1).
fn first_of_each(mut images: Vec<Image>) -> Vec<Image> {
    let now = Timestamp::now();
    images.sort_by_key(|image| {
        let deprecated = image.deprecated.is_some_and(|time| time <= now);
        (image.state != "available", deprecated, std::cmp::Reverse(image.created))
    });
    let mut kept: BTreeMap<String, usize> = BTreeMap::new();
    images.retain(|image| {
        let kept = kept.entry(image.architecture.clone()).or_default();
        *kept += 1;
        *kept <= KEPT
    });
    images
}

fn image(image: types::Image) -> Image {
    let time = |text: Option<&str>| text.and_then(|text| text.parse::<Timestamp>().ok());
    Image {
        id: owned(image.image_id()),
        name: owned(image.name()),
        state: owned(image.state().map(types::ImageState::as_str)),
        architecture: owned(image.architecture().map(types::ArchitectureValues::as_str)),
        created: time(image.creation_date()),
        deprecated: time(image.deprecation_time()),
        allowed: image.image_allowed,
        platform: image.platform.as_ref().map(|platform| platform.as_str().to_owned()),
        volumes: image.block_device_mappings().iter().map(volume).collect(),
        owner: image.owner_id,
        owner_alias: image.image_owner_alias,
        root_device: image.root_device_name,
    }
}

fn volume(mapping: &types::BlockDeviceMapping) -> ImageVolume {
    let ebs = mapping.ebs();
    ImageVolume {
        device: mapping.device_name.clone(),
        snapshot: ebs.and_then(|ebs| ebs.snapshot_id.clone()),
        encrypted: ebs.and_then(|ebs| ebs.encrypted),
        size: ebs.and_then(|ebs| ebs.volume_size).and_then(|size| u32::try_from(size).ok()),
    }
}

fn snapshot(found: types::Snapshot) -> Snapshot {
    Snapshot {
        id: owned(found.snapshot_id()),
        encrypted: found.encrypted.unwrap_or_default(),
        owner: found.owner_id,
        kms_key: found.kms_key_id,
    }
}

fn placement_group(group: &types::PlacementGroup) -> PlacementGroup {
    PlacementGroup {
        id: group.group_id.clone(),
        name: owned(group.group_name()),
        state: owned(group.state().map(types::PlacementGroupState::as_str)),
        strategy: owned(group.strategy().map(types::PlacementStrategy::as_str)),
    }
}

fn reservation(found: types::CapacityReservation) -> CapacityReservation {
    let matching = found.instance_match_criteria();
    CapacityReservation {
        id: owned(found.capacity_reservation_id()),
        instance_type: owned(found.instance_type()),
        free: found
            .available_instance_count
            .and_then(|count| u32::try_from(count).ok())
            .unwrap_or_default(),
        matching: owned(matching.map(types::InstanceMatchCriteria::as_str)),
        zone: found.availability_zone,
        owner: found.owner_id,
    }
}
