//! The volumes of an EC2NodeClass, and the root of the image that they are for.

use std::collections::BTreeSet;

use crate::{
    checks::{
        Area, Check, Context, Stop, Verdicts,
        node_classes::{self, Class},
        remedies::listed,
    },
    facts::ec2::Image,
    outcome::{Finding, Remedy},
    target::{
        Product,
        alias::{Alias, Family},
    },
};

pub static CHECK: Check = Check {
    id: "nodeclass-volumes",
    title: "The volumes of EC2NodeClasses fit their image",
    area: Area::Launch,
    products: &[Product::Karpenter],
    errors: &["invalid-block-device-mapping"],
    needs: &["ec2:DescribeImages"],
    doc: "\
## What
`blockDeviceMappings` of each EC2NodeClass that has some name the root device of the images that it
finds: `/dev/xvda` for Amazon Linux, `/dev/sda1` for Windows and most Ubuntu images.

## Why
Names of devices belong to the image. A mapping under another name is a second volume, or none at all:
EC2 refuses a device name that the image's kind does not know, and where it takes it, the root keeps
the size that the image gives it.

## Seen as
`InvalidBlockDeviceMapping: Invalid device name /dev/xvda`; or nodes whose root volume is small and
unencrypted although the EC2NodeClass says otherwise.

## Fix
Use the root device name of the image.
",
    run,
};

fn run(cx: &Context<'_>) -> Verdicts {
    node_classes::each(cx, CHECK.products, |class| judge(cx, &class))
}

fn judge(cx: &Context<'_>, class: &Class<'_>) -> Result<Finding, Stop> {
    let devices: Vec<&str> =
        class.spec.volumes.iter().filter_map(|volume| volume.device.as_deref()).collect();
    if devices.is_empty() {
        return Err(Stop::skipped(
            "it names no volumes, so that those of its image family are made",
        ));
    }
    let roots = roots(cx, class)?;
    let missed: Vec<&str> = roots.iter().copied().filter(|root| !devices.contains(root)).collect();
    if missed.is_empty() {
        return Ok(Finding::pass(format!(
            "{} is the root of its images.",
            listed(&Vec::from_iter(roots))
        )));
    }
    Ok(Finding::warn(
        format!(
            "{class} makes volumes for {}, and the root of its images is {}.",
            listed(&devices),
            listed(&missed)
        ),
        "EC2 refuses the launch where the image does not know such a device; else the volume is a \
         second one, and the root stays as the image makes it.",
    )
    .errors(&["invalid-block-device-mapping"])
    .evidence("ec2:DescribeImages", "Images[].RootDeviceName", missed.join(", "))
    .mend(
        Remedy::new(format!("Name {} in blockDeviceMappings of {class}.", listed(&missed)))
            .run(class.edit()),
    ))
}

/// The root devices of the images that the EC2NodeClass finds.
fn roots<'a>(cx: &Context<'a>, class: &Class<'a>) -> Result<BTreeSet<&'a str>, Stop> {
    match Alias::of(class.spec).map(|alias| alias.family) {
        Some(Family::Windows(_)) => return Ok(BTreeSet::from(["/dev/sda1"])),
        // Its second volume, for images and pods, is what people resize.
        Some(Family::Bottlerocket) => {
            return Err(Stop::skipped("Bottlerocket has a volume of its own for data"));
        }
        Some(_) => return Ok(BTreeSet::from(["/dev/xvda"])),
        None => {}
    }
    let roots: BTreeSet<&str> =
        images(cx, class).iter().filter_map(|image| image.root_device.as_deref()).collect();
    if roots.is_empty() {
        return Err(Stop::skipped("no image of it is known (see amis-discovered)"));
    }
    Ok(roots)
}

/// The images that the terms of an EC2NodeClass find, as far as they are known.
pub(super) fn images<'a>(cx: &Context<'a>, class: &Class<'a>) -> Vec<&'a Image> {
    let facts = cx.facts;
    let terms = &class.spec.ami_terms;
    let parameter = |name: &String| {
        let value = facts.image_parameters.get(name).and_then(|fact| fact.value());
        value.map(|parameter| &parameter.image_id)
    };
    let ids = terms.iter().filter_map(|term| {
        term.id.as_ref().or_else(|| term.ssm_parameter.as_ref().and_then(parameter))
    });
    let by_id = ids.filter_map(|id| facts.images.get(id)).filter_map(|image| image.value());
    let selected = facts.selected_images.iter().filter(|one| terms.contains(&one.query));
    let selected = selected.filter_map(|one| one.found.value()).flatten();
    by_id.chain(selected).filter(|image: &&Image| image.state == "available").collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status,
    };

    fn class(term: &Value, devices: &[&str]) -> Value {
        let volumes: Vec<_> = devices.iter().map(|device| json!({"device": device})).collect();
        let image = json!({"id": "ami-0bb00000000000001", "state": "available", "root_device": "/dev/sda1"});
        json!({"facts": {
            "kubernetes": {"ec2_node_classes": {"known": [
                {"meta": {"name": "default"}, "ami_terms": [term], "volumes": volumes}]}},
            "images": {"ami-0bb00000000000001": {"known": image}},
        }})
    }

    #[test]
    fn rows() {
        let own = json!({"id": "ami-0bb00000000000001"});
        let alias = |alias: &str| json!({"alias": alias});
        let of = |status| [(status, "EC2NodeClass/default")];
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[
                ("none named", json!({}), &of(Status::Skipped)),
                ("the alias's", class(&alias("al2023@latest"), &["/dev/xvda"]), &of(Status::Pass)),
                (
                    "not the alias's",
                    class(&alias("al2023@latest"), &["/dev/sda1"]),
                    &of(Status::Warn),
                ),
                (
                    "the second of Bottlerocket alone",
                    class(&alias("bottlerocket@latest"), &["/dev/xvdb"]),
                    &of(Status::Skipped),
                ),
                ("Windows", class(&alias("windows2022@latest"), &["/dev/sda1"]), &of(Status::Pass)),
                ("the image's", class(&own, &["/dev/sda1", "/dev/sdb"]), &of(Status::Pass)),
                ("not the image's", class(&own, &["/dev/xvda"]), &of(Status::Warn)),
                (
                    "an image that was not read",
                    class(&json!({"id": "ami-0cc00000000000001"}), &["/dev/xvda"]),
                    &of(Status::Skipped),
                ),
            ],
        );
    }
}
