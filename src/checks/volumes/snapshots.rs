//! Whether whoever launches nodes may use the keys of the snapshots that their volumes are made
//! from.

use std::collections::BTreeMap;

use super::keys::{may_use, mend, refusals};
use crate::{
    checks::{
        Area, Check, Context, Judged, Stop, Verdicts, controller,
        kms::{self, State},
        node_classes::{self, Class},
        permissions::ROLE_POLICIES,
        remedies::{listed, quote},
    },
    facts::{Fact, arn, ec2::Image},
    outcome::{Finding, Remedy},
    target::Product,
};

const API: &str = "ec2:DescribeSnapshots";

pub static CHECK: Check = Check {
    id: "ami-snapshot-key",
    title: "The controller may use the keys of its AMIs' snapshots",
    area: Area::Launch,
    products: &[Product::Karpenter],
    errors: &["encrypted-volume-failed", "kms-key-denied"],
    needs: &[
        "ec2:DescribeImages",
        API,
        "kms:DescribeKey",
        "kms:GetKeyPolicy",
        "kms:ListGrants",
        ROLE_POLICIES,
        "eks:DescribePodIdentityAssociation",
        "eks:ListPodIdentityAssociations",
    ],
    doc: "\
## What
Where an image that an EC2NodeClass selects, or a snapshot that it names, is encrypted, the key is
usable, and its policy or a grant, with the role's own policies, lets the controller's role use it
through EC2. A key of another account is a warning: its policy cannot be read from here.

## Why
A volume from an encrypted snapshot needs the snapshot's key first, whatever key the volume itself
gets. EKS's own images are not encrypted; hardened ones and those that another account shares often
are, with a key that knows the builders and not Karpenter. `CreateFleet` succeeds all the same, and
the instance ends before it starts.

## Seen as
`Client.InternalError: Client error on launch` as the state reason of instances that ended.

## Fix
Let the controller's role use the key, in the account that owns it and in its own policies; or copy
the image with a key of your own.
",
    run,
};

/// A key, and what is encrypted with it.
type Wanted = BTreeMap<String, Vec<String>>;

fn run(cx: &Context<'_>) -> Verdicts {
    cx.kubernetes()?;
    node_classes::readable(cx)?;
    let (mut wanted, mut judged) = (Wanted::new(), unread_images(cx));
    for (id, by) in snapshots(cx) {
        let Some(fact) = cx.facts.snapshots.get(&id) else {
            let why = || Err(Stop::unknown(format!("these facts do not hold {id}, {by}")));
            judged.push(Judged::new(&id, why));
            continue;
        };
        match fact.found() {
            Ok(Some(found)) => match &found.kms_key {
                Some(key) if found.encrypted => {
                    wanted.entry(key.clone()).or_default().push(format!("{by} ({id})"));
                }
                None if found.encrypted => judged.push(Judged::new(&id, || {
                    Err(Stop::unknown(format!("{API} does not name the key of {id}, {by}")))
                })),
                _ => {}
            },
            // That it is not there says nodeclass-volumes of what a NodeClass names.
            Ok(None) => {}
            Err(unseen) => judged.push(Judged::new(&id, || Err(unseen.into()))),
        }
    }
    judged.extend(wanted.iter().map(|(key, by)| Judged::new(key, || judge(cx, key, by))));
    if judged.is_empty() {
        return Err(Stop::skipped("no image or snapshot that an EC2NodeClass takes is encrypted"));
    }
    Ok(judged)
}

/// The images that could not be read, and so not whether they are encrypted.
fn unread_images(cx: &Context<'_>) -> Vec<Judged> {
    let by_id = cx.facts.images.iter().filter_map(|(id, fact)| Some((id, fact.found().err()?)));
    let mut judged: Vec<_> =
        by_id.map(|(id, unseen)| Judged::new(id, || Err(unseen.into()))).collect();
    let selected = cx.facts.selected_images.iter().filter_map(|one| one.found.found().err());
    judged.extend(selected.map(|unseen| Judged::new("selected images", || Err(unseen.into()))));
    judged
}

/// The snapshots that were asked for, and what takes them.
fn snapshots(cx: &Context<'_>) -> Vec<(String, String)> {
    let selected = cx.facts.selected_images.iter().filter_map(|one| one.found.value()).flatten();
    let images = cx.facts.images.values().filter_map(Fact::value).chain(selected);
    let of_image = |image: &Image| {
        let encrypted = image.volumes.iter().filter(|volume| volume.encrypted == Some(true));
        let ids = encrypted.filter_map(|volume| volume.snapshot.clone());
        ids.map(|id| (id, format!("the snapshot of {}", image.id))).collect::<Vec<_>>()
    };
    let of_class = |class: Class<'_>| {
        let ids = class.spec.volumes.iter().filter_map(|volume| volume.snapshot.clone());
        ids.map(|id| (id, format!("a snapshot of {class}"))).collect::<Vec<_>>()
    };
    let classes = node_classes::known(cx).into_iter();
    let classes = classes.filter(|class| class.product == Product::Karpenter);
    let mut all: Vec<_> = images.flat_map(of_image).chain(classes.flat_map(of_class)).collect();
    all.sort();
    all.dedup();
    all
}

fn judge(cx: &Context<'_>, named: &str, by: &[String]) -> Result<Finding, Stop> {
    let by = listed(by);
    let owner = arn::account(named).unwrap_or_default();
    if cx.account().is_some_and(|own| own != owner) {
        return Ok(foreign(cx, named, owner, &by));
    }
    let key = match kms::state(cx, named)? {
        State::OfAws => return Ok(Finding::pass("AWS manages it.")),
        State::Missing => {
            return Ok(ends(format!("{named}, the key of {by}, does not exist any more."))
                .evidence("kms:DescribeKey", "NotFoundException", named)
                .mend(Remedy::new("Build the image anew: what it holds is lost.")));
        }
        State::Unusable(key, why) => {
            return Ok(ends(format!("{named}, the key of {by}, {why}."))
                .evidence("kms:DescribeKey", "KeyState", &key.state)
                .mend(kms::enable(cx, Remedy::new("Make the key usable."), key)));
        }
        State::Own(key) => key,
    };
    let launchers = controller::grants(cx)?;
    let refused = refusals(cx, key, &launchers)?;
    let Some((role, action, decision)) = refused.first() else { return Ok(may_use(&launchers)) };
    let seen = format!(
        "{} may not do {action} with {named}, the key of {by}: {decision}.",
        arn::role_name(role)
    );
    Ok(ends(seen)
        .errors(CHECK.errors)
        .evidence("kms:GetKeyPolicy", "Policy", decision.to_string())
        .mend(mend(cx, key, &refused)))
}

fn ends(seen: String) -> Finding {
    Finding::fail(
        seen,
        "Instances from it end before they start, and their NodeClaims are replaced without end.",
    )
    .errors(&["encrypted-volume-failed"])
}

/// A key whose policy cannot be read.
fn foreign(cx: &Context<'_>, named: &str, owner: &str, by: &str) -> Finding {
    Finding::warn(
        format!("{named}, the key of {by}, is of account {owner}."),
        "Unless that account lets the controller's role use the key, and the role's own policies do \
         so too, instances end before they start.",
    )
    .errors(CHECK.errors)
    .evidence(API, "Snapshots[].KmsKeyId", named)
    .mend(
        Remedy::new(
            "Copy the image with a key of your own, in the place of FILL_IN_KEY_ID, and select the \
             copy; or have the other account allow the role in its key policy, and allow the role the \
             same in a policy of its own.",
        )
        .run(format!(
            "aws ec2 copy-image --region {region} --source-region {region} --source-image-id \
             FILL_IN_IMAGE_ID --name nodes-with-own-key --encrypted --kms-key-id FILL_IN_KEY_ID",
            region = quote(cx.region())
        )),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        checks::testing::{Account, assert_rows},
        outcome::Status,
    };

    const OWN: &str = "arn:aws:kms:us-west-2:111122223333:key/k-1";
    const OTHER: &str = "arn:aws:kms:us-west-2:999988887777:key/k-2";

    /// An image with an encrypted snapshot under this key, whose policy lets this principal in.
    fn encrypted(key: &str, principal: &str, state: &str) -> Value {
        let policy = json!({"Version": "2012-10-17", "Statement": [{"Effect": "Allow",
            "Principal": {"AWS": principal}, "Action": "kms:*", "Resource": "*"}]});
        json!({"facts": {
            "images": {"ami-9": {"known": {"id": "ami-9", "state": "available",
                "volumes": [{"snapshot": "snap-9", "encrypted": true}]}}},
            "snapshots": {"snap-9": {"known":
                {"id": "snap-9", "owner": "111122223333", "encrypted": true, "kms_key": key}}},
            "kms_keys": {OWN: {"known": {"arn": OWN, "manager": "CUSTOMER", "state": state,
                "spec": "SYMMETRIC_DEFAULT", "policy": {"known": policy.to_string()},
                "grants": {"known": []}}}},
        }})
    }

    #[test]
    fn rows() {
        let controller = "arn:aws:iam::111122223333:role/demo-karpenter";
        let builder = "arn:aws:iam::111122223333:role/image-builder";
        let one = |status| [(status, OWN)];
        let mut unread = encrypted(OWN, builder, "Enabled");
        unread["facts"]["snapshots"] =
            json!({"snap-9": {"denied": {"action": API, "message": "no"}}});
        let mut no_snapshot = encrypted(OWN, controller, "Enabled");
        no_snapshot["facts"]["snapshots"] = json!({});
        let denied = json!({"denied": {"action": "ec2:DescribeImages", "message": "no"}});
        let mut no_image = encrypted(OWN, controller, "Enabled");
        no_image["facts"]["images"]["ami-8"] = denied.clone();
        let no_selection = json!({"facts": {"selected_images":
            [{"query": {"alias": null, "id": null, "name": "nodes-*", "owner": null,
                "ssm_parameter": null, "tags": {}}, "found": denied}]}});
        let mut no_key = encrypted(OWN, builder, "Enabled");
        no_key["facts"]["kms_keys"] = json!({});
        assert_rows(
            Account::KarpenterCluster,
            &CHECK,
            &[
                ("none is encrypted", json!({}), &[(Status::Skipped, "demo")]),
                ("it may", encrypted(OWN, controller, "Enabled"), &one(Status::Pass)),
                ("it may not", encrypted(OWN, builder, "Enabled"), &one(Status::Fail)),
                ("disabled", encrypted(OWN, controller, "Disabled"), &one(Status::Fail)),
                (
                    "another account's",
                    encrypted(OTHER, builder, "Enabled"),
                    &[(Status::Warn, OTHER)],
                ),
                ("snapshots unread", unread, &[(Status::Unknown, "snap-9")]),
                ("snapshots not asked for", no_snapshot, &[(Status::Unknown, "snap-9")]),
                (
                    "an image is unread",
                    no_image,
                    &[(Status::Unknown, "ami-8"), (Status::Pass, OWN)],
                ),
                ("a selection is unread", no_selection, &[(Status::Unknown, "selected images")]),
                ("the key was not asked for", no_key, &one(Status::Unknown)),
                ("left alone", json!({"scope": {"no_kube": true}}), &[(Status::Skipped, "demo")]),
            ],
        );
    }
}
